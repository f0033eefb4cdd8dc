"""Makes the encoder's head that tells which words of an ended memory are over.

"I do the food bank on tuesdays and aerobics on thursdays" is over in part by "it's wednesdays now".
The head reads what the layers below the last make of each piece of the memory, in the pair with the
turn; everything below it stays as it is. It learns from ended memories of which annotation says
what is still true. The layers say more than the last one: it serves the other heads (area under the
curve by piece on conversations of other authors .77 against .63). ``python -m training.over`` makes
it anew for an encoder that is there; ``training.train`` makes it at its end.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import torch
from torch.nn import functional

from bmo.encoder import MODEL, WordPiece
from bmo.encoder.encoding import MAX_MEMORY_TOKENS, encode_memory_pair
from bmo.encoder.wordpiece import SEP
from training.data import EndedMemory, is_held_out, read_ended
from training.encoder_base import SHAPE, published_encoder, write_manifest
from training.encoder_graph import (
    OVER,
    READ_LAYERS,
    Array,
    Head,
    add_over,
    read_encoder_graph,
)
from training.model import EncoderModel

SEED = 20261128
EPOCHS = 5
BATCH = 512
RATE = 1e-3
DROPOUT = 0.2
DECAY = 0.02


def pieces_of(
    model: EncoderModel, ended: Sequence[EndedMemory]
) -> tuple[torch.Tensor, torch.Tensor]:
    """What the layers make of each piece of the memories, and whether it is over.

    Args:
        model: The encoder.
        ended: Memories with the turns that end them.

    Returns:
        (pieces, features) float32 and (pieces,) of 0 and 1.
    """
    tokenizer = WordPiece.open()
    features: list[torch.Tensor] = []
    truth: list[float] = []
    for one in ended:
        asked, text = one.turn
        pair = encode_memory_pair(tokenizer, one.memory, (asked if "?" in asked else "", text))
        begins = tokenizer.begins(one.memory[1])[:MAX_MEMORY_TOKENS]
        stays = one.memory[1].find(one.rest) if one.rest else len(one.memory[1])
        truth += [float(not stays <= begin < stays + len(one.rest)) for begin in begins]
        end = pair.ids.index(SEP)
        layers = model.layered(torch.tensor([pair.ids]), torch.tensor([pair.kinds]))
        read = torch.cat([layers[number - 1][0] for number in READ_LAYERS], dim=1)
        features.append(read[end - len(begins) : end])
    return torch.cat(features), torch.tensor(truth)


def fit(features: torch.Tensor, truth: torch.Tensor) -> Head:
    """A logistic regression on standardised features."""
    torch.manual_seed(SEED)
    mean, spread = features.mean(0), features.std(0) + 1e-4
    features = (features - mean) / spread
    head = torch.nn.Linear(features.shape[1], 1)
    optimiser = torch.optim.AdamW(head.parameters(), lr=RATE, weight_decay=DECAY)
    for _ in range(EPOCHS):
        for chosen in torch.split(torch.randperm(len(truth)), BATCH):
            read = functional.dropout(features[chosen], DROPOUT)
            logits = head(read)[:, 0]
            loss = functional.binary_cross_entropy_with_logits(logits, truth[chosen])
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    with torch.no_grad():
        weight = (head.weight / spread).T.contiguous()
        bias = head.bias - mean @ weight
    return Head(OVER, weight.numpy(), bias.numpy())


def over_head(weights: dict[str, Array], heads: Sequence[Head]) -> Head:
    """The head for an encoder.

    Args:
        weights: Its tensors under Hugging Face's BERT names, float32.
        heads: Its other heads.
    """
    torch.set_num_threads(1)  # the sums of more depend on how many, and these are small
    model = EncoderModel({**published_encoder(), **weights}, SHAPE, 0.0)
    model.load(weights, heads)
    learnt = [one for one in read_ended() if not is_held_out(one.group)]
    print(f"{len(learnt)} ended memories, {sum(bool(e.rest) for e in learnt)} in part", flush=True)
    with torch.inference_mode():
        features, truth = pieces_of(model.eval(), learnt)
    return fit(features.clone(), truth.clone())


def main() -> None:
    """Writes an encoder with a new head; all else of it stays as it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", type=Path, dest="read_from", default=MODEL, help="the encoder")
    parser.add_argument("--to", type=Path, default=MODEL, help="folder that gets it")
    parser.add_argument("--dated", required=True, help="day of the new head: 20261128")
    options = parser.parse_args()
    manifest = json.loads((options.read_from / "model.json").read_text(encoding="utf-8"))
    model = options.read_from / "model.onnx"
    weights, heads = read_encoder_graph(model, published_encoder(), SHAPE)
    options.to.mkdir(parents=True, exist_ok=True)
    target = options.to / "model.onnx"
    add_over(model, over_head(weights, heads), target)
    kept = {key: manifest[key] for key in manifest if key not in ("file", "sha256", "bytes")}
    write_manifest(options.to, target, options.dated, **kept)


if __name__ == "__main__":
    main()
