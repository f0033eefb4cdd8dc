"""Grammar tables of German, French and Spanish: subjects, verb forms and small words.

A language's ``packs/<language>/grammar.toml``, read once. ``bmo.gate.other_heads`` reads clauses
with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from bmo.gate.pack_tables import read_table
from bmo.language import LanguageCode
from bmo.language.lexicon import Phrases, phrase_table

_JOINS = frozenset({"aber", "und"})
"""Behind one of these a verb may take the subject of the clause before ("aber leb in bonn")."""


@dataclass(frozen=True, slots=True)
class VerbForm:
    """What a form says: lemma, person (1, 3, or 0 for forms without one) and tense."""

    lemma: str
    person: int
    past: bool = False
    participle: bool = False
    plural: bool = False


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language's ``grammar.toml``.

    Attributes:
        language: Whose it is.
        first: Subject pronouns of the user -> "i" or "we".
        third: Subject pronouns of others -> "he", "she", "they".
        resumed: Words that repeat a subject just named ("tarek der isst").
        own: Possessives of the user that stand before a subject -> "my" or "our".
        own_oblique: The same in other cases, which never are the subject.
        third_own: Possessives of others -> "his", "her", "their".
        own_suffix: What marks an owner's name ("s" in "emils geburtstag"), or "".
        adjectives: What may stand between possessive and relation.
        since: Words that, with the time words behind them, say since when.
        time_words: What may stand behind them.
        than: Words that make "no longer" a comparison ("plus de café que de thé").
        compared: Words of which one must stand behind them then.
        negations: Words that negate.
        no_more: Words that, beside a negation, end a state.
        past_cues: Words that put the clause into the past.
        drop: Words without content for a rule.
        prepositions: A person behind one of these is not the subject.
        articles: Words that are no name.
        auxiliaries: Lemmas that, with a participle, make the past.
        experiencers: Lemmas whose subject is said as an object ("me gusta").
        experiencer_user: The user as that object.
        subject_from_verb: A first person form needs no subject.
        verb_second: One constituent stands before the verb, so before a subject there is nothing.
        openers: Words that begin a new thought.
        capital_nouns: Every noun has a capital, so that one does not show a name.
        no_names: More words that are no name behind a relation.
        copulas: Lemmas of "to be".
        no_longer: A word that alone, right behind the verb, ends a state ("j'aime plus ça").
        answers: Word of a question -> the words an answer to it leaves out.
        relatives: Relative pronouns: a verb behind one belongs to the clause it stands in.
        clitics: Object pronouns that stand before the verb and belong behind it in a head.
        infinitives: The lemmas, which are no finite forms where they are plural forms too.
        verbs: Form -> what it says.
        name_articles: Articles that stand before names ("die katrin").
        indefinite: What stands before somebody who is brought up ("une fille léonie").
        having: Lemmas of "to have", with which one brings up people.
        children: Words for one's own children ("die große") -> relation.
        bare: Relations that need no possessive ("maman").
        pointers: What stands between a name and who that is ("das ist", "es").
        dropped: An ending that speech leaves out beside the subject ("ich fahr").
        lead_ins: What may stand before a statement without being one ("on a découvert que").
        no_verbs: Two words of which the second is no verb here ("que viene").
        replies: Words that answer no and that deny as well ("no").
        question_words: Words of questions that no cannot answer ("dónde").
        adverbs: Adverbs before a verb, which belong to its clause.
    """

    language: LanguageCode
    first: Mapping[str, str]
    third: Mapping[str, str]
    resumed: frozenset[str]
    own: Mapping[str, str]
    own_oblique: frozenset[str]
    third_own: Mapping[str, str]
    own_suffix: str
    adjectives: frozenset[str]
    since: frozenset[str]
    time_words: frozenset[str]
    than: frozenset[str]
    compared: frozenset[str]
    negations: frozenset[str]
    no_more: frozenset[str]
    past_cues: frozenset[str]
    drop: frozenset[str]
    prepositions: frozenset[str]
    articles: frozenset[str]
    auxiliaries: frozenset[str]
    experiencers: frozenset[str]
    experiencer_user: frozenset[str]
    subject_from_verb: bool
    verb_second: bool
    openers: frozenset[str]
    capital_nouns: bool
    no_names: frozenset[str]
    no_longer: str
    copulas: frozenset[str]
    answers: Mapping[str, str]
    relatives: frozenset[str]
    clitics: frozenset[str]
    infinitives: frozenset[str]
    verbs: Mapping[str, VerbForm]
    name_articles: frozenset[str]
    indefinite: frozenset[str]
    having: frozenset[str]
    children: Mapping[tuple[str, ...], str]
    bare: frozenset[str]
    pointers: frozenset[tuple[str, ...]]
    dropped: str
    lead_ins: Phrases
    no_verbs: frozenset[tuple[str, ...]]
    adverbs: frozenset[str]
    replies: frozenset[str]
    question_words: frozenset[str]

    def form(self, norm: list[str], i: int) -> VerbForm | None:
        """What word ``i`` says as a verb; beside its subject it may have lost its ending."""
        found = self.verbs.get(norm[i])
        if found is not None and i and (norm[i - 1], norm[i]) in self.no_verbs:
            return None
        if found is not None and i and (norm[i - 1] in self.own or norm[i - 1] in self.indefinite):
            return None  # "mon rêve", "des cours"
        if found is not None or not self.dropped:
            return found
        before = norm[i - 1] if i else ""
        after = norm[i + 1] if i + 1 < len(norm) else ""
        if before in self.first or before in _JOINS or after in self.first:
            full = self.verbs.get(norm[i] + self.dropped)
            return full if full is not None and full.person == 1 else None
        return None


