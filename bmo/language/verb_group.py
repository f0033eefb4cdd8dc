"""The English verb group: polarity, tense, modality, aspect and habit, taken off a predicate.

Rules are then written once, in the positive present: "used to live in oslo", "does not live in
oslo any more" and "has lived in oslo for years" all become "live in oslo" with features beside it.
The order of auxiliaries (modal, perfect, progressive) is that of any grammar of English, e.g.
Huddleston and Pullum, The Cambridge Grammar of the English Language (2002), chapter 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from bmo.language.verb_forms import PAST, VERB_LISTS, base_form, past_lemma, progressive_lemma
from bmo.turn import Polarity, Tense

Aspect = Literal["simple", "progressive", "perfect"]
Change = Literal["", "used_to", "stopped", "any_more", "started"]
"""How the state changed: ended ("used_to", "stopped", "any_more") or began ("started")."""

_ADVERBS = VERB_LISTS["adverbs"]
_COMMON_BASE = VERB_LISTS["common_base"]
_OVER_WHEN_HAD = VERB_LISTS["over_when_had"]
_UNTIL_NOW = VERB_LISTS["until_now"]
_HAS_PARTICIPLES = VERB_LISTS["has_participles"]
_NOT_PROGRESSIVE = VERB_LISTS["not_progressive"]
_PARTICIPLES = frozenset(PAST) | VERB_LISTS["participles"]
_HABITS = frozenset(
    (
        "always constantly frequently generally mostly normally occasionally often rarely "
        "regularly seldom sometimes typically usually"
    ).split()
)
_HEDGE_MODALS = frozenset({"might", "may", "could", "should", "must", "shall"})
_MODALS = _HEDGE_MODALS | {"would", "can"}
_AUX_DO = frozenset({"do", "does", "did"})
_AUXILIARIES = (
    _HABITS
    | _ADVERBS
    | _MODALS
    | _AUX_DO
    | {"never", "hardly", "barely", "not", "no", "kind", "sort", "will", "used"}
)
"""All that may stand in a verb group before its verb."""
_BE_FORMS = frozenset({"am", "is", "are", "was", "were", "be", "been", "'s", "being"})
_HAVE_FORMS = frozenset({"have", "has", "had"})
_STOP_VERBS = frozenset({"stop", "quit", "cease"})
_NOT_DONE = frozenset("the a my it this that well some all what an have to for in at lots".split())
"""After "do" as a main verb ("i do the dishes"), not as an auxiliary."""
_STATES = frozenset({"married", "retired", "wicked", "red"})
_OBJECT_FORMS = frozenset({"left", "broken", "read", "cut", "put", "set"})
_STILL_BE = frozenset(
    "gone lost done hurt known married retired named called born broken always never just".split()
)
"""Participles after "'s" that say what somebody is ("she's married"), not what they have done."""
_SAME_IN_PAST = frozenset("read put set cut let hurt quit shut beat".split())


@dataclass(slots=True)
class VerbGroup:
    """What was taken off a predicate.

    Attributes:
        lemma: The main verb in its base form, or "".
        end: Index of the first word behind the verb.
        verb_at: Index of the main verb in the clause.
        polarity: negative for "not", "never", "no longer".
        tense: past for past forms and ended states, future for will and going to.
        aspect: progressive for "am learning", perfect for "have been".
        modal: "can", "would", "might", ... or "".
        change: Whether the state ended or began.
        habits: "always", "usually", ... in order.
        emphatic: "do like".
        had: "had been", "had moved".
    """

    lemma: str = ""
    end: int = 0
    verb_at: int = 0
    polarity: Polarity = "positive"
    tense: Tense = "present"
    aspect: Aspect = "simple"
    modal: str = ""
    change: Change = ""
    habits: list[str] = field(default_factory=list)
    emphatic: bool = False
    had: bool = False


def parse_verb_group(norm: list[str], i: int, end: int) -> VerbGroup | None:
    """Reads the verb group that begins at ``i``, right behind the subject.

    Args:
        norm: Words of the turn in normal form.
        i: Index of the first word behind the subject.
        end: Index behind the clause.

    Returns:
        The group, or None when no verb stands there.
    """
    g = VerbGroup()
    while i < end:
        used = _auxiliary(g, norm, i, end)
        if not used:
            break
        i += used
    if i >= end:
        return None
    word = norm[i]
    if word in _HAVE_FORMS:
        return _have(g, norm, i, end)
    if word in _BE_FORMS:
        return _be(g, norm, i, end)
    return _full_verb(g, norm, i, end)


def _auxiliary(g: VerbGroup, norm: list[str], i: int, end: int) -> int:
    """Notes what an adverb, a negation or an auxiliary says; how many words it takes, or 0."""
    word = norm[i]
    if word not in _AUXILIARIES:
        return 0
    if word in _HABITS:
        g.habits.append(word)
    elif word in _ADVERBS:
        pass
    elif word == "never":
        g.polarity = "negative"
        g.habits.append("never")
    elif word in ("hardly", "barely"):
        g.habits.append(word)
    elif word == "not":
        g.polarity = "negative"
    elif word == "no" and i + 1 < end and norm[i + 1] == "longer":
        g.polarity, g.change = "negative", "any_more"
        return 2
    elif word in ("kind", "sort") and i + 1 < end and norm[i + 1] == "of":
        return 2
    elif word in _AUX_DO:
        if i + 1 >= end or not _is_auxiliary_do(g, norm[i + 1]):
            return 0
        if word == "did":
            g.tense = "past"
        g.emphatic = True
    elif word == "will" and i + 1 < end:
        g.tense, g.modal = "future", "will"
    elif word in _MODALS and i + 1 < end:
        g.modal = word
    elif word == "used" and i + 1 < end and norm[i + 1] == "to":
        g.tense, g.change = "past", "used_to"
        return 2
    else:
        return 0
    return 1


def _is_auxiliary_do(g: VerbGroup, follow: str) -> bool:
    """Whether "do" before ``follow`` helps another verb ("do like"), not "do the dishes"."""
    if follow in ("not", "n't") or follow in _ADVERBS:
        return True
    return (
        follow not in _NOT_DONE
        and past_lemma(follow) == ""
        and not follow.endswith("ing")
        and not g.emphatic
        and follow in _COMMON_BASE
    )


def _have(g: VerbGroup, norm: list[str], i: int, end: int) -> VerbGroup:
    """Reads "have got", "have to", "have been", "has moved", and "have" itself."""
    had = norm[i] == "had"
    j = _skip_inside(g, norm, i + 1, end)
    if j < end:
        follow = norm[j]
        if follow == "got":
            g.lemma, g.verb_at, g.end = "have", j, j + 1
            if had:
                g.tense = "past"
            return _changes(g, norm, end)
        if follow == "to":
            g.lemma, g.verb_at, g.end = "have", i, j
            return g
        if follow == "been":
            k = _skip_inside(g, norm, j + 1, end)
            g.aspect, g.had = "perfect", had
            if had:
                g.tense = "past"
            g.lemma, g.verb_at, g.end = "be", j, k
            return _was_once(_changes(g, norm, end), norm, i, end)
        lemma = _perfect_lemma(norm, j, end)
        if lemma:
            g.aspect, g.had = "perfect", had
            g.lemma, g.verb_at, g.end = lemma, j, j + 1
            if (had and follow != "had") or _is_over(lemma, norm, i, end):
                g.tense = "past"
            return _changes(g, norm, end)
    g.lemma, g.verb_at, g.end = "have", i, j
    if had:
        g.tense = "past"
    return _changes(g, norm, end)


def _is_over(lemma: str, norm: list[str], start: int, end: int) -> bool:
    """Whether "have" tells what was so at some time: "i have worked at a bank", "been a nurse".

    With a span it goes on ("i have worked there since may"); Huddleston and Pullum, chapter 3,
    tell the experiential from the continuative perfect so.
    """
    goes_on = norm[end : end + 1] == ["since"] or not _UNTIL_NOW.isdisjoint(norm[start:end])
    return lemma in _OVER_WHEN_HAD and not goes_on


def _was_once(g: VerbGroup, norm: list[str], start: int, end: int) -> VerbGroup:
    """Puts "has been a nurse" into the past where no span says that it goes on."""
    what = norm[g.end] if g.end < end else ""
    if g.lemma == "be" and g.aspect == "perfect" and what in ("a", "an"):
        if _is_over("be", norm, start, end):
            g.tense = "past"
    return g


def _perfect_lemma(norm: list[str], j: int, end: int) -> str:
    """Lemma of the participle behind "have", or "" for what is had ("a broken arm")."""
    follow = norm[j]
    lemma = past_lemma(follow)
    if not lemma or follow in _STATES or not (follow in _PARTICIPLES or follow.endswith("ed")):
        return ""
    thing = j + 1 < end and norm[j + 1].endswith(("s", "hand", "leg", "arm"))
    return "" if follow in _OBJECT_FORMS and thing else lemma


def _be(g: VerbGroup, norm: list[str], i: int, end: int) -> VerbGroup:
    """Reads "is living", "is going to move", "'s got", "'s moved", and "is" itself."""
    word = norm[i]
    if word in ("was", "were"):
        g.tense = "past"
    j = _skip_inside(g, norm, i + 1, end)
    follow = norm[j] if j < end else ""
    if word == "'s" and (follow == "got" or (follow in _PARTICIPLES and follow not in _STILL_BE)):
        g.aspect = "simple" if follow == "got" else "perfect"
        g.lemma = "have" if follow == "got" else PAST.get(follow) or past_lemma(follow)
        g.verb_at, g.end = j, j + 1
        return _was_once(_changes(g, norm, end), norm, i, end)
    if word == "is" and follow in _HAS_PARTICIPLES:
        g.verb_at, g.end = j, j + 1
        if follow == "got":
            g.lemma = "have"
        else:
            g.aspect = "perfect"
            g.lemma = "be" if follow == "been" else PAST.get(follow) or past_lemma(follow)
        return _changes(g, norm, end)
    if follow == "going" and j + 1 < end and norm[j + 1] == "to":
        k = j + 2
        if k < end and norm[k] not in ("the", "a", "my", "an"):
            g.tense, g.modal = "future", "going_to"
            g.lemma, g.verb_at, g.end = norm[k], k, k + 1
            return _changes(g, norm, end)
    g.lemma, g.verb_at, g.end = "be", i, j
    if follow.endswith("ing") and follow not in _NOT_PROGRESSIVE:
        g.aspect = "progressive"
    return _changes(g, norm, end)


def _full_verb(g: VerbGroup, norm: list[str], i: int, end: int) -> VerbGroup:
    word = norm[i]
    if word == "born":
        g.lemma, g.verb_at, g.end, g.tense = "born", i, i + 1, "past"
        return g
    if g.emphatic or g.modal or g.change == "used_to":
        lemma = word
    elif word in PAST and word not in _SAME_IN_PAST:
        lemma, g.tense = PAST[word], "past"
    elif word.endswith("ed"):
        past = past_lemma(word)
        lemma = past or word
        if past:
            g.tense = "past"
    else:
        lemma = base_form(word)
    g.lemma, g.verb_at, g.end = lemma, i, i + 1
    return _changes(g, norm, end)


def _skip_inside(g: VerbGroup, norm: list[str], i: int, end: int) -> int:
    """Skips adverbs and negation inside the group, noting what they say."""
    while i < end:
        word = norm[i]
        if word == "not":
            g.polarity = "negative"
        elif word == "never":
            g.polarity = "negative"
            g.habits.append(word)
        elif word == "no" and i + 1 < end and norm[i + 1] == "longer":
            g.polarity, g.change = "negative", "any_more"
            i += 1
        elif word in _HABITS:
            g.habits.append(word)
        elif word not in _ADVERBS:
            break
        i += 1
    return i


def _changes(g: VerbGroup, norm: list[str], end: int) -> VerbGroup:
    """Takes off "stopped eating", "started learning", "gave up", "... any more"."""
    i = g.end
    if g.lemma in _STOP_VERBS and i < end and norm[i].endswith("ing"):
        g.change, g.tense = "stopped", "present"
        g.polarity = "negative" if g.polarity == "positive" else "positive"
        g.lemma, g.verb_at, g.end = progressive_lemma(norm[i]), i, i + 1
    elif g.lemma == "start" and i < end and norm[i].endswith("ing"):
        g.change, g.tense = "started", "present"
        g.lemma, g.verb_at, g.end = progressive_lemma(norm[i]), i, i + 1
    return g
