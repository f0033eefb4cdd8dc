"""Makes the encoder: ``python -m training.train`` (``make models``).

Trains the published encoder on eleven of twelve conversations, or with ``--from FOLDER`` an encoder
of ours on what it has not read and a share of the rest; calibrates on the twelfth, writes the int8
file with its manifest into ``bmo/encoder/model`` and checks that it agrees with the float model.
States are kept after each epoch: a training that was broken off goes on. From the published weights
some two hours on two cores by the time of a step, from an encoder of ours one hour.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.data import DataLoader

from bmo.encoder import MODEL, Encoder, WordPiece
from bmo.encoder.wordpiece import read_vocabulary
from training.batches import Epoch, Example, batch_of, encode, length_of
from training.calibration import Answers, calibrate, choose_thresholds, figures
from training.data import PairExample, TurnExample, data_files, is_held_out, read_data, shard
from training.encoder_base import SHAPE, WORK, published_encoder, write_manifest
from training.encoder_graph import Head, add_over, read_encoder_graph, write_encoder_graph
from training.glossary import WORDS, with_glossary
from training.model import Batch, EncoderModel
from training.over import over_head
from training.vectors import vector_head

SEED = 20260301
DROPOUT = 0.1
SMOOTHING = 0.05
AVERAGING = 0.995
"""Decay of the moving average of a training's weights, which is what is kept."""
MAX_BYTES = 44_000_000
AGREEMENT = 0.95
"""Least share of held-out turns on which the int8 file and the float model give one verdict."""
DATED = "20261129"
"""Day of data and recipe; set it when they change. The clock has no part in what is written."""
LOADERS = 4
"""Processes that write batches beside a GPU; without one the training's own does."""
KNOWN_TURNS = 6
"""Of the conversations that an encoder of ours has read, the turns of one in so many are read
again."""
KNOWN_PAIRS = 18
"""The same of its pairs, of which there are more."""
NEW_SHARE = 0.7
"""What the new weights count in the average with those of the encoder of ours that was taught
further (Wortsman et al. 2022): what it has not read again it keeps."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is trained.

    Attributes:
        name: Names the states that are kept.
        seed: Of the heads, the order and the other writings.
        epochs: Times that the examples are read.
        batch: Examples a step.
        rate: Highest learning rate of the last layer; linear rise over a tenth of the way, then a
            fall.
        head_rate: The same of the heads.
        layer_decay: What a layer learns slower than the one above it.
    """

    name: str
    seed: int
    epochs: int
    batch: int
    rate: float
    head_rate: float
    layer_decay: float


FROM_PUBLISHED = Recipe("encoder", SEED, 3, 128, 2.4e-4, 8e-4, 0.95)
FROM_OURS = Recipe("further", 20261129, 2, 64, 1e-4, 2.5e-4, 0.95)


@dataclass(frozen=True, slots=True)
class Data:
    """What is learnt, and what is kept from it for calibration."""

    learnt: tuple[Example, ...]
    held_turns: tuple[TurnExample, ...]
    held_pairs: tuple[PairExample, ...]


@dataclass(frozen=True, slots=True)
class Begun:
    """An encoder of ours that is taught further.

    Attributes:
        weights: Its tensors under Hugging Face's BERT names, float32.
        heads: Its classifiers.
        known: Names of the files that it has read and need not read again.
        encoder: The encoder itself.
    """

    weights: dict[str, np.ndarray[Any, Any]]
    heads: list[Head]
    known: tuple[str, ...]
    encoder: Encoder


def read_encoder(folder: Path, again: Sequence[str] = ()) -> Begun:
    """Reads an encoder of ours with its manifest.

    Args:
        folder: Has both.
        again: Files that it has read and is to read again like new ones.
    """
    manifest = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    weights, heads = read_encoder_graph(folder / "model.onnx", published_encoder(), SHAPE)
    known = tuple(name for name in manifest["data"] if name not in again)
    return Begun(weights, heads, known, Encoder.open(folder))


def read(begun: Begun | None) -> Data:
    """The repository's examples, parted by conversation.

    Args:
        begun: An encoder that has read some. What it has not read is learnt, what has a word that
            it does not know, and a share of the other conversations.
    """
    turns, pairs = read_data(begun.encoder if begun else None)
    both: tuple[Example, ...] = (*turns, *pairs)
    tokenizer = WordPiece.open()

    def due(example: Example) -> bool:
        if begun is None or example.group.split()[0] not in begun.known:
            return True
        if max(encode(tokenizer, example).ids) >= len(begun.weights[WORDS]):
            return True
        share = KNOWN_TURNS if isinstance(example, TurnExample) else KNOWN_PAIRS
        return shard(f"again {example.group}", share) == 0

    return Data(
        tuple(e for e in both if not is_held_out(e.group) and due(e)),
        tuple(turn for turn in turns if is_held_out(turn.group)),
        tuple(pair for pair in pairs if is_held_out(pair.group)),
    )


