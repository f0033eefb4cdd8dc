"""The words of open canonicalisation that are no grammar, from ``open_words.toml``."""

from __future__ import annotations

from dataclasses import dataclass

from bmo.gate.word_tables import word_table


@dataclass(frozen=True, slots=True)
class OpenLexicon:
    """The lists of ``open_words.toml``; what each is for stands there beside its words."""

    hanging: frozenset[str]
    no_plurals: frozenset[str]
    things_refused: frozenset[str]
    empty: frozenset[str]
    embeds: frozenset[str]
    become: frozenset[str]
    behind_were: frozenset[str]
    before_own_clause: frozenset[str]
    told_anyway: frozenset[str]
    ending: frozenset[str]
    anyone: frozenset[str]
    behind_is: frozenset[str]
    before_name: frozenset[str]
    only_one: frozenset[str]
    times: frozenset[str]
    leans: frozenset[str]
    says_nothing: frozenset[str]
    lasting: frozenset[str]
    contact: frozenset[str]
    lately: frozenset[str]
    decided: frozenset[str]
    professionals: frozenset[str]
    professionals_say: frozenset[str]
    kin_does: frozenset[str]
    everybody: frozenset[str]
    of_how_often: frozenset[str]
    rang_or_came: frozenset[str]
    of_a_call: frozenset[str]
    counted_units: frozenset[str]
    some_day: frozenset[str]
    wanting: frozenset[str]
    forbids: frozenset[str]
    demands: frozenset[str]
    orders_of_always: frozenset[str]
    before_you: frozenset[str]
    annoying: frozenset[str]


open_lexicon = word_table(OpenLexicon, "open_words.toml")
"""The English lists, read from the package on first use."""
