"""The write gate: what of a turn is worth keeping, and which older memories it ends."""

from bmo.gate.guards import NotStorable, mask, raw_ruling
from bmo.gate.orders import may_ask_to_forget
from bmo.gate.write_gate import WriteGate

__all__ = [
    "NotStorable",
    "WriteGate",
    "mask",
    "may_ask_to_forget",
    "raw_ruling",
]