@lru_cache(maxsize=4)
def grammar(language: LanguageCode) -> Grammar:
    """The grammar tables of ``language``, read on first use."""
    raw = read_table(language, "grammar.toml")
    verbs: dict[str, VerbForm] = {}
    for lemma, forms in raw["verbs"].items():
        first, third, past, participle = (part.split() for part in forms.split("|"))
        for word in participle:
            verbs.setdefault(word, VerbForm(lemma, 0, True, True))
        for word in past:
            verbs[word] = VerbForm(lemma, 0, True)
        for word in third:
            verbs[word] = VerbForm(lemma, 3)
        for word in first:
            verbs[word] = VerbForm(lemma, 1)
    for word in raw.get("we_forms", ()):
        verbs[word] = VerbForm(verbs[word].lemma, 1, verbs[word].past, plural=True)
    return Grammar(
        language=language,
        first=raw["first"],
        third=raw["third"],
        resumed=frozenset(raw["resumed"]),
        own=raw["own"],
        own_oblique=frozenset(raw["own_oblique"]),
        third_own=raw["third_own"],
        own_suffix=raw.get("own_suffix", ""),
        adjectives=frozenset(raw["adjectives"]),
        since=frozenset(raw.get("since", ())),
        time_words=frozenset(raw.get("time_words", ())),
        than=frozenset(raw.get("than", ())),
        compared=frozenset(raw.get("compared", ())),
        negations=frozenset(raw["negations"]),
        no_more=frozenset(raw["no_more"]),
        past_cues=frozenset(raw["past_cues"]),
        drop=frozenset(raw["drop"]),
        prepositions=frozenset(raw["prepositions"]),
        articles=frozenset(raw["articles"]),
        auxiliaries=frozenset(raw["auxiliaries"]),
        experiencers=frozenset(raw["experiencers"]),
        experiencer_user=frozenset(raw["experiencer_user"]),
        subject_from_verb=raw["subject_from_verb"],
        verb_second=raw.get("verb_second", False),
        openers=frozenset(raw["openers"]),
        capital_nouns=raw.get("capital_nouns", False),
        no_names=frozenset(raw["no_names"]),
        copulas=frozenset(raw["copulas"]),
        no_longer=raw.get("no_longer", ""),
        answers=raw.get("answers", {}),
        relatives=frozenset(raw["relatives"]),
        clitics=frozenset(raw["clitics"]),
        infinitives=frozenset(raw["verbs"]),
        verbs=verbs,
        name_articles=frozenset(raw.get("name_articles", ())),
        indefinite=frozenset(raw.get("indefinite", ())),
        having=frozenset(raw.get("having", ())),
        children={tuple(k.split()): v for k, v in raw.get("children", {}).items()},
        bare=frozenset(raw.get("bare", ())),
        pointers=frozenset(tuple(p.split()) for p in raw.get("pointers", ())),
        dropped=raw.get("dropped", ""),
        lead_ins=phrase_table(raw.get("lead_ins", [])),
        no_verbs=frozenset(tuple(p.split()) for p in raw.get("no_verbs", ())),
        adverbs=frozenset(raw.get("adverbs", ())),
        replies=frozenset(raw.get("replies", ())),
        question_words=frozenset(raw.get("question_words", ())),
    )