def loss_of(logits: dict[str, Tensor], wanted: dict[str, Tensor]) -> Tensor:
    """The loss by the annotation; a head learns from what has its label."""
    total = torch.zeros((), device=next(iter(logits.values())).device)
    for name, truth in wanted.items():
        known = truth >= 0
        if not bool(known.any()):
            continue
        if name in ("verdict", "relation"):
            total = total + functional.cross_entropy(
                logits[name][known], truth[known], label_smoothing=SMOOTHING
            )
        else:
            loss = functional.binary_cross_entropy_with_logits(logits[name][known], truth[known])
            total = total + loss * (2.0 if name == "categories" else 1.0)
    return total


def fit(
    model: EncoderModel, examples: Sequence[Example], recipe: Recipe, *, kept: Path, device: str
) -> EncoderModel:
    """Trains a model; goes on from the last epoch that was kept with the same examples.

    Args:
        model: What is trained, and given back with its weights averaged.
        examples: What is learnt.
        recipe: How.
        kept: Folder of the states after each epoch.
        device: Torch's name of the device.
    """
    model.to(device)
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = _groups(model, recipe)
    rates = [float(group["lr"]) for group in groups]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    average = [p.detach().clone() for p in trained]
    state = kept / f"{_digest(examples, recipe)}.pt"
    begun = 0
    if state.exists():
        found = torch.load(state, weights_only=True, map_location=device)
        begun, average = found["epoch"], found["average"]
        with torch.no_grad():
            for parameter, known in zip(trained, found["weights"], strict=True):
                parameter.copy_(known)
        optimiser.load_state_dict(found["optimiser"])
        print(f"goes on after epoch {begun}", flush=True)
    for epoch in range(begun, recipe.epochs):
        torch.manual_seed(recipe.seed + epoch)
        model.train()
        total, started = torch.zeros((), device=device), time.monotonic()
        batches = Epoch(examples, recipe.batch, recipe.seed, epoch)
        loader = DataLoader(batches, batch_size=None, num_workers=0 if device == "cpu" else LOADERS)
        for place, batch in enumerate(loader):
            share = _share((epoch + (place + 1) / len(batches)) / recipe.epochs)
            for group, rate in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * share
            loss = _loss(model, batch.to(device), device)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            step = epoch * len(batches) + place + 1
            mixing = 1 - min(AVERAGING, step / (step + 10))
            torch._foreach_lerp_(average, [p.detach() for p in trained], mixing)
            total = total + loss.detach()
            if place % 100 == 99:
                spent, done = time.monotonic() - started, f"{place + 1}/{len(batches)}"
                print(f"  {done} loss {float(total) / (place + 1):.3f} {spent:.0f} s", flush=True)
        print(f"{recipe.name} {epoch + 1}: loss {float(total) / len(batches):.3f}", flush=True)
        kept.mkdir(parents=True, exist_ok=True)
        torch.save(
            {
                "epoch": epoch + 1,
                "weights": [p.detach() for p in trained],
                "average": average,
                "optimiser": optimiser.state_dict(),
            },
            state,
        )
    with torch.no_grad():
        for parameter, mean in zip(trained, average, strict=True):
            parameter.copy_(mean)
    return model.eval()


def _loss(model: EncoderModel, batch: Batch, device: str) -> Tensor:
    with torch.autocast(device, dtype=torch.bfloat16, enabled=_has_bfloat16(device)):
        answers = {name: value.float() for name, value in model(batch).items()}
    return loss_of(answers, batch.wanted)


def _has_bfloat16(device: str) -> bool:
    """Whether a device multiplies bfloat16 itself.

    There it halves the time of a step and costs nothing that could be measured; a processor that
    has to imitate it takes many times as long as with float32.
    """
    if device != "cpu":
        return True
    able = torch.cpu.get_capabilities()
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))


def _groups(model: EncoderModel, recipe: Recipe) -> list[dict[str, Any]]:
    """Learning rates: lower the deeper; word vectors without decay stay as published."""
    depths = model.by_depth()
    groups: list[dict[str, Any]] = [
        {"params": layer, "lr": recipe.rate * recipe.layer_decay ** (len(depths) - 1 - depth)}
        for depth, layer in enumerate(depths)
    ]
    groups[0]["weight_decay"] = 0.0
    groups.append({"params": list(model.heads.parameters()), "lr": recipe.head_rate})
    return groups


def _share(progress: float) -> float:
    return min(progress / 0.1, (1.0 - progress) / 0.9)


