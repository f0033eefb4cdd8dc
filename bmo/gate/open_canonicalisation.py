"""Open canonicalisation: any statement to third person, where no slot rule says how.

"im keeping the cat obviously" becomes "Is keeping the cat obviously". Rules only: the user's
words keep their place, pronouns and verb agreement change, what belongs to speaking (openers,
"remember that", tails) goes. What cannot be understood without the conversation is read with the
assistant's words, or refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from bmo.gate.asked_question import last_question
from bmo.gate.open_constructions import about_user, new_clause, without_double_subject
from bmo.gate.open_fragments import (
    ANYONE,
    FINITE,
    cleft,
    describes,
    elaborates,
    hangs_on,
    has_predicate,
    named_at_last,
    opens_front,
    parted,
    put_in_front,
    with_names_split,
)
from bmo.gate.open_other_languages import canonicalise_other
from bmo.gate.open_text import OpenText, finished
from bmo.gate.open_wishes import orders, wish
from bmo.gate.question_answer import answered, feeling_about_it, settled
from bmo.gate.third_person import (
    Token,
    inner,
    joined,
    phrase_length,
    predicate,
    third_person_lexicon,
    tokens_of,
    written_names,
)
from bmo.language import Clause, LanguageCode, Words, past_lemma, segment

_ALONE = Clause(0, 0)
ANSWER_WITHIN = 3
"""A part that begins later in the turn is no answer to the assistant's question."""
MAX_WORDS = 60
"""Longer memories are cut: a statement of more words is a story."""

_SPEAKERS = frozenset(("i", "we", "he", "she", "they", "you"))
_OPENS_PHRASE = frozenset(("my our the a an every most about around half nearly almost").split())
_YOUR_PERSON = re.compile(r"\b[Yy]our ([a-z]+) ([A-Z][a-zé'-]+)\b")
_HANGING = frozenset(("because cos cuz cause since although though or whereas so").split())
_RELATIVE = frozenset(("who which whose").split())
_ASKS_FOR_THING = frozenset("what which where when how whose".split())
_NO_THINGS = frozenset("its this is yes theres was has does us always sometimes".split())
"""Words in -s that are no plurals."""
_PICKED_UP = frozenset(("he she").split())
"""Pronouns that take up a subject put in front ("my son he drives a bus")."""
_SUBORDINATE = frozenset(("when whenever if while since once until because as").split())
_EMBEDS = frozenset(
    (
        "that what which who how where when if because than as the think know say said like and"
    ).split()
)
_LEADS_ON = _SUBORDINATE | frozenset(
    "that think and what how where who which the of know but than".split()
)
"""Words after which "i" belongs to what they open ("feeds the cat when | i am away")."""
_EMPTY = frozenset(
    (
        "i we you he she it they that this there did do does done is are am was were be been "
        "have has had got so and but well yes no not me my them thing then now just really "
        "good fine okay ok nice great lovely true sure right oh think know guess mean what a "
        "the to of like too called named yeah yep nope"
    ).split()
)


Whom = Callable[[str], tuple[str, str] | None]
"""A pronoun -> label and subject of the person it means, as the talk goes."""


def _nobody(pronoun: str) -> tuple[str, str] | None:
    return None


def canonicalise(
    words: Words,
    assistant_before: str = "",
    language: LanguageCode = "en",
    subjects: Mapping[str, str] | None = None,
    *,
    start: int = 0,
    end: int | None = None,
    whom: Whom = _nobody,
) -> OpenText | None:
    """Writes what a turn, or a part of it, states as one canonical text.

    Args:
        words: The turn's words, repaired.
        assistant_before: The assistant's words just before the turn.
        language: Language of the words; other than English keeps them in their language.
        subjects: Lower-case name -> subject of people the ledger knows.
        start: First word of the part.
        end: Index behind its last word; default is the end of the turn.
        whom: Whom "he" or "she" means where the assistant's words do not tell.

    Returns:
        The text, or None when it states nothing that could be understood later.
    """
    stop = len(words) if end is None else end
    if stop <= start:
        return None
    if language != "en":
        asked = assistant_before if start < ANSWER_WITHIN else ""
        return canonicalise_other(words, start, stop, language, asked)
    return _English(words, assistant_before, subjects or {}, whom).statement(start, stop)


