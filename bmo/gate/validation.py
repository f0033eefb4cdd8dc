"""Validation: which capture type of the rule packs is checked by what."""

from __future__ import annotations

from bmo.gate.capture_firms import amount, counted, kind_of_product
from bmo.gate.capture_intents import (
    decision,
    goal,
    goal_phrase,
    imperative,
    policy_predicate,
    process,
    standing_request,
    trying,
)
from bmo.gate.capture_names import (
    certain_name,
    certain_names,
    company,
    known_name,
    language_name,
    name,
    names,
    new_home,
    occupation,
    organisation,
    place,
    place_of_work,
    sure_place,
    technology,
)
from bmo.gate.capture_numbers import age, date, number
from bmo.gate.capture_obligations import done_so, duty, forbidden, obliged, required, terms
from bmo.gate.capture_phrases import (
    activity,
    anything,
    doing,
    had,
    identity,
    liked,
    noun_phrase,
    statement_rest,
    vehicle,
    verb_phrase,
)
from bmo.gate.captures import Capture, CaptureContext, Validator
from bmo.gate.rule_patterns import SKIPPED_BEFORE_ENTRY

VALIDATORS: dict[str, Validator] = {
    "NP": noun_phrase,
    "PREFNP": liked,
    "VING": activity,
    "VINF": activity,
    "VP": verb_phrase,
    "NAME": name,
    "SURENAME": certain_name,
    "PLACE": place,
    "NEWHOME": new_home,
    "OCC": occupation,
    "NUM": number,
    "AGE": age,
    "DATE": date,
    "LANG": language_name,
    "ORG": organisation,
    "EMPLOYER": place_of_work,
    "COMPANY": company,
    "VEHICLE": vehicle,
    "TECH": technology,
    "KNOWNNAME": known_name,
    "SUREPLACE": sure_place,
    "DOING": doing,
    "NAMES": names,
    "SURENAMES": certain_names,
    "GOAL": goal,
    "GOALNP": goal_phrase,
    "TRYING": trying,
    "ISA": identity,
    "HAVE": had,
    "IMPERATIVE": imperative,
    "INSTR": standing_request,
    "POLICY_VP": policy_predicate,
    "DECISION": decision,
    "PROCESS": process,
    "ANY": anything,
    "REST": statement_rest,
    "COUNTED": counted,
    "AMOUNT": amount,
    "PRODUCT": kind_of_product,
    "REQUIRED": required,
    "OBLIGED": obliged,
    "FORBIDDEN": forbidden,
    "DONESO": done_so,
    "DUTY": duty,
    "TERMS": terms,
}
"""Capture types of the rule packs; lower-case: a lexicon, whose longest entry counts."""


def validate(context: CaptureContext, kind: str, start: int, end: int) -> Capture | None:
    """Trims and checks one capture.

    Args:
        context: The head and its surroundings.
        kind: A key of ``VALIDATORS``, or the name of a lexicon.
        start: Index of the first captured word.
        end: Index behind the last.
    """
    if start >= end:
        return None
    validator = VALIDATORS.get(kind)
    if validator is not None:
        return validator(context, start, end)
    size = context.longest(kind, start, end, 5)
    if not size and start + 1 < end and context.tokens[start] in SKIPPED_BEFORE_ENTRY:
        size = context.longest(kind, start + 1, end, 5)
        if size:
            return Capture(start + 1, start + 1 + size, start + 1 + size)
    return Capture(start, start + size, start + size) if size else None
