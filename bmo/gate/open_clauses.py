"""The clauses of a spoken statement as they will be written: without what belongs to speaking.

Openers, "remember that", "obviously" and tails go; what hangs on the clause before is joined to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bmo.gate.open_constructions import new_clause
from bmo.gate.open_fragments import (
    FINITE,
    LONGEST_FRONT,
    describes,
    elaborates,
    hangs_on,
    has_predicate,
    has_verb,
    named_at_last,
    opens_front,
    parted,
    put_in_front,
    with_names_split,
)
from bmo.gate.open_lexicon import open_lexicon
from bmo.gate.open_wishes import orders, wish
from bmo.gate.third_person import OF_SEVERAL, Token, phrase_length, third_person_lexicon, tokens_of
from bmo.language import Clause, Words, past_lemma, segment

_ALONE = Clause(0, 0)
SPEAKERS = frozenset(("i", "we", "he", "she", "they", "you"))
_GOING_TO = (["am", "going", "to"], ["are", "going", "to"])
_RELATIVE = frozenset(("who which whose").split())
_PICKED_UP = frozenset(("he she").split())
"""Pronouns that take up a subject put in front ("my son he drives a bus")."""
SUBORDINATE = frozenset(("when whenever if while since once until because as").split())


def told(tokens: Sequence[Token]) -> bool:
    """Whether words have a verb that says something."""
    return has_predicate([token.norm for token in tokens])


def says_something(tokens: Sequence[Token]) -> bool:
    """Whether there is a word of content ("we did it" has none)."""
    empty = open_lexicon().empty
    return any(token.norm not in empty for token in tokens)


def _joins_two(front: Sequence[Token], tokens: Sequence[Token]) -> bool:
    """Whether a name and "me are ..." are one subject: "kasia (and) me are finished"."""
    plural = len(tokens) > 2 and tokens[0].norm == "me" and tokens[1].norm in OF_SEVERAL
    return plural and len(front) < 3 and not told(front)


class OpenClauses:
    """One part of a turn on its way to clauses."""

    def __init__(self, words: Words, before: str, names: Mapping[str, str]) -> None:
        """Takes the turn's words, the assistant's words before them, and names as written."""
        self.words = words
        self.before = before
        self.names = names
        self.lexicon = third_person_lexicon()
        self.lists = open_lexicon()
        self.gap = False
        self.sentence = -1
        """Number of the sentence the clause before stands in."""

    def reply(self, tokens: list[Token]) -> tuple[bool | None, list[Token]]:
        """Takes "yes", "no, not really" off the front: what it says, and the rest."""
        polarity: bool | None = None
        while tokens:
            for table, value in ((self.lexicon.no, False), (self.lexicon.yes, True)):
                length = phrase_length(table, tokens)
                if length and not self._goes_on(tokens, length):
                    polarity = value if polarity is None else polarity
                    tokens = tokens[length:]
                    break
            else:
                break
        return polarity, tokens

    def _goes_on(self, tokens: Sequence[Token], length: int) -> bool:
        """Whether a reply's words belong to what follows ("i do like", "no reminders")."""
        phrase = [token.norm for token in tokens[:length]]
        if length == len(tokens) or tokens[length - 1].comma:
            return False
        follow = tokens[length].norm
        if phrase[0] == "it" and any(token.norm == "who" for token in tokens[length:]):
            return True  # "it is my sister who cooks"
        if phrase[0] in ("i", "we") and follow in ("my", "our"):
            # "i am my mum's carer", "i did my degree in paris", not "i am my wife is not"
            return not told(tokens[length:])
        if phrase[0] in ("i", "we", "he", "she", "it"):
            return follow not in ("i", "we", "and", "but", "he", "she", "it", "my", "they")
        if phrase == ["nothing"]:
            return [token.norm for token in tokens[length : length + 2]] != ["i", "am"]
        if phrase in (["no"], ["none"]):
            if follow.endswith("ing") and "?" not in self.before:
                return True  # "no swearing around the kids"
            things = [t.norm for t in tokens[length : length + (1 if "?" in self.before else 2)]]
            return follow in self.lists.things_refused or (
                follow not in SPEAKERS
                and any(word.endswith("s") and word not in self.lists.no_plurals for word in things)
            )
        return phrase in (["never"], ["always"]) and follow not in ("i", "we", "and", "my")

    def read(self, rest: Sequence[Token], start: int, stop: int, *, gap: bool) -> list[list[Token]]:
        """The clauses of what is left, openers, announcements and tails taken off.

        Args:
            rest: What is left of the part behind a reply.
            start: First word of the part.
            stop: Index behind its last.
            gap: Whether the first words answer what something is ("what's the dog called?").
        """
        self.gap = gap
        first = stop - self._words_left(rest, start, stop)
        if first >= stop:
            return []
        part = self.words.select(list(range(first, stop)))
        found: list[list[Token]] = []
        self.sentence = -1
        for clause in segment(part, "en"):
            said = tokens_of(self.words, first + clause.start, first + clause.end, self.names)
            names = frozenset(self.names)
            pieces = [
                with_names_split(part, names)
                for piece in self.without_asides(said)
                for part in parted(piece)
            ]
            for place, piece in enumerate(pieces):
                tokens = self.without_tail(self._without_announcement(piece))
                if tokens and not place and not found and self._is_span(clause.intro, tokens):
                    tokens = [Token(clause.intro, clause.intro), *tokens]
                if tokens:
                    self._take(found, clause if not place else _ALONE, tokens)
            self.sentence = clause.sentence
        return found

    def _is_span(self, intro: str, tokens: Sequence[Token]) -> bool:
        """Whether "since" says since when: "since the accident (i can not drive)", "how long?"."""
        phrase = len(tokens) <= LONGEST_FRONT and not told(tokens)
        return intro == "since" and (phrase or "?" in self.before)

    def _take(self, found: list[list[Token]], clause: Clause, tokens: list[Token]) -> None:
        """Adds a clause to those found, or joins it to the one before."""
        if found and [token.norm for token in found[-1]] == ["me"]:
            found[-1] += [Token("and", "and"), *tokens]  # "me and dee have been together for years"
        elif found and clause.intro == "and" and _joins_two(found[-1], tokens):
            found[-1] += [Token("and", "and"), *tokens]
        elif found and self._leads_to(found[-1], tokens):
            planned = [token.norm for token in tokens[1:4]] in _GOING_TO
            found[-1] = [*found[-1], *tokens[3:]] if planned else tokens
        elif found and tokens[0].norm in _RELATIVE and len(tokens) > 1:
            found[-1][-1] = replace(found[-1][-1], comma=True)
            found[-1] += tokens
        elif (
            found
            and not (self.gap and len(found) == 1)
            and (whole := put_in_front(found[-1], tokens) or named_at_last(found[-1], tokens))
        ):
            found[-1] = whole
        elif found and any(fits(found[-1], tokens) for fits in (hangs_on, elaborates, describes)):
            found[-1] += tokens
        elif found and self._goes_with(found[-1], tokens):
            found[-1] += tokens[1:] if tokens[0].norm in _PICKED_UP else tokens
        elif found and clause.intro in self.lists.hanging and wish(tokens, has_verb):
            found.append(tokens)  # "my eyes are bad so keep lists short": two things
        elif found and tokens[0].norm in SUBORDINATE and self._same_sentence(clause):
            found[-1] += tokens
        elif found and clause.intro == "then" and not has_predicate([t.norm for t in tokens]):
            found[-1][-1] = replace(found[-1][-1], comma=True)
            found[-1] += [Token("then", "then"), *tokens]
        elif found and clause.intro == "so" and len(found[-1]) < 3 and not told(found[-1]):
            found[-1] = tokens  # "smart, so ...": a remark
        elif found and (clause.carried or clause.intro in self.lists.hanging):
            found[-1] += [Token(clause.intro or "and", clause.intro or "and"), *tokens]
        elif found and self._stands_before(found[-1], tokens):
            found[-1] = [*found[-1], *tokens]
        elif says_something(tokens) or [token.norm for token in tokens] == ["me"]:
            found.append(tokens)

    def _leads_to(self, front: Sequence[Token], tokens: Sequence[Token]) -> bool:
        """Whether ``front`` only leads on to a plan: "i have decided | i am going to stop"."""
        if len(front) > 3 or front[0].norm not in ("i", "we") or front[-1].comma:
            return False
        return front[-1].norm in self.lists.decided and tokens[0].norm in ("i", "we")

    def _same_sentence(self, clause: Clause) -> bool:
        return clause is not _ALONE and clause.sentence == self.sentence

    def _goes_with(self, front: Sequence[Token], tokens: Sequence[Token]) -> bool:
        """Whether ``front`` is cut off before its end ("i call", "my grandson osian")."""
        first = tokens[0].norm
        if len(front) == 2 and front[0].norm in ("i", "we"):
            return first in ("her", "their", "his", "my", "our")
        names_one = front[0].norm in ("my", "our") or front[0].shown[:1].isupper()
        return (
            first in _PICKED_UP
            and len(tokens) > 2
            and names_one
            and len(front) < 5
            and not has_verb(front)
            and not any(self._tells_what_was(token) for token in front[1:])
        )

    def _tells_what_was(self, token: Token) -> bool:
        """Whether a word is a past form: "elaine rang yesterday, she ..." is two clauses."""
        if token.norm in self.lexicon.people.names or not token.shown.islower():
            return False
        return bool(past_lemma(token.norm)) or token.norm.endswith("ed")

    def without_asides(self, tokens: list[Token]) -> list[list[Token]]:
        """Takes "obviously" and its like out; where a clause follows one, it is a border."""
        parts: list[list[Token]] = [[]]
        norms = [token.norm for token in tokens]
        skipped = 0
        for place, token in enumerate(tokens):
            if place < skipped:
                continue
            said_aside = phrase_length(self.lexicon.aside_phrases, tokens, place)
            if said_aside:
                skipped = place + said_aside
                continue
            if token.norm == "please" and token.comma and parts[-1]:
                parts[-1][-1] = replace(parts[-1][-1], comma=True)
                continue
            if token.norm not in self.lexicon.asides:
                if len(parts[-1]) > 2 and new_clause(norms, place):
                    parts.append([])
                parts[-1].append(token)
                continue
            follow = [t.norm for t in tokens[place + 1 : place + 4]]
            if len(parts[-1]) > 2 and len(follow) == 3 and not FINITE.isdisjoint(follow[1:]):
                parts.append([])
        return [part for part in parts if part]

    def _stands_before(self, front: Sequence[Token], tokens: Sequence[Token]) -> bool:
        """Whether ``front`` is a phrase set before the clause ``tokens`` ("every tuesday")."""
        first = front[0].norm
        if len(front) > 8:
            return False
        if tokens[0].norm == "it" and self.lexicon.capitalised.issuperset(t.norm for t in front):
            return True  # "tuesdays and thursdays | it is my mum who ..."
        if tokens[0].norm not in ("i", "we"):
            opens = opens_front([token.norm for token in front])
            return opens and len(front) < 5 and not has_verb(front)
        subordinate = first in SUBORDINATE
        opens = opens_front([token.norm for token in front])
        return subordinate or (opens and not has_verb(front))

    def _words_left(self, rest: Sequence[Token], start: int, stop: int) -> int:
        """How many of the turn's words the tokens ``rest`` (a tail of the part) stand for."""
        count, left = 0, len(rest)
        for i in range(stop - 1, start - 1, -1):
            if left == 0:
                break
            count += 1
            if self.words.norm[i] != "'s":
                left -= 1
        return count

    def _without_announcement(self, tokens: list[Token]) -> list[Token]:
        while True:
            length = phrase_length(self.lexicon.announcements, tokens)
            if not length:
                return tokens
            if length == len(tokens):
                return [] if length > 1 else tokens
            if tokens[0].norm == "remember" and tokens[1].norm in ("when", "how", "what", "who"):
                return tokens
            tokens = tokens[length:]

    def without_tail(self, tokens: list[Token]) -> list[Token]:
        """Takes "please", "if you can" and their like off the end."""
        shorter, keeps_me = True, orders(tokens) or (tokens[:1] and tokens[0].norm == "no")
        while shorter and tokens:
            shorter = False
            norms = tuple(token.norm for token in tokens)
            for tail in self.lexicon.tails:
                if keeps_me and tail == ("for", "me"):
                    continue
                if len(tail) < len(norms) and norms[-len(tail) :] == tail:
                    tokens, shorter = tokens[: -len(tail)], True
                    break
        return tokens
