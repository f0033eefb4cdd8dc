"""Other people's words, and words for others: "tom texted i am vegan", "dear mr smith i am carol".

Speech has no quotation marks. Who says "i" behind a verb of writing or saying is the one who
wrote, and what is dictated says who signs it; neither is known to be so of the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from bmo.gate.pack_tables import read_table
from bmo.language import Clause, LanguageCode, Words
from bmo.language.lexicon import places_of


@dataclass(frozen=True, slots=True)
class QuotingLexicon:
    """Words of a language around what is quoted, from ``[quoting]`` of ``factuality.toml``.

    Attributes:
        verbs: Forms of verbs with which somebody else's words are told.
        bare: Those of them that quote only what follows at once ("he goes i am off").
        messages: Nouns that quote with a copula behind them ("her message was ...").
        introducing: The verbs and those nouns.
        copulas: Those copulas.
        speakers: Words for the speaker that open a quoted clause.
        owners: The same, where a clause of its own or a finite verb has to follow.
        finite: Such verbs.
        own_subjects: Words before the verb with which the words are the user's own, or nobody's.
        between: Words that may stand between the subject and the verb.
        lost: Pronouns that are taken for fillers; "" where a verb needs none.
        joins: Conjunctions, behind which the user goes on.
        when: Words before the verb with which it only tells the time.
        behind: Words that may stand between the verb and what is quoted.
        orders: Words behind the verb at once that tell what somebody wants done.
        prepositions: Words behind the verb that take some more ("in his essay").
        reports: Verbs with which the user tells what he or she said.
        takes_back: Clauses that take it back ("i told him i am a doctor but i am not").
        dictation: Openings of what is to be written or said for somebody, as words.
        salutations: First words of a letter.
        no_letter: Words behind them with which none begins ("dear me").
        courtesies: Words that may stand before such an opening.
    """

    verbs: frozenset[str]
    bare: frozenset[str]
    messages: frozenset[str]
    introducing: frozenset[str]
    copulas: frozenset[str]
    speakers: frozenset[str]
    owners: frozenset[str]
    finite: frozenset[str]
    own_subjects: frozenset[str]
    between: frozenset[str]
    lost: frozenset[str]
    joins: frozenset[str]
    when: frozenset[str]
    behind: frozenset[str]
    orders: frozenset[str]
    prepositions: frozenset[str]
    reports: frozenset[str]
    takes_back: frozenset[tuple[str, ...]]
    dictation: dict[str, tuple[tuple[str, ...], ...]]
    salutations: frozenset[str]
    no_letter: frozenset[str]
    courtesies: frozenset[str]

    @property
    def telling(self) -> frozenset[str]:
        """Without one of these words nothing is quoted or dictated."""
        reported = {phrase[-1] for phrase in self.takes_back} if self.reports else set()
        return self.verbs | self.messages | self.salutations | self.dictation.keys() | reported


@cache
def quoting_lexicon(language: LanguageCode) -> QuotingLexicon:
    """The words of quoting of ``language``; empty where the pack has none."""
    raw = read_table(language, "factuality.toml").get("quoting", {})

    def of(name: str) -> frozenset[str]:
        return frozenset(raw.get(name, ()))

    return QuotingLexicon(
        verbs=of("verbs") | of("bare"),
        bare=of("bare"),
        messages=of("messages"),
        introducing=of("verbs") | of("bare") | of("messages"),
        copulas=of("copulas"),
        speakers=of("speakers"),
        owners=of("owners"),
        finite=of("finite"),
        own_subjects=of("own_subjects"),
        between=of("between"),
        lost=of("lost"),
        joins=of("joins"),
        when=of("when"),
        behind=of("behind"),
        orders=of("orders"),
        prepositions=of("prepositions"),
        reports=of("reports"),
        takes_back=frozenset(tuple(phrase.split()) for phrase in raw.get("takes_back", ())),
        dictation=_by_first_word(raw.get("dictation", ())),
        salutations=of("salutations"),
        no_letter=of("no_letter"),
        courtesies=of("courtesies"),
    )


def _by_first_word(phrases: Sequence[str]) -> dict[str, tuple[tuple[str, ...], ...]]:
    table: dict[str, tuple[tuple[str, ...], ...]] = {}
    for phrase in phrases:
        words = tuple(phrase.split())
        table[words[0]] = (*table.get(words[0], ()), words)
    return table


_LONGEST_GAP = 6
"""Words between a verb and what is quoted ("wrote to my sister in rome i am ...")."""
_LONGEST_OPENING = 8
"""Words behind the first of an opening within which the rest of it stands."""
_REACH_BACK = 8
"""Words before a verb among which its subject is looked for."""
_TAKEN_BY_PREPOSITION = 2


def words_not_the_users(
    spoken: Words, clauses: Sequence[Clause], language: LanguageCode
) -> tuple[int, int] | None:
    """The words that are somebody else's or are dictated: from which index to before which.

    Args:
        spoken: The turn's repaired words.
        clauses: Its clauses.
        language: Whose words apply.

    Returns:
        None where nothing is quoted. A quotation ends with its sentence, a dictation with the turn.
    """
    lexicon = quoting_lexicon(language)
    norm = spoken.norm
    dictated = _dictated_from(norm, lexicon)
    if dictated is not None:
        return dictated, len(norm)
    verbs, messages = lexicon.verbs, lexicon.messages
    for at in places_of(lexicon.introducing, norm):
        saying = norm[at] in verbs
        if (saying and _is_of_another(spoken, at, lexicon)) or (
            norm[at] in messages and _is_message(norm, at, lexicon)
        ):
            first = at + 1 if saying else at + 2
            if _speaks_behind(spoken, first, clauses, lexicon, bare=not saying):
                return at, _end_of_sentence(spoken, at)
    return _taken_back(norm, clauses, lexicon)


def _dictated_from(norm: list[str], lexicon: QuotingLexicon) -> int | None:
    """Where something to be written begins, if the turn is a dictation."""
    at = 0
    while at < len(norm) and norm[at] in lexicon.courtesies:
        at += 1
    rest = norm[at : at + _LONGEST_OPENING]
    if len(rest) > 1 and rest[0] in lexicon.salutations and rest[1] not in lexicon.no_letter:
        return at
    for phrase in lexicon.dictation.get(rest[0], ()) if rest else ():
        if "..." not in phrase:
            if tuple(rest[: len(phrase)]) == phrase:
                return at
            continue
        gap = phrase.index("...")
        head, tail = phrase[:gap], phrase[gap + 1 :]
        if tuple(rest[:gap]) == head and any(
            tuple(rest[i : i + len(tail)]) == tail for i in range(gap, len(rest))
        ):
            return at
    return None


def _is_of_another(spoken: Words, at: int, lexicon: QuotingLexicon) -> bool:
    """Whether the subject of a verb of saying is somebody else."""
    norm = spoken.norm
    subject = at - 1
    while subject >= 0 and norm[subject] in lexicon.between:
        subject -= 1
    if subject < 0:
        # A pronoun that is worded like a filler is lost in repair: "er sagte ich bin vegan".
        return spoken.text[: spoken.start[0]].strip().lower() in lexicon.lost
    if _ends_sentence(spoken, subject):
        return "" in lexicon.lost
    first = subject
    while first > 0 and subject - first < _REACH_BACK and not _ends_sentence(spoken, first - 1):
        first -= 1
    if norm[subject] in lexicon.own_subjects or not lexicon.when.isdisjoint(norm[first:at]):
        return False
    if norm[at - 1] in lexicon.joins:  # "i rang him and shouted i am done"
        return lexicon.speakers.isdisjoint(norm[first:at])
    return True


def _is_message(norm: list[str], at: int, lexicon: QuotingLexicon) -> bool:
    """Whether "her message was" stands here."""
    return (
        0 < at < len(norm) - 2
        and norm[at + 1] in lexicon.copulas
        and norm[at - 1] not in lexicon.owners
    )


def _speaks_behind(
    spoken: Words, first: int, clauses: Sequence[Clause], lexicon: QuotingLexicon, *, bare: bool
) -> bool:
    """Whether somebody says "i" behind a verb of saying, with no clause of the user's between."""
    norm = spoken.norm
    size = len(norm)
    bare = bare or norm[first - 1] in lexicon.bare
    taken = 0
    for at in range(first, min(size, first + _LONGEST_GAP + 1)):
        if _ends_sentence(spoken, at - 1):
            return False
        word = norm[at]
        if at == first and word in lexicon.orders:
            return True  # "messaged please call me bob"
        if taken == 0 or word in lexicon.speakers:
            if word in lexicon.speakers:
                paused = "," in spoken.after[at - 1]
                return not paused or all(w in lexicon.behind for w in norm[first:at])
            if word in lexicon.owners and _opens_clause(norm, at, clauses, lexicon):
                return True
        if bare or word in lexicon.joins:
            return False
        if taken:
            taken -= 1
        elif word in lexicon.prepositions:
            taken = _TAKEN_BY_PREPOSITION
        elif word in lexicon.owners:
            taken = 1
        elif word not in lexicon.behind:
            return False
    return False


def _opens_clause(
    norm: list[str], at: int, clauses: Sequence[Clause], lexicon: QuotingLexicon
) -> bool:
    if not lexicon.finite.isdisjoint(norm[at + 2 : at + 4]):
        return True
    return any(clause.start == at and clause.end - at > 2 for clause in clauses)


def _taken_back(
    norm: list[str], clauses: Sequence[Clause], lexicon: QuotingLexicon
) -> tuple[int, int] | None:
    """What the user said to somebody, and says here that it is not so."""
    for clause in clauses:
        line = norm[clause.start : clause.end]
        if tuple(line[1:] if line[0] in ("but", "and") else line) not in lexicon.takes_back:
            continue
        for at in range(clause.start):
            if norm[at] in lexicon.reports:
                return at, clause.end
    return None


def _ends_sentence(spoken: Words, at: int) -> bool:
    mark = spoken.after[at]
    return mark != "" and any(sign in mark for sign in ".?!;")


def _end_of_sentence(spoken: Words, at: int) -> int:
    for i in range(at, len(spoken.norm)):
        if _ends_sentence(spoken, i):
            return i + 1
    return len(spoken.norm)
