"""How BMO's two local models are made. Development only: needs torch, onnx and safetensors.

``python -m training.build_embedder`` makes the embedder from the published weights;
``python -m training.train`` trains the encoder and writes its file.
"""

import os

# Threads that spin while they wait cost more than they win on a busy machine; read by torch's
# OpenMP when it is first imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")
