"""The write gate: what of a turn is worth keeping, and how it is written down."""

from bmo.gate.analysis import Analysis, ClauseAnalysis, analyse
from bmo.gate.forget_words import may_ask_to_forget
from bmo.gate.judge_binding import wants_judge
from bmo.gate.people import people_lexicon
from bmo.gate.rule_patterns import PackError
from bmo.gate.sensitive import scan as scan_sensitive
from bmo.gate.write_gate import Ruled, WriteGate

__all__ = [
    "Analysis",
    "ClauseAnalysis",
    "PackError",
    "Ruled",
    "WriteGate",
    "analyse",
    "may_ask_to_forget",
    "people_lexicon",
    "scan_sensitive",
    "wants_judge",
]
