"""Makes the encoder: ``python -m training.train`` (``make models``).

Trains all heads together on eleven of twelve conversations, calibrates on the twelfth, writes the
int8 file with its manifest into ``bmo/models/encoder`` and checks that it agrees with the float
model. States are kept after each epoch: a training that was broken off goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from bmo.judge import MODEL, Judge
from bmo.judge.encoding import Encoded, encode_memory_pair, encode_turn
from bmo.models import WordPiece
from training.augmentation import vary, vary_text
from training.build_embedder import WORK, published_weights, write_manifest
from training.calibration import Answers, calibrate, choose_thresholds, figures
from training.data import PairExample, TurnExample, is_held_out, read_data
from training.encoder_graph import write_encoder_graph
from training.minilm_graph import EncoderShape
from training.model import Batch, EncoderModel

SEED = 20260301
EPOCHS = 3
BATCH = 32
RATE = 1.8e-4
"""Highest learning rate of the last layer; linear rise over a tenth of the way, then a fall."""
HEAD_RATE = 6e-4
LAYER_DECAY = 0.95
"""What a layer learns slower than the one above it."""
DROPOUT = 0.1
SMOOTHING = 0.05
AVERAGING = 0.995
"""Decay of the moving average of the weights, which is what is kept."""
POOL = 40
"""Batches' worth of examples that are sorted by length together."""
PATTERNED = ("l ", "m ")
"""Groups written out from patterns: an epoch reads every second line of theirs."""
MAX_BYTES = 30_000_000
AGREEMENT = 0.95
"""Least share of held-out turns on which the int8 file and the float model give one verdict."""
DATED = "20261122"
"""Day of data and recipe; set it when they change. The clock has no part in what is written."""

Example = TurnExample | PairExample
Line = tuple[Example, Encoded]


@dataclass(frozen=True, slots=True)
class Data:
    """What is learnt, and what is kept from it for calibration."""

    learnt: tuple[Example, ...]
    held_turns: tuple[TurnExample, ...]
    held_pairs: tuple[PairExample, ...]


def read() -> Data:
    """The repository's examples, parted by conversation."""
    turns, pairs = read_data()
    learnt: tuple[Example, ...] = (
        *(turn for turn in turns if not is_held_out(turn.group)),
        *(pair for pair in pairs if not is_held_out(pair.group)),
    )
    return Data(
        learnt,
        tuple(turn for turn in turns if is_held_out(turn.group)),
        tuple(pair for pair in pairs if is_held_out(pair.group)),
    )


def encode(tokenizer: WordPiece, example: Example) -> Encoded:
    """An example as the encoder's input."""
    if isinstance(example, TurnExample):
        return encode_turn(tokenizer, example.asked, example.text, example.before)
    return encode_memory_pair(
        tokenizer, (example.memory_asked, example.memory), (example.asked, example.text)
    )


def batches_of(examples: Sequence[Example], epoch: int, tokenizer: WordPiece) -> list[list[Line]]:
    """The batches of an epoch: turns and pairs apart, lengths alike, in random order."""
    rng = random.Random(f"{SEED} {epoch}")
    strangers = sorted(
        {e.asked for e in examples if isinstance(e, TurnExample) and e.asked and "?" not in e.asked}
    )
    due = [
        e
        for number, e in enumerate(examples)
        if not e.group.startswith(PATTERNED) or number % 2 == epoch % 2
    ]
    batches: list[list[Line]] = []
    for kind in (TurnExample, PairExample):
        lines = []
        for example in due:
            if isinstance(example, kind):
                said = _varied(example, rng, strangers) if epoch else example
                lines.append((said, encode(tokenizer, said)))
        rng.shuffle(lines)
        for start in range(0, len(lines), BATCH * POOL):
            near = sorted(lines[start : start + BATCH * POOL], key=lambda line: len(line[1].ids))
            batches += [near[at : at + BATCH] for at in range(0, len(near), BATCH)]
    rng.shuffle(batches)
    return batches


