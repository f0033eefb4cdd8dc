"""What talk orders otherwise than writing put in order, before a turn is cut into clauses."""

from __future__ import annotations

from bmo.gate.appositives import written_out
from bmo.gate.clefts_of_kin import without_cleft
from bmo.gate.cue_words import NAMED, NAMING, POINTING, RELATED, REPORTED
from bmo.gate.introduced_clauses import with_subjects_behind_name
from bmo.gate.late_names import with_late_names
from bmo.gate.lost_apostrophes import with_apostrophes
from bmo.gate.meant_referents import with_whom_meant
from bmo.gate.naming_order import with_names_in_order
from bmo.gate.own_people import with_in_laws, with_own_people
from bmo.gate.packs import Pack
from bmo.gate.people import PeopleLexicon
from bmo.gate.pointing_orders import with_pointers_resolved
from bmo.gate.professional_word import without_professional
from bmo.gate.self_introduction import introduced
from bmo.gate.told_of_several import with_own_part, with_several_told
from bmo.language import Words
from bmo.turn import DialogueContext, Turn

_FRAMED = REPORTED | NAMED | RELATED


def in_clauses(spoken: Words, stages: int, turn: Turn, pack: Pack, people: PeopleLexicon) -> Words:
    """The words of an English turn with what is told in a frame or a fragment in clauses."""
    if "used" in spoken.norm and "now" in spoken.norm:
        spoken = _with_now_parted(spoken)
    listed = "," in spoken.text
    if not listed and not stages & _FRAMED:
        return spoken  # most turns
    jobs = pack.lexicons.get("occupations", frozenset())
    if stages & REPORTED:
        spoken = without_professional(spoken)
    if stages & NAMED:
        spoken = with_subjects_behind_name(spoken)
        if "i" in spoken.norm:
            spoken = with_own_part(spoken, people)
    if listed or stages & RELATED:
        spoken = written_out(spoken, people, pack.stops, jobs)
    if listed and (stages & NAMED or "?" in turn.assistant_before):
        spoken = introduced(spoken, turn.assistant_before, jobs)
    return spoken


def in_order(spoken: Words, stages: int, people: PeopleLexicon, context: DialogueContext) -> Words:
    """The words of an English turn with what talk orders otherwise than writing put in order."""
    if '"' in spoken.text:
        spoken = _without_quotes(spoken)
    if stages & RELATED:
        spoken = with_apostrophes(spoken, people)
        spoken = without_cleft(with_own_people(with_in_laws(spoken), people, context), people)
        spoken = with_several_told(with_late_names(spoken, people), people)
        if "mean" in spoken.norm:
            spoken = with_whom_meant(spoken, people)
    if stages & NAMING:
        spoken = with_names_in_order(spoken)
    if stages & POINTING:
        spoken = with_pointers_resolved(spoken)
    return spoken


def _with_now_parted(spoken: Words) -> Words:
    """What used to be and what is now as clauses: "he used to be a vet | now he runs a pub"."""
    norm = spoken.norm
    after = list(spoken.after)
    past = False
    for i, word in enumerate(norm[:-2]):
        past = past or (word == "used" and norm[i + 1] == "to")
        if not past or word != "now" or after[i - 1] or norm[i - 1] in _BEFORE_NOW:
            continue
        if norm[i + 1] in _WHO:
            after[i - 1] = "."
            past = False
    return Words(spoken.text, norm, spoken.start, spoken.end, after, spoken.before)


_WHO = frozenset("i we he she they it".split())
_BEFORE_NOW = frozenset(
    "right not just by until till to for even from and but or as before".split()
)
"""Words that make one phrase with "now", or have parted the clauses."""


def _without_quotes(spoken: Words) -> Words:
    """The words without quotation marks, which part no clauses of speech."""
    after = [mark.replace('"', "").strip() for mark in spoken.after]
    return Words(spoken.text, spoken.norm, spoken.start, spoken.end, after, spoken.before)
