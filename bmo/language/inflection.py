"""English past tense of a lemma: "meet" to "met", "study" to "studied"."""

from __future__ import annotations

from functools import lru_cache

from bmo.language.verb_forms import PAST

_PARTICIPLE_ENDS = ("wn", "ne", "en", "rn")


@lru_cache(maxsize=512)
def past_tense(lemma: str) -> str:
    """The simple past of a verb.

    Args:
        lemma: Its base form, lower case.

    Returns:
        The irregular form where the verb table has one ("went"), else the regular one. Of two
        irregular forms the one that is no participle is taken ("went", not "gone").
    """
    if lemma in ("be", "is", "are"):
        return "was"
    forms = [form for form, base in PAST.items() if base == lemma and form != lemma]
    simple = [form for form in forms if not form.endswith(_PARTICIPLE_ENDS) and "u" not in form]
    if forms:
        return min(simple or forms, key=lambda form: (form.endswith("ed"), len(form), form))
    if lemma in PAST:
        return lemma
    return _regular(lemma)


def _regular(lemma: str) -> str:
    if lemma.endswith("e"):
        return f"{lemma}d"
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return f"{lemma[:-1]}ied"
    short = len(lemma) > 2 and lemma[-1] not in "aeiouwxy" and lemma[-2] in "aeiou"
    if short and lemma[-3] not in "aeiou" and sum(char in "aeiou" for char in lemma) == 1:
        return f"{lemma}{lemma[-1]}ed"
    return f"{lemma}ed"
