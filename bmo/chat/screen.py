"""What the terminal shows: replies, the line under each turn, lists of memories.

Everything shown comes from a person or a model, so control characters are taken out: text must not
steer the terminal.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from bmo.ledger import Recorded
from bmo.quotation import quotation
from bmo.turn import CATEGORIES, Decision, Recall, StoredFact

VERDICT_STYLE = {"allow": "green", "hold": "yellow", "discard": "bright_black"}
"""Colours of the verdicts."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

_TIED = "\u00a0"
"""A blank at which no line is broken; a plain one on the screen."""

SHOWN = 4
"""Memories a line under a turn names."""


def safe(text: str) -> str:
    """Text that can be printed anywhere: no control characters, no lone surrogates."""
    return _CONTROL.sub("", text.encode("utf-8", "replace").decode("utf-8"))


def never_fail(console: Console) -> None:
    """Makes characters the terminal's encoding lacks print as "?" instead of raising."""
    if isinstance(console.file, io.TextIOWrapper):
        console.file.reconfigure(errors="replace")


class Screen:
    """Prints one conversation."""

    def __init__(self, console: Console, *, echo: bool) -> None:
        """Prints to ``console``.

        Args:
            console: Where to.
            echo: Whether to repeat the person's words (they are not on the screen when piped).
        """
        self.console = console
        self.echo = echo
        self.quiet = False
        never_fail(console)

    def said(self, words: str) -> None:
        """The person's words, when they are not on the screen already."""
        if self.echo:
            self.console.print(Text("you> ", "bold cyan"), Text(_clip(safe(words))), sep="")

    def reply(self, words: str) -> None:
        """The assistant's words."""
        self.console.print(Text("bmo> ", "bold magenta"), Text(safe(words)), sep="")

    def note(self, sentence: str) -> None:
        """A sentence of the program."""
        self.console.print(Text(safe(sentence), "italic"))

    def memory_line(
        self,
        decision: Decision | None,
        recorded: Recorded | None,
        recall: Recall | None,
        trouble: str,
        *,
        kept: bool = True,
    ) -> None:
        """The line under a turn: what memory did, why, and in how many milliseconds.

        Args:
            decision: What the write gate said; None when the turn did not reach it.
            recorded: What the ledger changed; None when nothing is known of it.
            recall: What the model was given.
            trouble: What went wrong, or "".
            kept: False while off the record: then the verdict has no effect and is not shown.
        """
        if self.quiet:
            return
        line = Text(style="bright_black")
        if decision is None:
            line.append("not gated", "red")
        elif not kept:
            line.append("off the record: not kept")
        else:
            line.append(decision.verdict, VERDICT_STYLE[decision.verdict])
            line.append(f" ({safe(decision.reason)})")
        if recorded is not None:
            for fact in recorded.added:
                line.append(f" · + {safe(quotation(fact))}", "green")
            for fact in recorded.confirmed:
                line.append(f" · = {safe(quotation(fact))}", "bright_black")
            asks = recorded.pending_erasure is not None  # then nothing is gone yet
            for text in sorted({quotation(ended.fact) for ended in recorded.ended}):
                line.append(f" · {'withdrawn:' if asks else '-'} {safe(text)}", "red")
        if recall is not None:
            line.append(f" · {_recalled(recall)}")
        if trouble:
            line.append(f" · {safe(trouble)}", "red")
        line.append(f" · {_milliseconds(decision, recall)}")
        self._indented(line)

    def memories(self, facts: Iterable[StoredFact]) -> None:
        """What is known, by category."""
        every = list(facts)
        if not every:
            self.note("Nothing is stored yet.")
            return
        for category in CATEGORIES:
            own = [fact for fact in every if fact.category == category]
            if own:
                self.console.print(Text(category.replace("_", " "), "bold"))
            for fact in own:
                line = Text(f"- {safe(quotation(fact))}")
                line.append(f" ({fact.valid_from:%Y-%m-%d})", "bright_black")
                self._indented(line)

    def _indented(self, text: Text) -> None:
        """Wrapped two columns in, without blanks behind: the output of a pipe is read too."""
        width = max(self.console.width - 2, 10)
        for line in text.wrap(self.console, width):
            line.rstrip()
            line.plain = line.plain.replace(_TIED, " ")
            self.console.print(Text("  ") + line, soft_wrap=True)


def _recalled(recall: Recall) -> str:
    if not recall.plan.recall:
        return f"no recall ({recall.plan.trigger})"
    texts = [safe(quotation(memory.fact)) for memory in recall.memories]
    more = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    given = "; ".join(texts[:SHOWN]) + more if texts else "nothing found"
    return f"recall ({recall.plan.trigger}): {given}"


def _milliseconds(decision: Decision | None, recall: Recall | None) -> str:
    gate = decision.elapsed_us / 1000 if decision else 0.0
    read = recall.elapsed_ms if recall else 0.0
    # A number and its unit stay on one line.
    return f"gate {gate:.1f}{_TIED}ms, recall {read:.1f}{_TIED}ms"


def _clip(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
