"""One self-contained page of a replay: a time line of every conversation, filters and charts.

The page is made of data files beside this module (``page/``). It asks for nothing from outside:
its own policy (Content-Security-Policy) forbids every request and every script but its own, whose
hashes it names. What people said reaches it as data and is shown as text, never as HTML.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any, Final

from bmo import __version__
from bmo.replay.changes import Change
from bmo.replay.diff import ReplayDiff
from bmo.replay.diff_output import TITLES, summary_line
from bmo.replay.rows import FORMAT, RecordedScenario

SCRIPTS: Final = ("dom.js", "charts.js", "turns.js", "filters.js", "start.js")
"""The page's script, in the order its parts build on each other."""


def report_page(scenarios: Sequence[RecordedScenario], diff: ReplayDiff | None = None) -> str:
    """Draws the page."""
    style = _part("report.css")
    script = '"use strict";\n' + "\n".join(_part(name) for name in SCRIPTS)
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {"policy": policy, "style": style, "script": script, "data": _data(scenarios, diff)}
    # Cut once and joined once: what is put in is not looked at again.
    page = []
    for piece in _part("report.html").split("{{"):
        name, closed, rest = piece.partition("}}")
        page += [parts[name], rest] if closed else [piece]
    return "".join(page)


def _data(scenarios: Sequence[RecordedScenario], diff: ReplayDiff | None) -> str:
    """The data as JSON that no text can break out of: it has no ``<``, ``>`` or ``&``."""
    changes: dict[str, list[Change]] = {}
    for change in diff.changes if diff else ():
        changes.setdefault(change.scenario, []).append(change)
    data = {
        "version": __version__,
        "format": FORMAT,
        "diff": None if diff is None else {"summary": summary_line(diff), "titles": TITLES},
        "conversations": [_conversation(s, changes.get(s.id, ())) for s in scenarios],
    }
    text = json.dumps(data, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _conversation(scenario: RecordedScenario, changes: Iterable[Change]) -> dict[str, Any]:
    end = scenario.end
    return {
        "id": end.scenario,
        "about": end.about,
        "language": end.language,
        "mode": end.mode,
        "live": list(end.live),
        "mismatches": list(end.mismatches),
        "turns": [
            {
                # Words as they may be written down: ``user`` may hold a secret.
                "words": turn.words,
                **turn.model_dump(
                    mode="json", exclude_defaults=True, exclude={"scenario", "user", "written"}
                ),
            }
            for turn in scenario.turns
        ],
        "changes": [
            {k: v for k, v in asdict(change).items() if k not in ("scenario", "words")}
            for change in changes
        ],
    }


@cache
def _part(name: str) -> str:
    return (files("bmo.replay") / "page" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
