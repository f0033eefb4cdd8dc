"""Ellipsis: what a clause leaves out because the turn has said it just before.

"Im done with the class, its football on a thursday now", "on my days off, thats monday and
tuesday", "the clinic moved to taiping so thats where i work now", "strong perfume gives her a
migraine", "they speak nothing else": the clause is written out in full ("my days off is monday
and tuesday") and read by the ordinary rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bmo.gate.word_tables import word_table
from bmo.language import Clause, Words


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``ellipsis.toml``; what each is for stands there beside its words."""

    present: frozenset[str]
    greetings: frozenset[str]
    pointers: frozenset[str]
    its_prepositions: frozenset[str]
    moving: frozenset[str]
    placed: frozenset[str]
    over: frozenset[str]
    nothing_else: frozenset[str]
    aside: frozenset[str]
    said_without_i: frozenset[str]
    no_object: frozenset[str]
    giving: frozenset[str]
    parting: frozenset[str]
    before_parting: frozenset[str]
    having: frozenset[str]
    when_lost: frozenset[str]
    subjects: frozenset[str]
    speakers: frozenset[str]
    now: frozenset[str]
    no_front: frozenset[str]
    takes_object: frozenset[str]
    no_name_endings: frozenset[str]


_words = word_table(_Words, "ellipsis.toml")


Lexicons = Mapping[str, frozenset[tuple[str, ...]]]
_ANNOUNCEMENT = 7
_JUST_THE_NAME = 2
_OBJECTS = {"me": "i", "him": "he", "her": "she", "us": "we", "them": "they"}
_PARTNER_WORDS = 3


@lru_cache(maxsize=1)
def _telling() -> frozenset[str]:
    """One of these stands in what is read by its verb."""
    lists = _words()
    return lists.parting | lists.giving | {"put"}


@lru_cache(maxsize=1)
def _closing() -> frozenset[str]:
    """With one of these ends a clause whose object may have been put first."""
    lists = _words()
    return lists.now.union(phrase.split()[-1] for phrase in lists.takes_object)


def completed(
    spoken: Words,
    clause: Clause,
    previous: Clause | None,
    lexicons: Lexicons,
    *,
    days: bool = True,
) -> Words | None:
    """The clause in full, or None when nothing is left out that could be found.

    Args:
        spoken: The turn's words.
        clause: The clause.
        previous: The clause before it.
        lexicons: Word lists of the language's pack.
        days: False where the caller knows that no word of ``words_of_days`` stands in the turn.
    """
    lists = _words()
    norm = spoken.norm
    start, end, intro, *_ = clause
    size = end - start
    if size < 2:
        return None
    opening = norm[start]
    if days:
        told = _days_first(spoken, clause, lexicons)
        if told is not None:
            return told
    left_out = opening in lists.said_without_i or opening in lists.aside
    if left_out and (previous is None or norm[previous.start] in lists.speakers):
        told = _without_subject(spoken, clause)
        if told is not None:
            return told
    if not _telling().isdisjoint(norm[start:end]):
        told = _by_its_verb(spoken, clause, previous)
        if told is not None:
            return told
    if previous is None and size <= _ANNOUNCEMENT and norm[start + 1] in lists.present:
        return _announced(spoken, clause, lexicons)
    if previous is None and size == _I_AM_NAME and intro in lists.greetings:
        return _introduced_alone(spoken, clause, lexicons)
    pointing = opening in lists.pointers and norm[start + 1] in ("is", "are", "'s")
    if pointing and previous is not None and size > 2:
        if norm[start + 2] == "where":
            return _place(spoken, clause, previous)
        if not lists.over.isdisjoint(norm[previous.start : previous.end]):
            rest = range(start + 2, end)
            return written_with(spoken, ["i", "do", *rest]) if opening == "it" else None
        return _named_before(spoken, clause, previous)
    if norm[end - 1] in ("else", "that"):
        return _same_language(spoken, clause, lexicons)
    if opening in ("a", "an") and previous is not None:
        return _had_too(spoken, clause, previous)
    return _put_first(spoken, clause) if norm[end - 1] in _closing() else None


