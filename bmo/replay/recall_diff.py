"""How what the model is given differs between two recordings. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import ndiff

from bmo.replay.changes import Change, change_at, moved, only_in
from bmo.replay.rows import RecallRow, TurnRow


def recall_changes(
    old: TurnRow, new: TurnRow, old_writers: Mapping[str, str], new_writers: Mapping[str, str]
) -> Iterator[Change]:
    """Whether memory is asked, and which memories are given.

    Args:
        old: The turn before.
        new: The turn now.
        old_writers: Memory text -> what wrote it, in the whole scenario before.
        new_writers: The same now: a memory that is no longer stored cannot be recalled.
    """
    before, after = old.recall, new.recall
    if before.triggered != after.triggered:
        yield change_at(
            new,
            "recall",
            "~",
            moved(_trigger(before), _trigger(after)),
            "memory is asked now" if after.triggered else "memory is no longer asked",
        )
    for line in only_in(before.memories, after.memories):
        cause = _why_gone(_text_of(line, before), after, old_writers, new_writers)
        yield change_at(new, "recall", "-", cause, line)
    for line in only_in(after.memories, before.memories):
        cause = _why_come(_text_of(line, after), before, after, old_writers, new_writers)
        yield change_at(new, "recall", "+", cause, line)


def context_changes(old: TurnRow, new: TurnRow) -> Iterator[Change]:
    """The bytes put before the model: the block of a recall and the profile of a visit.

    A recording of version 0 has no bytes; there only the profile's texts are compared.
    """
    before, after = old.recall.context, new.recall.context
    if before is not None and after is not None and before != after:
        same = sorted(old.recall.memories) == sorted(new.recall.memories)
        cause = "order, dates or wording of the block" if same else "other memories"
        yield change_at(new, "context", "~", cause, _lines_changed(before, after))
    if old.profile_context is not None and new.profile_context is not None:
        if old.profile_context != new.profile_context:
            text = _lines_changed(old.profile_context, new.profile_context)
            yield change_at(new, "context", "~", "profile", text)
    elif old.profile is not None and new.profile is not None and old.profile != new.profile:
        text = _lines_changed("\n".join(old.profile), "\n".join(new.profile))
        yield change_at(new, "context", "~", "profile", text)


def _trigger(recall: RecallRow) -> str:
    return recall.trigger or "no recall ran"


def _text_of(line: str, recall: RecallRow) -> str:
    """The text of the memory that a line shows; in recordings of version 0 the line itself."""
    shown = zip(recall.memories, recall.selected, strict=False)
    return next((memory.text for given, memory in shown if given == line), line)


def _why_gone(
    text: str, after: RecallRow, old_writers: Mapping[str, str], new_writers: Mapping[str, str]
) -> str:
    if text in old_writers and text not in new_writers:
        return f"no longer stored: {old_writers[text]}"
    if not after.triggered:
        return f"not asked: {_trigger(after)}"
    left = next((row for row in after.left_out if row.text == text), None)
    return f"left out: {left.why}" if left is not None else "not found"


def _why_come(
    text: str,
    before: RecallRow,
    after: RecallRow,
    old_writers: Mapping[str, str],
    new_writers: Mapping[str, str],
) -> str:
    if text in new_writers and text not in old_writers:
        return f"newly stored: {new_writers[text]}"
    if not before.triggered:
        return f"asked: {_trigger(after)}"
    row = next((row for row in after.selected if row.text == text), None)
    return f"found by {row.why}" if row is not None else _trigger(after)


def _lines_changed(before: str, after: str) -> str:
    """The lines that came and went, in one line."""
    changed = [
        f"{line[0]} {line[2:].removeprefix('- ').strip()}"
        for line in ndiff(before.splitlines(), after.splitlines())
        if line[:2] in ("+ ", "- ") and line[2:].strip()
    ]
    return "; ".join(changed) or "blank lines"
