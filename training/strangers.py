"""Measures the judge alone on lines by strangers: ``python -m training.strangers``.

Conversations and corpora are read where they lie; none of them is part of the training. The gate's
own figures, rules and judge together, are ``bmo eval``'s. Writes ``strangers.json`` beside the
judge, from which ``training.model_card`` writes the card.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bmo.evaluation.judge_figures import conversation_shares, corpus_shares
from bmo.judge import MODEL, Judge

SHARED = Path("/work/shared")


def main() -> None:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=Path, default=SHARED / "golden")
    parser.add_argument("--corpora", type=Path, default=SHARED / "corpora")
    parser.add_argument("--judge", type=Path, default=MODEL, help="folder of the judge")
    options = parser.parse_args()
    judge = Judge.open(options.judge)
    shares = conversation_shares(judge, options.conversations)
    shares |= corpus_shares(judge, options.corpora)
    for name, value in shares.items():
        print(f"{name}: {value}")
    written = {"version": judge.version, **{name: str(value) for name, value in shares.items()}}
    text = json.dumps(written, indent=1, ensure_ascii=False) + "\n"
    (options.judge / "strangers.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