def _days_first(spoken: Words, clause: Clause, lexicons: Lexicons) -> Words | None:
    """Reads "tuesdays and fridays i am at the shop then" with the days behind."""
    lists = _words()
    norm, start = spoken.norm, clause.start
    firsts, lasts = words_of_days(lexicons.get("recurring", frozenset()))
    if norm[start] not in firsts and not (start and norm[start - 1] in lasts):
        return None  # most clauses: no days stand at their front, and none end before it
    behind = _days_until(norm, start, clause.end, lexicons)
    # "mondays | and tuesdays | i am at the shop": the days are clauses of their own.
    opens = [i for i in range(max(start - _DAY_WORDS, 0), start) if not i or spoken.after[i - 1]]
    whole = (i for i in opens if _days_until(norm, i, start, lexicons) == start)
    first = next(whole, start)
    days = range(first, behind)
    end = clause.end - 1 if norm[clause.end - 1] == "then" else clause.end
    if not days or end - behind < 3 or norm[behind] not in lists.subjects:
        return None
    return spoken.select([*range(behind, end), *days])


@lru_cache(maxsize=8)
def words_of_days(
    recurring: frozenset[tuple[str, ...]],
) -> tuple[frozenset[str], frozenset[str]]:
    """The first words of phrases of days and times of day, and their last ones."""
    return (
        frozenset(phrase[0] for phrase in recurring),
        frozenset(phrase[-1] for phrase in recurring),
    )


_DAY_WORDS = 8


def _days_until(norm: Sequence[str], at: int, end: int, lexicons: Lexicons) -> int:
    """Index behind the days and times of day that stand at ``at`` ("mondays and wednesdays")."""
    recurring = lexicons.get("recurring", frozenset())
    behind = at
    while at < end:
        size = next((n for n in (3, 2, 1) if tuple(norm[at : at + n]) in recurring), 0)
        if not size:
            break
        at += size
        behind = at
        at += at < end and norm[at] in ("and", "or")
    return behind


def _put_first(spoken: Words, clause: Clause) -> Words | None:
    """Reads "six hives i have now", "coriander i cannot stand" with the object behind its verb."""
    lists = _words()
    norm = spoken.norm
    start, end, *_ = clause
    while end - start > 2 and norm[end - 1] in lists.now:
        end -= 1
    last = min(end - 1, start + _OBJECT_WORDS + 1)
    if lists.speakers.isdisjoint(norm[start + 1 : last]):
        return None  # most clauses
    for at in range(start + 1, last):
        if norm[at] in lists.speakers:
            if (
                " ".join(norm[at + 1 : end]) not in lists.takes_object
                or norm[start] in lists.no_front
            ):
                return None
            return spoken.select([*range(at, end), *range(start, at)])
    return None


_OBJECT_WORDS = 4


def _had_too(spoken: Words, clause: Clause, previous: Clause) -> Words | None:
    """Reads "i have a dog called rex | and a cat called tom" with the verb before."""
    lists = _words()
    norm = spoken.norm
    for at in range(previous.start + 1, min(previous.start + 4, previous.end)):
        if norm[at] in lists.having and norm[previous.start] in ("i", "we"):
            return spoken.select([*range(previous.start, at + 1), *range(clause.start, clause.end)])
    return None


def _by_its_verb(spoken: Words, clause: Clause, previous: Clause | None) -> Words | None:
    """The clause in full where a verb tells how: parting, putting down, giving a headache."""
    said = spoken.norm[clause.start : clause.end]
    if not _words().giving.isdisjoint(said):
        return _given(spoken, clause)
    if "put" in said:
        return _put_down(spoken, clause)
    return _parting(spoken, clause, previous)


def _without_subject(spoken: Words, clause: Clause) -> Words | None:
    """Reads "sold the telescope", "just got laid off" as "i sold ...": speakers leave "i" out."""
    lists = _words()
    norm = spoken.norm
    at = clause.start
    while at < clause.end - 1 and norm[at] in lists.aside:
        at += 1
    if norm[at] not in lists.said_without_i or norm[at + 1 : at + 2] == []:
        return None
    if norm[at + 1] in lists.no_object:
        return None
    have = ["have"] if norm[at] in ("gone", "been", "given") else []
    return written_with(spoken, ["i", *have, *range(at, clause.end)])