def _varied(example: Example, rng: random.Random, strangers: Sequence[str]) -> Example:
    if isinstance(example, TurnExample):
        return vary(example, rng, strangers)
    return replace(
        example, text=vary_text(example.text, rng), memory=vary_text(example.memory, rng)
    )


def loss_of(logits: dict[str, Tensor], examples: Sequence[Example]) -> Tensor:
    """The loss of a batch of turns or of pairs; a head learns from what has its label."""
    turns = [e for e in examples if isinstance(e, TurnExample)]
    if turns:
        total = _binary(logits["read_need"][:, 0], [float(turn.recall) for turn in turns])
        judged = [i for i, turn in enumerate(turns) if turn.verdict is not None]
        if judged:
            total = total + functional.cross_entropy(
                logits["verdict"][judged],
                torch.tensor([turns[i].verdict for i in judged]),
                label_smoothing=SMOOTHING,
            )
        known = [i for i, turn in enumerate(turns) if turn.steers is not None]
        if known:
            wanted_steers = [float(bool(turns[i].steers)) for i in known]
            total = total + _binary(logits["steers"][known, 0], wanted_steers)
        rows = [i for i, turn in enumerate(turns) if turn.categories is not None]
        if rows:
            wanted = [turns[i].categories for i in rows]
            total = total + 2.0 * _binary(logits["categories"][rows], wanted)
        return total
    pairs = [e for e in examples if isinstance(e, PairExample)]
    total = torch.zeros(())
    related = [i for i, pair in enumerate(pairs) if pair.relation is not None]
    if related:
        total = total + functional.cross_entropy(
            logits["relation"][related],
            torch.tensor([pairs[i].relation for i in related]),
            label_smoothing=SMOOTHING,
        )
    asked = [i for i, pair in enumerate(pairs) if pair.answers is not None]
    if asked:
        wanted_answers = [float(bool(pairs[i].answers)) for i in asked]
        total = total + _binary(logits["answers"][asked, 0], wanted_answers)
    return total


def _binary(logits: Tensor, wanted: Sequence[Any]) -> Tensor:
    target = torch.tensor(wanted, dtype=torch.float32)
    return functional.binary_cross_entropy_with_logits(logits, target)


def tensors(encoded: Sequence[Encoded]) -> Batch:
    """Inputs padded to one length."""
    longest = max(len(one.ids) for one in encoded)
    ids, mask, kinds = (torch.zeros((len(encoded), longest), dtype=torch.int64) for _ in range(3))
    for row, one in enumerate(encoded):
        ids[row, : len(one.ids)] = torch.tensor(one.ids)
        kinds[row, : len(one.ids)] = torch.tensor(one.kinds)
        mask[row, : len(one.ids)] = 1
    return Batch(ids, mask, kinds)


def fit(examples: Sequence[Example], kept: Path, epochs: int) -> EncoderModel:
    """Trains the model; goes on from the last epoch that was kept with the same examples."""
    tokenizer = WordPiece.open()
    torch.manual_seed(SEED)
    model = EncoderModel(published_weights(), EncoderShape(), DROPOUT)
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = _groups(model)
    rates = [float(group["lr"]) for group in groups]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    average = [p.detach().clone() for p in trained]
    state = kept / f"{_digest(examples, epochs)}.pt"
    begun = 0
    if state.exists():
        found = torch.load(state, weights_only=True)
        begun, average = found["epoch"], found["average"]
        with torch.no_grad():
            for parameter, known in zip(trained, found["weights"], strict=True):
                parameter.copy_(known)
        optimiser.load_state_dict(found["optimiser"])
        print(f"goes on after epoch {begun}", flush=True)
    for epoch in range(begun, epochs):
        torch.manual_seed(SEED + epoch)
        model.train()
        total, seen, started = 0.0, 0, time.monotonic()
        batches = batches_of(examples, epoch, tokenizer)
        for place, lines in enumerate(batches):
            share = _share((epoch + (place + 1) / len(batches)) / epochs)
            for group, rate in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * share
            # bfloat16 halves the time of a step and costs nothing that could be measured.
            with torch.autocast("cpu", dtype=torch.bfloat16):
                answers = model(tensors([encoded for _, encoded in lines]))
            loss = loss_of({k: v.float() for k, v in answers.items()}, [e for e, _ in lines])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            step = epoch * len(batches) + place + 1
            mixing = 1 - min(AVERAGING, step / (step + 10))
            torch._foreach_lerp_(average, [p.detach() for p in trained], mixing)
            total, seen = total + loss.item() * len(lines), seen + len(lines)
            if place % 100 == 99:
                spent = time.monotonic() - started
                print(
                    f"  {place + 1}/{len(batches)} loss {total / seen:.3f} {spent:.0f} s",
                    flush=True,
                )
        print(f"epoch {epoch + 1}: loss {total / seen:.3f}", flush=True)
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


