"""Whether a German, French or Spanish statement is about the user at all.

The judge knows these languages less well: "die elbe entspringt im riesengebirge" has the sound of
something told about oneself. A statement about the user says so somewhere: by a pronoun, a
possessive, a verb in the first person, a relation or a name. A rule at work need not, but it
orders ("geliefert wird nur dienstags").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bmo.gate.other_grammar import Grammar, grammar
from bmo.gate.packs import load_pack
from bmo.gate.people import people_lexicon
from bmo.language import LanguageCode

_I_DID = re.compile(r"[^\W\d_]{2,}[cdfglmnprstvzñu]é")
"""A Spanish verb that says "I did"; "café" and "josé" have the same shape."""
_NO_VERBS = frozenset({"café", "josé", "rené", "comité", "porqué"})


def tells_of_the_user(norm: Sequence[str], language: LanguageCode, subjects: Iterable[str]) -> bool:
    """Whether words name the user or somebody of theirs.

    Args:
        norm: Normalised words of a turn.
        language: de, fr or es.
        subjects: Names the conversation knows.
    """
    rules = grammar(language)
    people = people_lexicon(language)
    # "les" is an English name too.
    names = people.names - rules.articles - rules.clitics - rules.prepositions - rules.no_names
    known = names | {name.casefold() for name in subjects}
    if not (known | _lexicon(language, "of_the_user")).isdisjoint(norm):
        return True
    spoken = list(norm)
    return any(
        _is_own(spoken, i, rules, language)
        or _is_first_person(spoken, i, rules, language)
        or people.relation_at(spoken, i, len(spoken)) is not None
        for i in range(len(spoken))
    )


def orders(norm: Sequence[str], language: LanguageCode) -> bool:
    """Whether words lay something down: "always", "only", "nobody", "must"."""
    return not _lexicon(language, "orders").isdisjoint(norm)


def _is_own(norm: list[str], i: int, rules: Grammar, language: LanguageCode) -> bool:
    """A possessive of the user, not of everybody ("unsere erde")."""
    if norm[i] not in rules.own and norm[i] not in rules.own_oblique:
        return False
    return i + 1 == len(norm) or norm[i + 1] not in _lexicon(language, "everybodys")


def _is_first_person(norm: list[str], i: int, rules: Grammar, language: LanguageCode) -> bool:
    """A verb that says "I"; subjects are dropped anywhere in Spanish, else where thoughts begin."""
    form = rules.verbs.get(norm[i])
    if form is not None and form.person == 1:
        return rules.subject_from_verb or i == 0 or norm[i - 1] in rules.openers
    return language == "es" and bool(_I_DID.fullmatch(norm[i])) and norm[i] not in _NO_VERBS


def _lexicon(language: LanguageCode, name: str) -> frozenset[str]:
    """The single words of a lexicon."""
    phrases = load_pack(language).lexicons.get(name, frozenset())
    return frozenset(phrase[0] for phrase in phrases)