def _parting(spoken: Words, clause: Clause, previous: Clause | None) -> Words | None:
    """Reads "me and | ben have split up" as "i split up with ben"."""
    lists = _words()
    norm = spoken.norm
    told = _parted_from(spoken, clause)
    if told is not None:
        return told
    if previous is None or norm[previous.start : previous.end] != ["me"]:
        return None
    parting = lists.parting | lists.before_parting
    verb = next((i for i in range(clause.start, clause.end) if norm[i] in parting), 0)
    whom = range(clause.start, verb)
    while verb < clause.end and norm[verb] not in lists.parting:
        verb += 1
    if norm[clause.end - 1] == "over" and len(whom) <= _PARTNER_WORDS:
        return written_with(spoken, ["i", "broke", "up", "with", *whom]) if whom else None
    behind = next((i + 1 for i in range(verb, clause.end) if norm[i] in ("up", "ways")), 0)
    if not 0 < len(whom) <= _PARTNER_WORDS or not behind:
        return None
    return written_with(spoken, ["i", *range(verb, behind), "with", *whom])


def _parted_from(spoken: Words, clause: Clause) -> Words | None:
    """Reads "we broke up me and rui" and "we split up rui and i" as "we broke up with rui"."""
    lists = _words()
    norm = spoken.norm
    if norm[clause.start] not in ("i", "we"):
        return None
    up = next((i for i in range(clause.start + 2, clause.end) if norm[i] in ("up", "ways")), 0)
    if not up or norm[up - 1] not in lists.parting:
        return None
    at = next((i for i in range(up + 1, clause.end) if norm[i] == "and"), 0)
    if not at or at + 1 >= clause.end:
        return None
    if norm[up + 1 : at] in (["me"], ["myself"]):
        whom = range(at + 1, clause.end)
    elif norm[at + 1] in ("i", "me", "myself"):
        whom = range(up + 1, at)
    else:
        return None
    size = next((k for k, i in enumerate(whom) if norm[i] in lists.when_lost), len(whom))
    if not 0 < size <= _PARTNER_WORDS:
        return None
    return written_with(spoken, [*range(clause.start, up + 1), "with", *whom[:size]])


def _put_down(spoken: Words, clause: Clause) -> Words | None:
    """Reads "we had to put our dog down" as "our dog was put down"."""
    norm = spoken.norm
    at = norm.index("put", clause.start, clause.end)
    if norm[clause.start] not in ("i", "we") or clause.end - at < 3:
        return None
    before = norm[clause.start + 1 : at]
    if before not in (["had", "to"], ["have", "had", "to"], ["just", "had", "to"]):
        return None
    for i in range(at + 2, clause.end):
        if norm[i] == "down" or norm[i : i + 2] == ["to", "sleep"]:
            return written_with(spoken, [*range(at + 1, i), "was", "put", "down"])
    return None


def lost_to_death(spoken: Words, clause: Clause, names: Mapping[str, str]) -> Words | None:
    """Reads "we lost bella on tuesday" as "bella died on tuesday", where Bella is known.

    Args:
        spoken: The turn's words.
        clause: The clause.
        names: Lower-case names of known people and pets.
    """
    norm = spoken.norm
    at = clause.start + 1
    if norm[clause.start] not in ("i", "we") or at + 1 >= clause.end or norm[at] != "lost":
        return None
    if norm[at + 1] not in names:
        return None
    rest = range(at + 2, clause.end)
    if rest and norm[at + 2] not in _words().when_lost:
        return None
    return written_with(spoken, [at + 1, "died", *rest])


def _announced(spoken: Words, clause: Clause, lexicons: Lexicons) -> Words | None:
    """Reads "hi lerato here" as "my name is lerato", and "lerato here" as "it is lerato"."""
    name = spoken.norm[clause.start]
    if not name.isalpha() or (name,) in lexicons.get("not_announced", frozenset()):
        return None
    greeted = clause.intro in _words().greetings and clause.end - clause.start == _JUST_THE_NAME
    front = ["my", "name", "is"] if greeted else ["i", "am"]
    return written_with(spoken, [*front, clause.start])


