"""Spoken clauses put together again: what stands before its clause, and what a comma parts.

"beckett, but he's a cat" is "Beckett is a cat", "tropfen, we're called" is "we are called
Tropfen"; "bought trados, the publisher wanted it, memoq's off the machine" are three clauses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from bmo.gate.open_lexicon import open_lexicon
from bmo.gate.third_person import Token, is_base_verb, joined, predicate, third_person_lexicon
from bmo.language import past_lemma
from bmo.language.lexicon import surface_lexicon

FINITE = frozenset(
    (
        "am is are was were have has had do does did will would can could should must might may"
    ).split()
)
_SPEAKERS = frozenset("i we he she it they".split())
_DETERMINERS = frozenset("the my our his her their a an every each some no both all".split())
_SUBORDINATE = frozenset(
    "when whenever if while since once until because as after before unless although though".split()
)
_NAMED_BY = frozenset("i we it he she they".split())
_OPENS_PHRASE = frozenset("the his her their my our its a an".split())
_WANTED = frozenset("want wants wanted like likes liked need needs needed".split())
_COUNTS = frozenset("two three".split())
_NP_WORDS = 4
"""Longest noun phrase before the verb of a clause that a comma opens."""


def is_verb(word: str) -> bool:
    """Whether a word may be the verb of a clause: an auxiliary, a known verb, a past form."""
    lexicon = third_person_lexicon()
    return word in FINITE or word in lexicon.carried or bool(past_lemma(word))


def has_predicate(norms: Sequence[str]) -> bool:
    """Whether some words have a verb."""
    return _may_have_verb(norms[1:]) or (
        bool(norms) and (bool(past_lemma(norms[0])) or is_base_verb(norms[0]))
    )


def _may_have_verb(norms: Sequence[str]) -> bool:
    """Whether one of some words may be a verb."""
    return any(is_verb(word) or word == "'s" for word in norms)


def has_verb(tokens: Sequence[Token]) -> bool:
    """Whether a verb that is no other word stands behind the first word of a clause."""
    known = _surely_verbs()
    norms = [token.norm for token in tokens]
    if any(norm in known for norm in norms[1:]):
        return True
    return any(  # "(sipho) coaches me"
        verb.endswith("s") and whom in ("me", "us") for verb, whom in pairwise(norms[1:])
    )


@lru_cache(maxsize=1)
def _surely_verbs() -> frozenset[str]:
    lexicon = third_person_lexicon()
    return (FINITE | lexicon.carried) - lexicon.adverbs


def parted(tokens: Sequence[Token]) -> list[list[Token]]:
    """A clause's words, parted where ``comma_borders`` says.

    Args:
        tokens: The words; "'s" is written with the word before it.
    """
    norms: list[str] = []
    commas: list[bool] = []
    source: list[int] = []
    for place, token in enumerate(tokens):
        split = token.shown.endswith("'s") and not token.norm.endswith("s")
        norms += [token.norm, "'s"] if split else [token.norm]
        commas += [False, token.comma] if split else [token.comma]
        source += [place, place] if split else [place]
    borders = [source[at] for at in comma_borders(norms, commas)]
    found: list[list[Token]] = []
    for first, last in pairwise([0, *borders, len(tokens)]):
        part = list(tokens[first:last])
        found.append([*part[:-1], replace(part[-1], comma=False)])
    return found


def comma_borders(norms: Sequence[str], commas: Sequence[bool]) -> list[int]:
    """Where a comma parts two clauses that the segmentation took for one.

    Args:
        norms: A clause's words in normal form.
        commas: Whether a comma stands behind each.

    Returns:
        Indices of the first words of new clauses.
    """
    found: list[int] = []
    begin = looked = 0
    told = False
    for at in range(1, len(norms)):
        if not commas[at - 1]:
            continue
        first = norms[begin]
        if first in _SUBORDINATE:
            continue
        # Each word is looked at once: a bound on time for a clause that is nothing but commas.
        told = told or (
            has_predicate(norms[begin:at]) if looked == begin else _may_have_verb(norms[looked:at])
        )
        looked = at
        if told and _opens_clause(norms[at:], bool(past_lemma(first))):
            found.append(at)
            begin = looked = at
            told = False
    return found


def _lost_verb(first: str, second: str) -> bool:
    """Whether a word is a name with "has" or "is" run on ("efuas gone back")."""
    people = third_person_lexicon().people.first
    return (
        len(first) > 3
        and first.endswith("s")
        and not first.endswith("ss")
        and second in ("gone", "been")
        and first not in people
        and first[:-1] not in people
    )


def _opens_clause(norms: Sequence[str], bare: bool) -> bool:
    """Whether words behind a comma are a clause; ``bare``: the one before has lost its "i"."""
    if len(norms) < 2:
        return False
    first, second = norms[0], norms[1]
    if first in _SPEAKERS:
        return is_verb(second) or len(norms) > 2
    if bare and past_lemma(first):
        return True
    if first in open_lexicon().anyone or _lost_verb(first, second):
        return True
    if "'s" in norms[1 : 1 + _NP_WORDS]:
        behind = norms[norms.index("'s", 1) + 1 :]
        return bool(behind) and (
            behind[0] in open_lexicon().behind_is or bool(past_lemma(behind[0]))
        )
    if first in _DETERMINERS:
        return any(word in FINITE for word in norms[2 : 2 + _NP_WORDS]) or (
            len(norms) > 3 and first in ("the", "my", "our") and bool(past_lemma(norms[2]))
        )
    known = third_person_lexicon()
    plain = first.isalpha() and first not in known.prepositions and first not in known.adverbs
    return plain and first not in surface_lexicon("en").classes and second in FINITE


LONGEST_FRONT = 6
"""Most words of a phrase set before its clause."""


def opens_front(norms: Sequence[str]) -> bool:
    """Whether words may be a phrase put before its clause ("on sundays", "twice a week")."""
    if norms[0] in _COUNTS and open_lexicon().times.isdisjoint(norms):
        return False  # "two interviews"
    return norms[0] in third_person_lexicon().fronted


def is_bare_name(tokens: Sequence[Token]) -> bool:
    """Whether words may be a name that is put in front ("beckett", "young oisin")."""
    lexicon = third_person_lexicon()
    if (
        not tokens
        or len(tokens) > 2
        or (len(tokens) == 2 and tokens[0].norm not in open_lexicon().before_name)
    ):
        return False
    word = tokens[-1].norm
    return (
        word.isalpha()
        and len(word) > 2
        and not word.endswith(("ly", "ing"))
        and not is_verb(word)
        and all(
            token.norm not in known
            for token in tokens
            for known in (
                lexicon.adverbs,
                lexicon.asides,
                lexicon.prepositions,
                lexicon.fronted,
                lexicon.deictic,
                surface_lexicon("en").classes,
            )
        )
    )


def put_in_front(front: Sequence[Token], tokens: Sequence[Token]) -> list[Token] | None:
    """A name and the clause that takes it up, as one clause; None when there is no such pair.

    Args:
        front: What stands before ("beckett", "tropfen").
        tokens: The clause behind it ("he is a cat", "we are called").
    """
    norms = [token.norm for token in tokens]
    if len(norms) < 3 or not front:
        return None
    if _is_described(front) and norms[0] in ("he", "she") and is_verb(norms[1]):
        return [*front[:-1], replace(front[-1], comma=True), *tokens[1:]]  # "the dog, rex, has"
    if not is_bare_name(front):
        return None
    named = [replace(t, shown=_large(t.shown), comma=False) for t in front]
    if norms[0] in _NAMED_BY and norms[1] in ("am", "are", "is") and norms[2] == "called":
        if len(norms) == 3 or tokens[2].comma:
            return [*tokens[:2], replace(tokens[2], comma=False), *named]
    owned = norms[2] in ("my", "our", "the", "a", "an")
    if norms[0] in ("he", "she") and (is_verb(norms[1]) or norms[1].endswith("s")):
        return [*named, *tokens[1:]]
    if norms[0] in ("that", "this") and norms[1] in ("is", "was") and owned:
        return [*named, *tokens[1:]]
    return None


def _is_described(front: Sequence[Token]) -> bool:
    """Whether words are somebody and a name behind a comma ("the dog, buster")."""
    return (
        2 < len(front) <= _NP_WORDS + 1
        and front[0].norm == "the"
        and any(token.comma for token in front)
        and not any(is_verb(token.norm) for token in front)
    )


def _large(word: str) -> str:
    return word.capitalize() if word.islower() else word


def hangs_on(front: Sequence[Token], tokens: Sequence[Token]) -> bool:
    """Whether a phrase is the object of the clause before ("he has finished | his degree")."""
    said = [token.norm for token in front]
    return not front[-1].comma and is_object_of(said, [token.norm for token in tokens])


def is_object_of(front: Sequence[str], norms: Sequence[str]) -> bool:
    """The same of words in normal form."""
    if norms[0] not in _OPENS_PHRASE or has_predicate(norms) or len(front) < 2:
        return False
    return bool(past_lemma(front[-1]))


def describes(front: Sequence[Token], tokens: Sequence[Token]) -> bool:
    """Whether a clause is a relative one without its pronoun ("the girl | i am with")."""
    if len(front) < 3 or not 1 < len(tokens) <= 5 or front[-1].comma:
        return False
    lexicon = third_person_lexicon()
    wanted = len(tokens) == 2 and tokens[0].norm in _SPEAKERS and tokens[1].norm in _WANTED
    if wanted and not _OPENS_PHRASE.isdisjoint(t.norm for t in front[-4:-1]):
        return True  # "all the cheese | she wants"
    hangs = tokens[-1].norm in lexicon.prepositions and not is_verb(front[-1].norm)
    return hangs and tokens[0].norm in ("i", "we") and front[-2].norm in _OPENS_PHRASE


def named_at_last(front: Sequence[Token], tokens: Sequence[Token]) -> list[Token] | None:
    """Reads "that noise is rex | he is the dog" as "i have a dog called rex"; None otherwise."""
    norms = [token.norm for token in tokens]
    if len(front) < 3 or front[0].norm not in ("that", "this") or front[-2].norm != "is":
        return None
    found = third_person_lexicon().people.relation_at(norms, 3, len(norms)) if norms[3:] else None
    is_one = norms[0] in ("he", "she", "it") and norms[1] == "is" and norms[2] in _OPENS_PHRASE
    if not is_one or found is None or found[1] != len(norms) or not is_bare_name(front[-1:]):
        return None
    name = replace(front[-1], shown=_large(front[-1].shown))
    words = ("i", "have", "an" if norms[3][0] in "aeiou" else "a")
    return [*(Token(w, w) for w in words), *tokens[3:], Token("called", "called"), name]


def elaborates(front: Sequence[Token], tokens: Sequence[Token]) -> bool:
    """Whether a phrase says more of the clause before: "i translate. contracts, mostly"."""
    norms = [token.norm for token in tokens]
    own = front[0].norm in ("i", "we") and len(front) <= 3
    lexicon = third_person_lexicon()
    plain = norms[0] not in lexicon.deictic and norms[0] not in _SUBORDINATE
    return own and plain and not has_predicate(norms)


def cleft(tokens: Sequence[Token]) -> str:
    """From "memoq is what i work in" to "works in memoq"; "" for anything else."""
    norms = [token.norm for token in tokens]
    for at in range(1, min(len(norms) - 4, 5)):
        if norms[at] == "is" and norms[at + 1] == "what" and norms[at + 2] in ("i", "we"):
            comma = max((i + 1 for i in range(at) if tokens[i].comma), default=0)
            front = list(tokens[comma:at])
            said = predicate(tokens[at + 3 :])
            return joined([*said, *front]) if said else ""
    return ""


def _owns(tokens: Sequence[Token], place: int) -> bool:
    """Whether a noun stands behind "my husbands": it is his."""
    if not place or place + 1 >= len(tokens) or tokens[place].comma:
        return False
    lexicon = third_person_lexicon()
    behind = tokens[place + 1].norm
    known = lexicon.prepositions | lexicon.adverbs | lexicon.bare_verbs | open_lexicon().behind_is
    plain = behind.isalpha() and behind not in known and not is_verb(behind)
    owned = tokens[place - 1].norm in _OPENS_PHRASE
    return owned and plain and behind not in surface_lexicon("en").classes


def with_names_split(tokens: Sequence[Token], names: Sequence[str] | frozenset[str]) -> list[Token]:
    """Splits "efuas gone back", "rhodris home", "efuas mum" into the name and what it lost.

    Args:
        tokens: A clause's words.
        names: Lower-case names of people the talk knows.
    """
    found: list[Token] = []
    for place, token in enumerate(tokens):
        stem = token.norm[:-1]
        if stem in open_lexicon().only_one and token.norm.endswith("s") and _owns(tokens, place):
            found.append(replace(token, shown=f"{token.shown[:-1]}'s"))
            continue
        after = tokens[place + 1].norm if place + 1 < len(tokens) else ""
        behind_relation = (
            place > 0 and (tokens[place - 1].norm,) in third_person_lexicon().people.forms
        )
        may_be_name = not place or behind_relation  # "my son connors gone off to uni"
        known = stem in names or (may_be_name and _lost_verb(token.norm, after))
        if not token.norm.endswith("s") or not known or token.norm in names:
            found.append(token)
            continue
        behind = tokens[place + 1].norm if place + 1 < len(tokens) else ""
        shown = _large(stem)
        if behind == "been" or (past_lemma(behind) and behind not in FINITE):
            found += [Token(stem, shown), Token("has", "has", token.comma)]
        elif behind in open_lexicon().behind_is or behind.endswith("ing"):
            found += [Token(stem, shown), Token("is", "is", token.comma)]
        else:
            found.append(Token(token.norm, f"{shown}'s", token.comma))
    return found
