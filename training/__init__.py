"""How BMO's encoder is made. Development only: needs torch, onnx and safetensors.

``python -m training.train`` trains it and writes its file; ``python -m training.vectors`` makes its
sentence vector anew and leaves all else as it is.
"""

import os

import bmo  # noqa: F401 - it keeps onnxruntime from sending anything

# Threads that spin while they wait cost more than they win on a busy machine; read by torch's
# OpenMP when it is first imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")