def _introduced_alone(spoken: Words, clause: Clause, lexicons: Lexicons) -> Words | None:
    """Reads "hi i am wubbo", and nothing else, as "my name is wubbo": no state, no profession."""
    lists = _words()
    norm, at = spoken.norm, clause.start + 2
    word = norm[at]
    if norm[clause.start : at] != ["i", "am"] or clause.end < len(norm) or not word.isalpha():
        return None
    kinds = ("not_introduced", "not_announced", "occupations", "nationality", "not_names", "diet")
    if word.endswith(tuple(lists.no_name_endings)) or any(
        (word,) in lexicons.get(k, ()) for k in kinds
    ):
        return None
    return written_with(spoken, ["my", "name", "is", at])


_I_AM_NAME = 3


def _named_before(spoken: Words, clause: Clause, previous: Clause) -> Words | None:
    """Reads "on my days off | that is monday" as "my days off is monday"."""
    norm = spoken.norm
    start = previous.start
    if norm[start] in _words().its_prepositions:
        start += 1
    if norm[start] not in ("my", "our") or not 2 <= previous.end - start <= 4:
        return None
    return spoken.select([*range(start, previous.end), *range(clause.start + 1, clause.end)])


def _place(spoken: Words, clause: Clause, previous: Clause) -> Words | None:
    """Reads "the clinic moved to york | that is where i work" as "i work at the clinic in york"."""
    lists = _words()
    norm = spoken.norm
    if clause.end - clause.start < 5 or norm[clause.start + 3] not in ("i", "we"):
        return None
    verb = norm[clause.start + 4]
    words = norm[previous.start : previous.end]
    marks = [i for i, word in enumerate(words[:-1]) if word in lists.placed]
    if verb not in ("work", "live", "study") or not marks:
        return None
    place = range(previous.start + marks[-1] + 1, previous.end)
    told: list[int | str] = [clause.start + 3, clause.start + 4]
    moved = next((i for i, word in enumerate(words) if word in lists.moving or word == "did"), 0)
    if verb == "work" and words[0] in ("the", "my", "our") and 2 <= moved <= 4:
        told += ["at", *range(previous.start, previous.start + moved)]
    return written_with(spoken, [*told, "in", *place])


def _same_language(spoken: Words, clause: Clause, lexicons: Lexicons) -> Words | None:
    """Reads "portuguese because her parents speak nothing else" with the language said before."""
    lists = _words()
    norm = spoken.norm
    languages = lexicons.get("languages", frozenset())
    for phrase in map(str.split, lists.nothing_else):
        at = clause.end - len(phrase)
        if at <= clause.start or norm[at : clause.end] != phrase:
            continue
        if norm[at - 1] not in ("speak", "speaks", "spoke"):
            return None
        said = [i for i in range(clause.start) if (norm[i],) in languages]
        return spoken.select([*range(clause.start, at), said[-1]]) if said else None
    return None


def _given(spoken: Words, clause: Clause) -> Words | None:
    """Reads "strong perfume gives her a migraine" as "she get a migraine from strong perfume"."""
    lists = _words()
    norm = spoken.norm
    for at in range(clause.start + 1, clause.end - 2):
        if norm[at] in lists.giving:
            whom = _OBJECTS.get(norm[at + 1])
            if whom is None:
                return None
            cause = range(clause.start, at)
            symptom = range(at + 2, clause.end)
            verb = "gets" if whom in ("he", "she") else "get"
            return written_with(spoken, [whom, verb, *symptom, "from", *cause])
    return None


def written_with(spoken: Words, parts: Sequence[int | str]) -> Words:
    """Words of a turn, by index, with others written in between.

    Args:
        spoken: The turn's words.
        parts: Indices of its words, and words that were not said.
    """
    norm: list[str] = []
    start: list[int] = []
    end: list[int] = []
    after: list[str] = []
    near = next(part for part in parts if isinstance(part, int))
    for part in parts:
        if isinstance(part, int):
            near = part
        norm.append(part if isinstance(part, str) else spoken.norm[part])
        start.append(spoken.start[near])
        end.append(spoken.end[near] if isinstance(part, int) else spoken.start[near])
        after.append("")
    return Words(spoken.text, norm, start, end, after)