def _digest(examples: Sequence[Example], recipe: Recipe) -> str:
    text = repr(recipe) + "".join(repr(e) for e in examples)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def ask(
    model: EncoderModel, examples: Sequence[Example], device: str = "cpu"
) -> dict[str, np.ndarray[Any, Any]]:
    """Logits of every head on turns, or on pairs, in their order."""
    order = sorted(range(len(examples)), key=lambda i: length_of(examples[i]))
    parts: dict[str, np.ndarray[Any, Any]] = {}
    with torch.inference_mode():
        for start in range(0, len(order), 64):
            rows = order[start : start + 64]
            answers = model(batch_of([examples[i] for i in rows]).to(device))
            for name, logits in answers.items():
                found = logits.float().cpu().numpy()
                place = parts.setdefault(
                    name, np.empty((len(examples), found.shape[1]), np.float32)
                )
                place[rows] = found
    return parts


def write(model: EncoderModel, data: Data, folder: Path) -> None:
    """Exports to int8 ONNX with manifest and figures, and checks it against the float model.

    Raises:
        SystemExit: The file is too large or disagrees with the float model.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "model.onnx"
    weights, heads = model.exported()
    write_encoder_graph(weights, heads, target, model.shape, vector_head(weights, heads))
    add_over(target, over_head(weights, heads), target)
    if target.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{target} has {target.stat().st_size} bytes, more than {MAX_BYTES}.")
    turns = Answers(data.held_turns, ask(model, data.held_turns))
    pairs = Answers(data.held_pairs, ask(model, data.held_pairs))
    calibration = calibrate(turns, pairs)
    thresholds = choose_thresholds(turns, pairs, calibration)
    write_manifest(
        folder,
        target,
        DATED,
        name="encoder",
        pairs=True,
        examples=len(data.learnt),
        data=data_files(),
        thresholds=thresholds,
        calibration=calibration,
    )
    shown = figures(turns, pairs, calibration, thresholds)
    (folder / "figures.json").write_text(json.dumps(shown, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(shown, indent=1), flush=True)
    _check_agreement(folder, turns, calibration)


def _check_agreement(folder: Path, held: Answers, calibration: dict[str, float]) -> None:
    some = range(0, len(held.examples), max(1, len(held.examples) // 500))
    encoder = Encoder.open(folder)
    turns = [held.examples[i] for i in some]
    small = [
        encoder.assess([(t.asked, t.text)], [t.before])[0]
        for t in turns
        if isinstance(t, TurnExample)
    ]
    odds = np.array([[a.allow, a.hold, a.discard] for a in small])
    same = float((odds.argmax(1) == held.logits["verdict"][list(some)].argmax(1)).mean())
    print(f"int8 against float: {same:.1%} of verdicts the same", flush=True)
    if same < AGREEMENT or not math.isfinite(calibration["verdict"]):
        raise SystemExit(f"int8 and float agree on {same:.1%} only, less than {AGREEMENT:.0%}.")


def train(data: Data, begun: Begun | None, recipe: Recipe, device: str) -> EncoderModel:
    """Trains the encoder, from the published weights or from those of an encoder of ours."""
    torch.manual_seed(recipe.seed)
    pieces = read_vocabulary()
    model = EncoderModel(with_glossary(published_encoder(), pieces), SHAPE, DROPOUT)
    if begun:
        model.load(with_glossary(begun.weights, pieces), begun.heads)
    begun_with = [weight.detach().clone() for weight in model.parameters()]
    fit(model, data.learnt, recipe, kept=WORK / "epochs", device=device).cpu()
    if begun:
        with torch.no_grad():
            for weight, known in zip(model.parameters(), begun_with, strict=True):
                weight.lerp_(known, 1 - NEW_SHARE)
    return model


def main() -> None:
    """Trains and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=MODEL, help="folder that gets the model")
    parser.add_argument("--from", type=Path, dest="begun_from", help="folder of an encoder of ours")
    parser.add_argument("--again", nargs="*", default=(), help="files to read again like new ones")
    parser.add_argument("--epochs", type=int, help="0: only the glossary's new words are taken in")
    parser.add_argument("--threads", type=int, default=2, help="threads of torch")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    started = time.monotonic()
    begun = read_encoder(options.begun_from, options.again) if options.begun_from else None
    recipe = FROM_OURS if begun else FROM_PUBLISHED
    if options.epochs is not None:
        recipe = replace(recipe, epochs=options.epochs)
    data = read(begun)
    print(
        f"{len(data.learnt)} examples, {len(data.held_turns)} turns and "
        f"{len(data.held_pairs)} pairs held out",
        flush=True,
    )
    write(train(data, begun, recipe, options.device), data, options.to)
    print(f"done in {(time.monotonic() - started) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