def leaning(words: Words, assistant_before: str, start: int, end: int) -> str:
    """A clause about what was just written ("she's called tess"): its words in the third person.

    Args:
        words: The turn's words, repaired.
        assistant_before: The assistant's words just before the turn.
        start: First word of the clause.
        end: Index behind its last.

    Returns:
        Text without capital and full stop; "" when nothing of content is there.
    """
    return _English(words, assistant_before, {}).beside(start, end)


class _English:
    """One part of a turn on its way to canonical text."""

    def __init__(
        self, words: Words, before: str, subjects: Mapping[str, str], whom: Whom = _nobody
    ) -> None:
        self.words = words
        self.whom = whom
        self.before = before
        self.subjects = subjects
        self.names = written_names(before) | {name: name.title() for name in subjects}
        self.lexicon = third_person_lexicon()
        self.gap = False
        """Whether the first words answer what something is ("what's the dog called?")."""
        self.sentence = -1
        """Number of the sentence the clause before stands in."""

    def statement(self, start: int, stop: int) -> OpenText | None:
        spoken = tokens_of(self.words, start, stop, self.names)
        polarity, rest = self._reply(spoken)
        # Only the front of a turn answers a question.
        question = last_question(self.before) if start < ANSWER_WITHIN else []
        parts: list[str] = []
        subject, whole = "user", True
        if polarity is not None and question:
            meant = self._meant() if question[1:2] in (["he"], ["she"], ["it"]) else None
            settled_text = settled(question, polarity, meant[0] if meant else "")
            if settled_text:
                parts.append(settled_text)
                subject, whole = (meant[1] if meant else "user"), False
        self.gap = question[:1] != [] and question[0] in _ASKS_FOR_THING
        for tokens in self._clauses(rest, start, stop):
            written = self._clause(tokens, question if not parts else [], parts)
            if written is None:
                continue
            text, about, own = written
            if not parts:
                subject = about
            whole = whole and own
            parts.append(text)
        if not parts or (whole and len(parts) == 1 and self._says_too_little(parts[0])):
            return None
        text = "; ".join(parts)
        return OpenText(finished(text if whole else self._with_names(text)), subject, whole)

    def _with_names(self, text: str) -> str:
        """Names of the assistant's question as the assistant wrote them."""
        return re.sub(r"[a-z]\w+", lambda word: self.names.get(word[0], word[0]), text)

    def beside(self, start: int, stop: int) -> str:
        spoken = tokens_of(self.words, start, stop, self.names)
        parts = [self._without_tail(part) for part in self._without_asides(spoken)]
        return "; ".join(joined(inner(part)) for part in parts if self._says_something(part))

    def _says_too_little(self, text: str) -> bool:
        """A single word, or a circumstance without what happens in it ("for the news")."""
        words = text.lower().split()
        if len(words) < 2:
            return True
        known = FINITE | self.lexicon.carried
        return words[0] in self.lexicon.prepositions and known.isdisjoint(words)

    def _reply(self, tokens: list[Token]) -> tuple[bool | None, list[Token]]:
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
        if phrase[0] in ("i", "we", "he", "she", "it"):
            return follow not in ("i", "we", "and", "but", "he", "she", "it", "my", "they")
        if phrase in (["no"], ["none"]):
            things = [t.norm for t in tokens[length : length + (1 if "?" in self.before else 2)]]
            return follow in self.words_of_things or (
                follow not in _SPEAKERS
                and any(word.endswith("s") and word not in _NO_THINGS for word in things)
            )
        return phrase in (["never"], ["always"]) and follow not in ("i", "we", "and", "my")

    words_of_things = frozenset(
        (
            "more one meat dairy sugar milk alcohol coriander longer need way coffee calls gluten"
        ).split()
    )

    def _clauses(self, rest: Sequence[Token], start: int, stop: int) -> list[list[Token]]:
        """The clauses of what is left, openers, announcements and tails taken off."""
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
                for piece in self._without_asides(said)
                for part in parted(piece)
            ]
            for place, piece in enumerate(pieces):
                tokens = self._without_tail(self._without_announcement(piece))
                if tokens:
                    self._take(found, clause if not place else _ALONE, tokens)
            self.sentence = clause.sentence
        return found

    def _take(self, found: list[list[Token]], clause: Clause, tokens: list[Token]) -> None:
        """Adds a clause to those found, or joins it to the one before."""
        if found and [token.norm for token in found[-1]] == ["me"]:
            found[-1] += [Token("and", "and"), *tokens]  # "me and dee have been together for years"
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
        elif found and clause.intro in _HANGING and wish(tokens, self._has_verb):
            found.append(tokens)  # "my eyes are bad so keep lists short": two things
        elif found and tokens[0].norm in _SUBORDINATE and self._same_sentence(clause):
            found[-1] += tokens
        elif found and clause.intro == "then" and not has_predicate([t.norm for t in tokens]):
            found[-1][-1] = replace(found[-1][-1], comma=True)
            found[-1] += [Token("then", "then"), *tokens]
        elif found and clause.intro == "so" and len(found[-1]) < 3 and not self._told(found[-1]):
            found[-1] = tokens  # "smart, so ...": a remark
        elif found and (clause.carried or clause.intro in _HANGING):
            found[-1] += [Token(clause.intro or "and", clause.intro or "and"), *tokens]
        elif found and self._stands_before(found[-1], tokens):
            found[-1] = [*found[-1], *tokens]
        elif self._says_something(tokens) or [token.norm for token in tokens] == ["me"]:
            found.append(tokens)

    @staticmethod
    def _told(tokens: Sequence[Token]) -> bool:
        return has_predicate([token.norm for token in tokens])

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
            and not self._has_verb(front)
        )

    def _without_asides(self, tokens: list[Token]) -> list[list[Token]]:
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
        if tokens[0].norm not in ("i", "we"):
            opens = opens_front([token.norm for token in front])
            return opens and len(front) < 5 and not self._has_verb(front)
        subordinate = first in _SUBORDINATE
        opens = opens_front([token.norm for token in front])
        return subordinate or (opens and not self._has_verb(front))

    @staticmethod
    def _says_something(tokens: Sequence[Token]) -> bool:
        """Whether there is a word of content ("we did it" has none)."""
        return any(token.norm not in _EMPTY for token in tokens)

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

    def _without_tail(self, tokens: list[Token]) -> list[Token]:
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

    def _clause(
        self, tokens: list[Token], question: list[str], parts: Sequence[str]
    ) -> tuple[str, str, bool] | None:
        """One clause: text, subject, and whether it stands on its own; None refuses it."""
        tokens = without_double_subject(tokens[:MAX_WORDS])
        if self._is_creole(tokens):
            return f'said "{joined(tokens)}"', "user", True
        if tokens[0].comma or [t.norm for t in tokens[1:3]] == ["that", "is"]:
            tokens = put_in_front(tokens[:1], tokens[1:]) or tokens
        wanted = wish(tokens, self._has_verb) or about_user(tokens) or cleft(tokens)
        if wanted:
            return wanted, "user", True
        first = tokens[0].norm
        if question:
            felt = feeling_about_it(question, tokens)
            if felt:
                return felt, "user", False
            if self._is_phrase(tokens):
                return self._answered(question, tokens)
        if first in ("i", "we") and len(tokens) > 1:
            return joined(predicate(tokens[1:])), "user", True
        moved = self._fronted(tokens)
        if moved:
            return moved, "user", True
        if first in ("my", "our") and len(tokens) > 1:
            text = joined(inner(tokens[1:]))
            return text, self._subject(tokens[1:]), True
        if first == "me" and not question and len(tokens) > 3 and tokens[1].norm == "and":
            return joined([Token("they", "they"), *inner(tokens[1:])]), "user", True
        if first in self.lexicon.deictic:
            return self._deictic(tokens, question, parts)
        if self._has_verb(tokens) or (first in ANYONE and len(tokens) > 2):
            return joined(inner(tokens)), self._subject(tokens), True
        done = first == "got" or bool(past_lemma(first))
        if first in self.lexicon.bare_verbs and (done or not question):
            return joined(predicate(tokens)), "user", True
        if question:
            return self._answered(question, tokens)
        if first in self.lexicon.bare_verbs:
            return joined(predicate(tokens)), "user", True
        return joined(inner(tokens)), self._subject(tokens), True

    def _is_creole(self, tokens: Sequence[Token]) -> bool:
        """Whether a clause follows another grammar: its words are quoted, not converted."""
        norms = [token.norm for token in tokens]
        pairs = (" ".join(pair) for pair in pairwise(norms))
        return not self.lexicon.creole.isdisjoint(norms) or any(
            pair in self.lexicon.creole_pairs for pair in pairs
        )

    def _is_phrase(self, tokens: Sequence[Token]) -> bool:
        """Whether a part has no subject and verb of its own: it can only be an answer."""
        first = tokens[0].norm
        if first in _SPEAKERS or first in self.lexicon.deictic or first in self.lexicon.bare_verbs:
            return False
        if first in ANYONE and len(tokens) > 2:
            return False  # "everyone gets a test first"
        norms = {token.norm for token in tokens}
        if not norms.isdisjoint(FINITE) or not norms.isdisjoint(_SPEAKERS):
            return False
        opens = first in self.lexicon.prepositions or first in _OPENS_PHRASE
        return opens or not self._has_verb(tokens)

    def _answered(
        self, question: list[str], tokens: Sequence[Token]
    ) -> tuple[str, str, bool] | None:
        """An answer with its question: text, subject, and that it needed the question."""
        if all(t.norm in _EMPTY or t.norm in self.lexicon.adverbs for t in tokens):
            return None  # "finally yeah"
        asks_of = {"he", "she", "it", "they"} & set(question)
        meant = self._meant() if asks_of else None
        text = answered(question, tokens, meant[0] if meant else "")
        if text is None:
            return None
        if meant and text.startswith(meant[0]):
            return text, meant[1], False
        return text, self._subject([Token(word, word) for word in text.split()]), False

    def _fronted(self, tokens: Sequence[Token]) -> str:
        """From "every tuesday i swim", "couscous i cannot stand": the clause, then the phrase."""
        for place in range(1, min(len(tokens) - 1, 9)):
            if tokens[place].norm in ("i", "we"):
                front = tokens[:place]
                subordinate = front[0].norm in _SUBORDINATE
                if self._told(front) and not subordinate:
                    return ""
                if front[-1].norm in _LEADS_ON:
                    return ""
                if front[0].norm in _OPENS_PHRASE and self._is_subject(tokens, place):
                    return ""
                main = joined(predicate(tokens[place + 1 :]))
                return f"{main} {joined(inner(front))}" if main else ""
        return ""

    @staticmethod
    def _is_subject(tokens: Sequence[Token], place: int) -> bool:
        """Whether a noun and what "i" says of it are the subject ("the wine i like is a rioja")."""
        return any(
            tokens[at].norm in ("is", "are", "was", "were")
            and tokens[at - 1].norm not in _LEADS_ON
            and tokens[at - 1].norm not in _SPEAKERS
            for at in range(place + 2, min(place + 6, len(tokens) - 1))
        )

    def _deictic(
        self, tokens: list[Token], question: list[str], parts: Sequence[str]
    ) -> tuple[str, str, bool] | None:
        """A clause about "he", "it", "that": who is meant, or None when nobody can tell."""
        first = tokens[0].norm
        if first in ("he", "she") and parts and not any(map(self._speaks_of_someone, parts)):
            meant = self._meant()
            if meant:
                return f"{meant[0]} {joined(inner(tokens)[1:])}", meant[1], False
        if parts or first == "there" or (first == "one" and len(tokens) > 2):
            return joined(inner(tokens)), "user", True
        if first in ("that", "this", "those", "these") and self._determines(tokens):
            return joined(inner(tokens)), "user", True
        if first in ("it", "that", "this", "they", "those", "these") and question:
            copula = len(tokens) > 2 and tokens[1].norm in ("is", "are", "was")
            return self._answered(question, tokens[2:] if copula else tokens)
        if first in ("he", "she", "they"):
            meant = self._meant() or self.whom(first)
            if meant:
                label, subject = meant
                return f"{label} {joined(inner(tokens)[1:])}", subject, False
        if first in ("it", "that", "this") and tokens[1:2] and tokens[1].norm in ("is", "was"):
            said = [token for token in tokens[2:] if token.norm not in _EMPTY]
            if len(said) >= 3 and tokens[2].norm == "not":
                return joined(inner(tokens)), "user", True
            if len(said) >= 3:  # "it's only ever decaf after lunch" says it without "it"
                return joined(inner(tokens[2:])), "user", True
        for place in range(2, len(tokens) - 2):
            if tokens[place].norm == "i" and tokens[place - 1].norm not in _EMBEDS:
                return joined(predicate(tokens[place + 1 :])), "user", True
        return None

    def _determines(self, tokens: Sequence[Token]) -> bool:
        """Whether "that" stands before its noun ("that racket behind me is mot")."""
        follow = tokens[1].norm if len(tokens) > 3 else ""
        plain = follow not in FINITE and follow not in self.lexicon.adverbs
        return bool(follow) and plain and follow != "one" and self._has_verb(tokens[1:])

    def _speaks_of_someone(self, text: str) -> bool:
        """Whether a pronoun may point at someone in ``text``."""
        words = text.split()
        forms = self.lexicon.people.first
        large = (w for w in words if w[:1].isupper())
        named = any(w.strip(",").lower() not in self.lexicon.capitalised for w in large)
        return named or any(w.lower() in forms for w in words)

    def _meant(self) -> tuple[str, str] | None:
        """Whom the assistant spoke of last: label and subject."""
        for low in reversed([n for n in self.names if n in self.before.lower()]):
            subject = self.subjects.get(low, "")
            if subject.startswith("user."):
                relation = subject.partition(":")[0].rpartition(".")[2].replace("_", " ")
                return f"{relation} {self.names[low]}", subject
        named = list(_YOUR_PERSON.finditer(self.before))
        if named:
            found = self.lexicon.people.relation_at([named[-1][1].lower()], 0, 1)
            if found is not None and not found[0].plural:
                relation, name = named[-1].groups()
                return f"{relation} {name}", f"user.{found[0].key}:{name.lower()}"
        for low, shown in reversed(list(self.names.items())):
            dated = low in self.lexicon.capitalised  # "June" is a month before it is a name
            if low in self.lexicon.people.names and low in self.before.lower() and not dated:
                return shown, "user"
        return None

    def _has_verb(self, tokens: Sequence[Token]) -> bool:
        known = (FINITE | self.lexicon.carried) - self.lexicon.adverbs
        norms = [token.norm for token in tokens]
        if any(norm in known for norm in norms[1:]):
            return True
        return any(  # "(sipho) coaches me"
            verb.endswith("s") and whom in ("me", "us") for verb, whom in pairwise(norms[1:])
        )

    def _subject(self, tokens: Sequence[Token]) -> str:
        """The subject behind a relation ("sister steffi") or a known name at the front."""
        norms = [token.norm for token in tokens]
        for place in range(min(2, len(norms))):
            if norms[place] in self.subjects:
                return self.subjects[norms[place]]
        found = self.lexicon.people.relation_at(norms, 0, len(norms))
        if found is None or found[0].plural:
            return "user"
        relation, behind = found
        named = behind < len(tokens) and tokens[behind].shown[:1].isupper()
        name = f":{norms[behind]}" if named and norms[behind].isalpha() else ""
        return f"user.{relation.key}{name}"