def _groups(model: EncoderModel) -> list[dict[str, Any]]:
    """Learning rates: lower the deeper; word vectors without decay stay as published."""
    depths = model.by_depth()
    groups: list[dict[str, Any]] = [
        {"params": layer, "lr": RATE * LAYER_DECAY ** (len(depths) - 1 - depth)}
        for depth, layer in enumerate(depths)
    ]
    groups[0]["weight_decay"] = 0.0
    groups.append({"params": list(model.heads.parameters()), "lr": HEAD_RATE})
    return groups


def _share(progress: float) -> float:
    return min(progress / 0.1, (1.0 - progress) / 0.9)


def _digest(examples: Sequence[Example], epochs: int) -> str:
    text = f"{epochs} {RATE} {len(examples)}" + "".join(repr(e) for e in examples)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def ask(model: EncoderModel, examples: Sequence[Example]) -> dict[str, np.ndarray[Any, Any]]:
    """Logits of every head on examples, in their order."""
    tokenizer = WordPiece.open()
    encoded = [encode(tokenizer, example) for example in examples]
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i].ids))
    parts: dict[str, np.ndarray[Any, Any]] = {}
    with torch.inference_mode():
        for start in range(0, len(order), 64):
            rows = order[start : start + 64]
            for name, logits in model(tensors([encoded[i] for i in rows])).items():
                place = parts.setdefault(
                    name, np.empty((len(encoded), logits.shape[1]), np.float32)
                )
                place[rows] = logits.numpy()
    return parts


def write(model: EncoderModel, data: Data, folder: Path) -> None:
    """Exports to int8 ONNX with manifest and figures, and checks it against the float model.

    Raises:
        SystemExit: The file is too large or disagrees with the float model.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "model.onnx"
    write_encoder_graph(*model.exported(), target)
    if target.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{target} has {target.stat().st_size} bytes, more than {MAX_BYTES}.")
    turns = Answers(data.held_turns, ask(model, data.held_turns))
    pairs = Answers(data.held_pairs, ask(model, data.held_pairs))
    calibration = calibrate(turns, pairs)
    thresholds = choose_thresholds(turns, pairs, calibration)
    version = f"{DATED}-{hashlib.sha256(target.read_bytes()).hexdigest()[:8]}"
    write_manifest(
        folder,
        target,
        name="encoder",
        version=version,
        pairs=True,
        examples=len(data.learnt),
        thresholds=thresholds,
        calibration=calibration,
    )
    shown = figures(turns, pairs, calibration, thresholds)
    (folder / "figures.json").write_text(json.dumps(shown, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(shown, indent=1), flush=True)
    _check_agreement(folder, turns, calibration)


def _check_agreement(folder: Path, held: Answers, calibration: dict[str, float]) -> None:
    some = range(0, len(held.examples), max(1, len(held.examples) // 500))
    encoder = Judge.open(folder)
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


def main() -> None:
    """Trains and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=MODEL, help="folder that gets the model")
    parser.add_argument("--threads", type=int, default=2, help="threads of torch")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    begun = time.monotonic()
    data = read()
    print(
        f"{len(data.learnt)} examples, {len(data.held_turns)} turns and "
        f"{len(data.held_pairs)} pairs held out",
        flush=True,
    )
    model = fit(data.learnt, WORK / "epochs", options.epochs)
    write(model, data, options.to)
    print(f"done in {(time.monotonic() - begun) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
