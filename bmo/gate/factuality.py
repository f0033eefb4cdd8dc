"""Factuality: what a clause says without vouching for it (conditional, wish, hedge, quote, ...).

The classes follow FactBank (Sauri and Pustejovsky 2009) as far as speech needs them. A veto never
allows: the clause is held or discarded, whatever a rule or the judge makes of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, get_args

from bmo.gate.negation_scope import beyond_rules
from bmo.gate.pack_tables import read_table
from bmo.language import Clause, LanguageCode, Words
from bmo.language.lexicon import places_of

Veto = Literal[
    "conditional",
    "wish",
    "hedge",
    "quotation",
    "third_party",
    "idiom",
    "sarcasm",
    "transient",
    "joke",
    "scope",
]
"""Why a clause may not be stored."""


Cues = dict[str, dict[str, tuple[tuple[tuple[str, ...], int, Veto], ...]]]
"""A telling word -> the word behind it in the phrase ("" where the phrase ends with it) ->
(phrase, place of the telling word in it, veto), longest phrase first."""

# Only how a cue is found: a word so frequent in English is none to look cues up by.
_COMMON = frozenset(
    (
        "i we you he she they it a an the to of in on at for my your me is am are was be do not "
        "that this have has had no so and if as all up out just like would could should one over "
        "about with by says said his her"
    ).split()
)
_COMMONEST = frozenset("i you the a it to is my of and we that what have will there".split())
"""Of a phrase of common words one of the others tells."""


@dataclass(frozen=True, slots=True)
class FactualityLexicon:
    """Cues of a language, from ``factuality.toml``.

    Attributes:
        cues: Phrases found anywhere in a clause; keyed by a word that is rare in speech, so that
            most clauses are done with one set operation.
        leading: First word -> second word ("" for a phrase of one) -> phrases that count only at
            the front of a clause, longest first.
        of_turn: Phrases that take back the whole turn, wherever they stand ("yeah right").
        telling: The keys of ``cues``.
        taking_back: The keys of ``of_turn``.
        openings: The phrases of ``leading``, each with its veto.
        lengths: First word -> second word -> how many words those phrases have, longest first.
        asides: Phrases that are worded like a condition and are none ("if i am honest").
        takes_back: Ends of a clause of three words that take back what it says.
        last_taking_back: Their last words.
        somebody: First words of a clause that tells what is generally so of somebody.
        doubts: Words before "if" that make it a question, a courtesy or a doubt.
        not_generic: Words beside "if" with which it is about one time.
        authorities: Who tells one what is true of oneself.
    """

    cues: Cues
    leading: dict[str, dict[str, tuple[tuple[tuple[str, ...], Veto], ...]]]
    of_turn: Cues
    telling: frozenset[str]
    taking_back: frozenset[str]
    openings: Mapping[tuple[str, ...], Veto] = field(default_factory=dict)
    lengths: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    asides: tuple[tuple[str, ...], ...] = ()
    takes_back: frozenset[tuple[str, ...]] = frozenset()
    last_taking_back: frozenset[str] = frozenset()
    somebody: frozenset[str] = frozenset()
    doubts: frozenset[str] = frozenset()
    not_generic: frozenset[str] = frozenset()
    authorities: frozenset[str] = frozenset()


@cache
def factuality_lexicon(language: LanguageCode) -> FactualityLexicon:
    """The factuality cues of ``language``; empty where the pack has none."""
    raw = read_table(language, "factuality.toml")
    anywhere = dict(raw.get("anywhere", {}))
    anywhere["idiom"] = raw.get("idioms", [])
    cues = _cue_table(anywhere, by_telling_word=True)
    of_turn = _cue_table(raw.get("turn", {}), by_telling_word=True)
    leading = _leading_table(raw.get("leading", {}))
    return FactualityLexicon(
        cues,
        leading,
        of_turn,
        frozenset(cues),
        frozenset(of_turn),
        _openings(leading),
        {
            first: {
                second: tuple(sorted({len(phrase) for phrase, _ in found}, reverse=True))
                for second, found in seconds.items()
            }
            for first, seconds in leading.items()
        },
        tuple(tuple(phrase.split()) for phrase in raw.get("asides", ())),
        frozenset(tuple(phrase.split()) for phrase in raw.get("takes_back", ())),
        frozenset(phrase.split()[-1] for phrase in raw.get("takes_back", ())),
        **{
            name: frozenset(raw.get("vouched", {}).get(name, ()))
            for name in ("somebody", "doubts", "not_generic", "authorities")
        },
    )


def _leading_table(
    raw: dict[str, list[str]],
) -> dict[str, dict[str, tuple[tuple[tuple[str, ...], Veto], ...]]]:
    return {
        first: {
            second: tuple((phrase, veto) for phrase, _, veto in cues)
            for second, cues in seconds.items()
        }
        for first, seconds in _cue_table(raw, by_telling_word=False).items()
    }


def _openings(
    leading: dict[str, dict[str, tuple[tuple[tuple[str, ...], Veto], ...]]],
) -> dict[tuple[str, ...], Veto]:
    """The phrases of a table of what opens a clause, each with its (first) veto."""
    openings: dict[tuple[str, ...], Veto] = {}
    for seconds in leading.values():
        for found in seconds.values():
            for phrase, veto in found:
                openings.setdefault(phrase, veto)
    return openings


def _cue_table(raw: dict[str, list[str]], by_telling_word: bool) -> Cues:
    table: dict[str, dict[str, list[tuple[tuple[str, ...], int, Veto]]]] = {}
    for veto in get_args(Veto):
        for phrase in raw.get(veto, ()):
            words = tuple(phrase.split())
            at = 0
            if by_telling_word:
                at = max(range(len(words)), key=lambda i: _rarity(words[i]))
            behind = "".join(words[at + 1 : at + 2])
            table.setdefault(words[at], {}).setdefault(behind, []).append((words, at, veto))
    return {
        word: {
            behind: tuple(sorted(cues, key=lambda cue: -len(cue[0])))
            for behind, cues in found.items()
        }
        for word, found in table.items()
    }


def _rarity(word: str) -> tuple[bool, bool, int]:
    """A guess at how seldom a word is said; what it is wrong about costs time only."""
    return word not in _COMMONEST, word not in _COMMON, len(word)


def may_be_framed(words: Words, clauses: Sequence[Clause], language: LanguageCode) -> bool:
    """Whether a clause may open or end with a cue, or be quoted.

    Where it says no and no ``cue_stands``, ``vetoes`` finds nothing against any of the clauses.
    """
    lexicon = factuality_lexicon(language)
    norm = words.norm
    if '"' in words.text or ("if" in norm and lexicon.asides):
        return True  # without its aside a clause may open with a cue
    for start, end, *_ in clauses:
        if norm[start] in lexicon.lengths and _leading_veto(lexicon, norm[start:end]) is not None:
            return True
        if norm[end - 1] in lexicon.last_taking_back and tuple(norm[end - _TAKEN_BACK : end]) in (
            lexicon.takes_back
        ):
            return True
    return False


def vetoes_of_turn(words: Words, language: LanguageCode) -> Veto | None:
    """What takes back everything the turn says, openers included ("yeah right im a model")."""
    return _first_veto(factuality_lexicon(language).of_turn, words.norm)


def cue_stands(norm: list[str], language: LanguageCode) -> bool:
    """Whether a whole cue stands among the words of a turn, and not only its telling word.

    Where none does and no clause ``may_be_framed``, ``vetoes`` finds nothing against any of them.
    """
    return _first_veto(factuality_lexicon(language).cues, norm) is not None


def _first_veto(cues: Cues, norm: list[str]) -> Veto | None:
    """The veto of the first phrase of a table that stands among words."""
    for place in places_of(cues, norm):
        for phrase, at, veto in _cues_at(cues[norm[place]], norm, place):
            begin = place - at
            if begin >= 0 and tuple(norm[begin : begin + len(phrase)]) == phrase:
                return veto
    return None


def _cues_at(
    cues: dict[str, tuple[tuple[tuple[str, ...], int, Veto], ...]], norm: list[str], place: int
) -> tuple[tuple[tuple[str, ...], int, Veto], ...]:
    """The phrases around a telling word that the word behind it allows."""
    alone = cues.get("", ())
    longer = cues.get(norm[place + 1]) if place + 1 < len(norm) else None
    return alone if longer is None else (*longer, *alone)


def vetoes(
    words: Words, clause: Clause, language: LanguageCode, *, scoped: bool = True
) -> tuple[Veto, ...]:
    """Why a clause may not be stored; empty when nothing speaks against it.

    Args:
        words: The turn's repaired words.
        clause: One of its clauses.
        language: Whose cues apply.
        scoped: False where the caller knows that no negation of the turn is beyond the rules.
    """
    lexicon = factuality_lexicon(language)
    start, end, *_ = clause
    norm = words.norm[start:end]
    if "if" in norm:
        norm = _without_asides(norm, lexicon)
    if not norm:
        return ()
    found: list[Veto] = []
    veto_first = _leading_veto(lexicon, norm)
    if veto_first is not None:
        found.append(veto_first)
    cues = lexicon.cues
    for place in places_of(cues, norm):
        for phrase, at, veto in _cues_at(cues[norm[place]], norm, place):
            begin = place - at
            if (
                veto not in found
                and begin >= 0
                and (len(phrase) == 1 or tuple(norm[begin : begin + len(phrase)]) == phrase)
                and not _is_vouched_for(norm, begin, phrase, lexicon)
            ):
                found.append(veto)
    ends = norm[-1] in lexicon.last_taking_back and len(norm) > _TAKEN_BACK
    if ends and tuple(norm[-_TAKEN_BACK:]) in lexicon.takes_back:
        found.append("hedge")
    if scoped and beyond_rules(words, clause, language):
        found.append("scope")
    if len(found) > 1:
        found.sort(key=get_args(Veto).index)
    if '"' in words.text and "quotation" not in found and _quoted(words, start, end):
        found.append("quotation")
    return tuple(found)


def _without_asides(norm: list[str], lexicon: FactualityLexicon) -> list[str]:
    """A clause without phrases that are worded like a condition and are none."""
    for aside in lexicon.asides:
        for begin in range(len(norm) - len(aside) + 1):
            if tuple(norm[begin : begin + len(aside)]) == aside:
                return [*norm[:begin], *norm[begin + len(aside) :]]
    return norm


_TAKEN_BACK = 3
"""Words of an end of a clause that takes back what it says ("call me hattie no dont")."""
_BEFORE_GENERIC = 3
"""Least words of a statement whose condition follows ("i get migraines if i skip breakfast")."""


def _is_vouched_for(
    norm: list[str], begin: int, phrase: tuple[str, ...], lexicon: FactualityLexicon
) -> bool:
    """Whether a cue is none here: a condition of what is generally so, a doctor's word."""
    if phrase[0] == "if":
        return (
            begin >= _BEFORE_GENERIC
            and norm[0] in lexicon.somebody
            and norm[begin - 1] not in lexicon.doubts
            and lexicon.not_generic.isdisjoint(norm[:begin])
            and lexicon.not_generic.isdisjoint(norm[begin + 1 :])
        )
    if phrase[-1] == "it" and norm[begin + len(phrase) : begin + len(phrase) + 1] == ["when"]:
        return True  # "i like it when you joke" points at nothing said before
    return phrase[0] == "told" and begin > 0 and norm[begin - 1] in lexicon.authorities


def _leading_veto(lexicon: FactualityLexicon, norm: list[str]) -> Veto | None:
    """The veto of the longest phrase that opens a clause with these words."""
    lengths = lexicon.lengths.get(norm[0])
    if lengths is None:
        return None
    if len(norm) > 1:
        for length in lengths.get(norm[1], ()):
            veto = lexicon.openings.get(tuple(norm[:length]))
            if veto is not None:
                return veto
    return lexicon.openings.get((norm[0],))


def _quoted(words: Words, start: int, end: int) -> bool:
    """Whether most of the clause stands between quotation marks."""
    opened = False
    inside = 0
    text = words.text
    first, last = words.start[start], words.end[end - 1]
    for position, character in enumerate(text[:last]):
        if character == '"':
            opened = not opened
        elif opened and position >= first and not character.isspace():
            inside += 1
    return inside * 2 > sum(not c.isspace() for c in text[first:last])
