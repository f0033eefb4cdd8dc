"""How one turn differs between two recordings: memories, verdict, recall, context. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import ndiff

from bmo.replay.changes import Change, ChangeKind, Sign, came_and_went, moved
from bmo.replay.rows import EndedRow, RecallRow, RecordedScenario, StoredRow, TurnRow

Writers = Mapping[str, str]
"""Memory text -> what wrote it, for every memory that a scenario stored."""


def writers(scenario: RecordedScenario) -> Writers:
    """What wrote the memories of a scenario."""
    return {fact.text: _written_by(fact, turn) for turn in scenario.turns for fact in turn.stored}


def turn_changes(
    old: TurnRow, new: TurnRow, old_writers: Writers, new_writers: Writers
) -> Iterator[Change]:
    """Every change of a turn; what is no longer stored (``writers``) cannot be recalled."""
    yield from _stored_changes(old, new)
    ended = came_and_went(map(_ended_text, old.ended), map(_ended_text, new.ended))
    for sign, text in ended:
        yield change_at(new, "ended", sign, _decided_by(new), text)
    yield from _verdict_changes(old, new)
    yield from _recall_changes(old, new, old_writers, new_writers)
    yield from _context_changes(old, new)
    for sign, text in came_and_went(old.mismatches, new.mismatches):
        yield change_at(new, "mismatch", sign, _decided_by(new), text)


def change_at(
    turn: TurnRow, kind: ChangeKind, sign: Sign, cause: str, text: str, note: str = ""
) -> Change:
    """A change at a turn."""
    return Change(kind, sign, cause, text, turn.scenario, turn.session, turn.turn, turn.words, note)


def _stored_changes(old: TurnRow, new: TurnRow) -> Iterator[Change]:
    """Memories a turn stores now and did not before, the other way round, and differently."""
    gone, come, pairs = _paired(old.stored, new.stored)
    for before, after in pairs:
        differences = [
            f"{name} {moved(str(was), str(now))}"
            for name, was, now in (
                ("category", before.category, after.category),
                ("slot", before.slot, after.slot),
                ("kind", before.kind, after.kind),
                ("known before", before.confirmed, after.confirmed),
            )
            if was != now
        ]
        if before.text != after.text or differences:
            cause = moved(_written_by(before, old), _written_by(after, new))
            text, note = moved(before.text, after.text), "; ".join(differences)
            yield change_at(new, "stored", "~", cause, text, note)
    other_verdict = new.verdict != old.verdict
    for fact in gone:
        note = f"now {_decision_of(new)}" if other_verdict else ""
        yield change_at(new, "stored", "-", _written_by(fact, old), _described(fact), note)
    for fact in come:
        note = f"before {_decision_of(old)}" if other_verdict else ""
        yield change_at(new, "stored", "+", _written_by(fact, new), _described(fact), note)


def _paired(
    old: Sequence[StoredRow], new: Sequence[StoredRow]
) -> tuple[list[StoredRow], list[StoredRow], list[tuple[StoredRow, StoredRow]]]:
    """Only before, only now, and pairs: of the same text first, then of the same slot."""
    gone, come = list(old), list(new)
    pairs: list[tuple[StoredRow, StoredRow]] = []
    for same in (
        lambda a, b: a == b,
        lambda a, b: a.text == b.text,
        lambda a, b: a.slot is not None and (a.slot, a.subject) == (b.slot, b.subject),
    ):
        for fact in list(gone):
            match = next((other for other in come if same(fact, other)), None)
            if match is not None:
                gone.remove(fact)
                come.remove(match)
                pairs.append((fact, match))
    return gone, come, pairs


def _verdict_changes(old: TurnRow, new: TurnRow) -> Iterator[Change]:
    cause = moved(_decided_by(old), _decided_by(new))
    if old.verdict != new.verdict:
        text = f"{old.verdict or 'undecided'} -> {new.verdict or 'undecided'}"
        yield change_at(new, "verdict", "~", cause, text, moved(old.reason, new.reason))
    elif old.signals != new.signals:
        text = f"{', '.join(old.signals) or 'none'} -> {', '.join(new.signals) or 'none'}"
        yield change_at(new, "signal", "~", cause, text)


def _recall_changes(
    old: TurnRow, new: TurnRow, old_writers: Writers, new_writers: Writers
) -> Iterator[Change]:
    """Whether memory is asked, and which memories are given."""
    before, after = old.recall, new.recall
    if before.triggered != after.triggered:
        text = "memory is asked now" if after.triggered else "memory is no longer asked"
        yield change_at(new, "recall", "~", moved(_trigger(before), _trigger(after)), text)
    for sign, line in came_and_went(before.memories, after.memories):
        if sign == "-":
            cause = _why_gone(_text_of(line, before), after, old_writers, new_writers)
        else:
            cause = _why_come(_text_of(line, after), before, after, old_writers, new_writers)
        yield change_at(new, "recall", sign, cause, line)


def _context_changes(old: TurnRow, new: TurnRow) -> Iterator[Change]:
    """The bytes put before the model: the block of a recall and the profile of a visit.

    A recording of version 0 has no bytes; there only the profile's texts are compared.
    """
    before, after = old.recall.context, new.recall.context
    if before is not None and after is not None and before != after:
        same = sorted(old.recall.memories) == sorted(new.recall.memories)
        cause = "order, dates or wording of the block" if same else "other memories"
        yield change_at(new, "context", "~", cause, _lines_changed(before, after))
    before, after = old.profile_context, new.profile_context
    if before is None or after is None:
        before = None if old.profile is None else "\n".join(old.profile)
        after = None if new.profile is None else "\n".join(new.profile)
    if before is not None and after is not None and before != after:
        yield change_at(new, "context", "~", "profile", _lines_changed(before, after))


def _decided_by(turn: TurnRow) -> str:
    """What decided a turn: its rule's id, else the method (encoder, pattern), else the reason."""
    if turn.rule:
        return turn.rule
    if turn.extraction_method not in ("", "pattern"):
        return turn.extraction_method
    return turn.reason or "no decision"


def _written_by(fact: StoredRow, turn: TurnRow) -> str:
    """What wrote a memory: its rule's id, else the method, else what decided the turn."""
    return fact.rule or fact.extraction_method or _decided_by(turn)


def _described(fact: StoredRow) -> str:
    return f"{fact.text} [{fact.category}]"


def _decision_of(turn: TurnRow) -> str:
    return f"{turn.verdict or 'undecided'} ({turn.reason})" if turn.reason else "undecided"


def _ended_text(row: EndedRow) -> str:
    return f"{row.text} ({row.why})"


def _trigger(recall: RecallRow) -> str:
    return recall.trigger or "no recall ran"


def _text_of(line: str, recall: RecallRow) -> str:
    """The text of the memory that a line shows; in recordings of version 0 the line itself."""
    shown = zip(recall.memories, recall.selected, strict=False)
    return next((memory.text for given, memory in shown if given == line), line)


def _why_gone(text: str, after: RecallRow, old_writers: Writers, new_writers: Writers) -> str:
    if text in old_writers and text not in new_writers:
        return f"no longer stored: {old_writers[text]}"
    if not after.triggered:
        return f"not asked: {_trigger(after)}"
    left = next((row for row in after.left_out if row.text == text), None)
    return f"left out: {left.why}" if left is not None else "not found"


def _why_come(
    text: str, before: RecallRow, after: RecallRow, old_writers: Writers, new_writers: Writers
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
