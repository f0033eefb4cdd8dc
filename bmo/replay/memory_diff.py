"""How what is stored, ended and remembered differs between two recordings. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bmo.replay.changes import Change, change_at, decided_by, moved, only_in
from bmo.replay.rows import EndedRow, RecordedScenario, StoredRow, TurnRow


def stored_changes(old: TurnRow, new: TurnRow) -> Iterator[Change]:
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
            yield change_at(
                new,
                "stored",
                "~",
                moved(written_by(before, old), written_by(after, new)),
                moved(before.text, after.text),
                "; ".join(differences),
            )
    now, was = _decision_note(new), _decision_note(old)
    for fact in gone:
        note = f"now {now}" if new.verdict != old.verdict else ""
        yield change_at(new, "stored", "-", written_by(fact, old), _described(fact), note)
    for fact in come:
        note = f"before {was}" if new.verdict != old.verdict else ""
        yield change_at(new, "stored", "+", written_by(fact, new), _described(fact), note)


def ended_changes(old: TurnRow, new: TurnRow) -> Iterator[Change]:
    """Memories a turn ends now and did not before, and the other way round."""
    before = [_ended_text(row) for row in old.ended]
    after = [_ended_text(row) for row in new.ended]
    for text in only_in(before, after):
        yield change_at(new, "ended", "-", decided_by(new), text)
    for text in only_in(after, before):
        yield change_at(new, "ended", "+", decided_by(new), text)


def live_changes(old: RecordedScenario, new: RecordedScenario) -> Iterator[Change]:
    """What is remembered at the end of one recording only; its cause is what wrote it."""
    old_writers, new_writers = writers(old), writers(new)
    for text in only_in(old.end.live, new.end.live):
        yield Change("live", "-", old_writers.get(text, "unknown"), text, new.id)
    for text in only_in(new.end.live, old.end.live):
        yield Change("live", "+", new_writers.get(text, "unknown"), text, new.id)


def writers(scenario: RecordedScenario) -> Mapping[str, str]:
    """Memory text -> what wrote it, for every memory that a scenario stored."""
    return {fact.text: written_by(fact, turn) for turn in scenario.turns for fact in turn.stored}


def written_by(fact: StoredRow, turn: TurnRow) -> str:
    """What wrote a memory: its rule's id, else the method, else what decided the turn."""
    return fact.rule or fact.extraction_method or decided_by(turn)


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


def _described(fact: StoredRow) -> str:
    return f"{fact.text} [{fact.category}]"


def _decision_note(turn: TurnRow) -> str:
    return f"{turn.verdict or 'undecided'} ({turn.reason})" if turn.reason else "undecided"


def _ended_text(row: EndedRow) -> str:
    return f"{row.text} ({row.why})"
