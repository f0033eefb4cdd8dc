"""Open canonicalisation: any statement to third person, where no slot rule says how.

"im keeping the cat obviously" becomes "Is keeping the cat obviously". Rules only: the user's
words keep their place, pronouns and verb agreement change, what belongs to speaking (openers,
"remember that", tails) goes. What cannot be understood without the conversation is read with the
assistant's words, or refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from bmo.gate.asked_question import asked_subject, last_question
from bmo.gate.open_clauses import SPEAKERS, SUBORDINATE, OpenClauses, says_something, told
from bmo.gate.open_constructions import (
    about_user,
    of_whoever_called,
    without_cleft,
    without_double_subject,
)
from bmo.gate.open_fragments import (
    FINITE,
    LONGEST_FRONT,
    cleft,
    has_predicate,
    has_verb,
    opens_front,
    put_in_front,
)
from bmo.gate.open_lexicon import open_lexicon
from bmo.gate.open_other_languages import canonicalise_other
from bmo.gate.open_subjects import OpenSubjects
from bmo.gate.open_text import OpenText, finished
from bmo.gate.open_together import together
from bmo.gate.open_wishes import wish
from bmo.gate.own_clause import is_own_clause
from bmo.gate.question_answer import answered, feeling_about_it, settled
from bmo.gate.third_person import (
    Token,
    inner,
    joined,
    predicate,
    third_person_lexicon,
    tokens_of,
    written_names,
)
from bmo.language import LanguageCode, Words, past_lemma

ANSWER_WITHIN = 3
"""A part that begins later in the turn is no answer to the assistant's question."""
MAX_WORDS = 60
"""Longer memories are cut: a statement of more words is a story."""

_OPENS_PHRASE = frozenset(("my our the a an every most about around half nearly almost").split())
_BEFORE_MONTH = frozenset("in by since until last next this every each for".split())
_EACH = frozenset("a an every each in".split())
_OPENS_SUBJECT = frozenset("my our he she they his her their".split())
_OWNED = 3
"""Words of somebody's thing, of which nothing is said."""
_WHOSE = frozenset({"his", "her", "their"})
_ASKS_FOR_THING = frozenset("what which where when how whose".split())
_LEADS_ON = SUBORDINATE | frozenset(
    "that think and what how where who which the of know but than".split()
)
"""Words after which "i" belongs to what they open ("feeds the cat when | i am away")."""

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
    own: frozenset[str] = frozenset(),
    short: bool = False,
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
        own: The user's own names, lower-case: no pronoun means the user.
        short: A statement of a single word will do ("Rents").

    Returns:
        The text, or None when it states nothing that could be understood later.
    """
    stop = len(words) if end is None else end
    if stop <= start:
        return None
    if language != "en":
        asked = assistant_before if start < ANSWER_WITHIN else ""
        return canonicalise_other(words, start, stop, language, asked)
    return _English(words, assistant_before, subjects or {}, whom, own).statement(
        start, stop, short=short
    )


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


def _without_may(tokens: Sequence[Token]) -> list[Token]:
    """Words without the month that looks like a verb ("in may")."""
    return [
        token
        for place, token in enumerate(tokens)
        if not (place and token.norm == "may" and tokens[place - 1].norm in _BEFORE_MONTH)
    ]


def _counts_times(tokens: Sequence[Token]) -> bool:
    """Whether words are "once a month", and no clause that "once" opens."""
    return tokens[0].norm == "once" and tokens[1:2] != [] and tokens[1].norm in _EACH


def _is_plural(label: str) -> bool:
    """Whether a label is of several ("Kids", "Brothers"): "they" is not "daughter's son Tom"."""
    last = label.split()[-1].lower()
    return last.endswith(("s", "children", "people"))


class _English:
    """One part of a turn on its way to canonical text."""

    def __init__(
        self,
        words: Words,
        before: str,
        subjects: Mapping[str, str],
        whom: Whom = _nobody,
        own: frozenset[str] = frozenset(),
    ) -> None:
        self.words = words
        self.whom = whom
        self.before = before
        self.names = written_names(before) | {name: name.title() for name in subjects}
        self.lexicon = third_person_lexicon()
        self.lists = open_lexicon()
        self.clauses = OpenClauses(words, before, self.names)
        self.people = OpenSubjects(before, self.names, subjects, own)
        self.front: list[str] = []

    def _meant(self, pronoun: str) -> tuple[str, str] | None:
        """Whom a pronoun means: somebody of the turn's words before, else the assistant's."""
        if self.people.named_in(self.front):
            return self.whom(pronoun)
        return self.people.meant() or self.whom(pronoun)

    def statement(self, start: int, stop: int, *, short: bool = False) -> OpenText | None:
        if (
            0 < start < ANSWER_WITHIN
            and "?" in self.before
            and self.words.norm[start - 1] == "since"
        ):
            start -= 1  # "how long?", "since january": no reason
        self.front = self.words.norm[:start]
        spoken = tokens_of(self.words, start, stop, self.names)
        polarity: bool | None = None
        rest = spoken
        if not (start and spoken[0].norm == "no" and self.words.after[start][:1] != ","):
            polarity, rest = self.clauses.reply(spoken)  # "so | no climbing": no reply
        # Only the front of a turn answers a question.
        question = last_question(self.before) if start < ANSWER_WITHIN else []
        parts: list[str] = []
        subject, whole = "user", True
        if polarity is not None and question:
            meant = self.people.meant() if question[1:2] in (["he"], ["she"], ["it"]) else None
            settled_text = settled(question, polarity, meant[0] if meant else "")
            if settled_text:
                parts.append(settled_text)
                subject, whole = (meant[1] if meant else "user"), False
        gap = question[:1] != [] and question[0] in _ASKS_FOR_THING
        for tokens in self.clauses.read(rest, start, stop, gap=gap):
            written = self._clause(tokens, question if not parts else [], parts)
            if written is None:
                continue
            text, about, own = written
            caller = of_whoever_called(parts[0], text) if len(parts) == 1 else ""
            if caller:  # that she rang is of the moment, what she told is kept of her
                parts.clear()
                text = caller
                about = self.people.of([Token(word.lower(), word) for word in text.split()])
            if not parts:
                subject = about
            whole = whole and own
            parts.append(text)
        alone = whole and len(parts) == 1 and not short
        if not parts or (alone and self._says_too_little(parts[0])):
            return None
        text = "; ".join(parts)
        return OpenText(finished(text if whole else self._with_names(text)), subject, whole)

    def _with_names(self, text: str) -> str:
        """Names of the assistant's question as the assistant wrote them."""
        return re.sub(r"[a-z]\w+", lambda word: self.names.get(word[0], word[0]), text)

    def beside(self, start: int, stop: int) -> str:
        spoken = tokens_of(self.words, start, stop, self.names)
        parts = [self.clauses.without_tail(part) for part in self.clauses.without_asides(spoken)]
        return "; ".join(joined(inner(part)) for part in parts if says_something(part))

    def _says_too_little(self, text: str) -> bool:
        """A single word, or a circumstance without what happens in it ("for the news")."""
        words = text.lower().split()
        if len(words) < 2:
            return True
        known = FINITE | self.lexicon.carried
        if words[0] == "every" and words[1] not in self.lists.of_how_often and len(words) > 3:
            return False  # "every kitchen window needs a lock"
        if len(words) <= _OWNED and words[0].endswith("'s") and not has_predicate(words[1:]):
            return True  # "(i mean) greg's brother"
        return words[0] in self.lexicon.prepositions and known.isdisjoint(words)

    def _clause(
        self, tokens: list[Token], question: list[str], parts: Sequence[str]
    ) -> tuple[str, str, bool] | None:
        """One clause: text, subject, and whether it stands on its own; None refuses it."""
        tokens = without_cleft(without_double_subject(tokens[:MAX_WORDS]))
        if self._is_creole(tokens):
            return f'said "{joined(tokens)}"', "user", True
        if tokens[0].comma or [t.norm for t in tokens[1:3]] == ["that", "is"]:
            tokens = put_in_front(tokens[:1], tokens[1:]) or tokens
        wanted = wish(tokens, has_verb) or about_user(tokens) or together(tokens) or cleft(tokens)
        if wanted:
            return wanted, "user", True
        first = tokens[0].norm
        if question:
            felt = feeling_about_it(question, tokens)
            if felt:
                return felt, "user", False
            if first in _WHOSE and not parts and asked_subject(self.before):
                owned = self._owned(tokens)  # "does Clar come?", "his wife comes": Clar's
                if owned is not None:
                    return owned
            if self._is_phrase(tokens) or (first == "since" and question[0] in _ASKS_FOR_THING):
                return self._answered(question, tokens)
        if first in ("i", "we") and len(tokens) > 1:
            return joined(predicate(tokens[1:])), "user", True
        moved = self._fronted(tokens)
        if moved:
            return moved, "user", True
        behind = self._behind_circumstance(tokens)
        if behind:
            told_of = self._clause(list(tokens[behind:]), [], parts)
            if told_of is not None:
                front = joined(inner(tokens[:behind]))
                return f"{told_of[0]} {front}", told_of[1], told_of[2]
        if first in ("my", "our") and len(tokens) > 1:
            text = joined(inner(tokens[1:]))
            return text, self.people.of(tokens[1:]), True
        if first == "me" and not question and len(tokens) > 3 and tokens[1].norm == "and":
            return joined([Token("they", "they"), *inner(tokens[1:])]), "user", True
        if first in self.lexicon.deictic:
            return self._deictic(tokens, question, parts)
        if first in _WHOSE and not parts:
            return self._owned(tokens)  # "his name's biscuit" of nobody says nothing
        if has_verb(tokens) or (first in self.lists.anyone and len(tokens) > 2):
            return joined(inner(tokens)), self.people.of(tokens), True
        done = first == "got" or bool(past_lemma(first))
        if first in self.lexicon.bare_verbs and (done or not question):
            return joined(predicate(tokens)), "user", True
        if question and not is_own_clause([token.norm for token in tokens]):
            return self._answered(question, tokens)
        if first in self.lexicon.bare_verbs:
            return joined(predicate(tokens)), "user", True
        return joined(inner(tokens)), self.people.of(tokens), True

    def _owned(self, tokens: list[Token]) -> tuple[str, str, bool] | None:
        """A clause about what is his or hers, with whose it is written out; None for nobody's."""
        meant = self._meant(tokens[0].norm)
        if meant is None:
            return None
        label, subject = meant
        norms = [token.norm.lower() for token in tokens]
        theirs = self.lexicon.people.relation_at(norms, 1, len(norms))
        last = subject.rpartition(".")[2]
        if theirs is None or theirs[0].key != last.partition(":")[0]:
            return f"{label}'s {joined(inner(tokens)[1:])}", subject, False
        # "his carer comes mornings": the carer, whom the clause names itself, is who was meant.
        behind = theirs[1] + (norms[theirs[1] : theirs[1] + 1] == [last.partition(":")[2]])
        return f"{label} {joined(inner(tokens)[behind:])}", subject, False

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
        if first in SPEAKERS or first in self.lexicon.deictic or first in self.lexicon.bare_verbs:
            return False
        if first in self.lists.anyone and len(tokens) > 2:
            return False  # "everyone gets a test first"
        if is_own_clause([token.norm for token in tokens]):
            return False
        norms = {token.norm for token in tokens}
        if not norms.isdisjoint(FINITE) or not norms.isdisjoint(SPEAKERS):
            return False
        opens = first in self.lexicon.prepositions or first in _OPENS_PHRASE
        return opens or not has_verb(tokens)

    def _answered(
        self, question: list[str], tokens: Sequence[Token]
    ) -> tuple[str, str, bool] | None:
        """An answer with its question: text, subject, and that it needed the question."""
        if all(t.norm in self.lists.empty or t.norm in self.lexicon.adverbs for t in tokens):
            return None  # "finally yeah"
        asks_of = {"he", "she", "it", "they"} & set(question)
        meant = self.people.meant() if asks_of else None
        text = answered(question, tokens, meant[0] if meant else "")
        if text is None:
            return None
        if meant and text.startswith(meant[0]):
            return text, meant[1], False
        return text, self.people.of([Token(word, word) for word in text.split()]), False

    def _fronted(self, tokens: Sequence[Token]) -> str:
        """From "every tuesday i swim", "couscous i cannot stand": the clause, then the phrase."""
        for place in range(1, min(len(tokens) - 1, 9)):
            if tokens[place].norm in ("i", "we"):
                front = tokens[:place]
                subordinate = front[0].norm in SUBORDINATE and not _counts_times(front)
                if told(_without_may(front)) and not subordinate:
                    return ""
                if front[-1].norm in _LEADS_ON:
                    return ""
                if front[0].norm in _OPENS_PHRASE and self._is_subject(tokens, place):
                    return ""
                main = joined(predicate(tokens[place + 1 :]))
                return f"{main} {joined(inner(front))}" if main else ""
        return ""

    def _behind_circumstance(self, tokens: Sequence[Token]) -> int:
        """Index behind "at weekends" in "at weekends my kids are with their dad", else 0."""
        norms = [token.norm for token in tokens]
        if not opens_front(norms):
            return 0
        for place in range(1, min(len(norms) - 2, LONGEST_FRONT + 1)):
            if norms[place] in _OPENS_SUBJECT:
                front = norms[:place]
                led = front[-1] in _LEADS_ON or front[-1] in self.lexicon.prepositions
                return 0 if led or front[0] in SUBORDINATE or told(tokens[:place]) else place
        return 0

    @staticmethod
    def _is_subject(tokens: Sequence[Token], place: int) -> bool:
        """Whether a noun and what "i" says of it are the subject ("the wine i like is a rioja")."""
        return any(
            tokens[at].norm in ("is", "are", "was", "were")
            and tokens[at - 1].norm not in _LEADS_ON
            and tokens[at - 1].norm not in SPEAKERS
            for at in range(place + 2, min(place + 6, len(tokens) - 1))
        )

    def _deictic(
        self, tokens: list[Token], question: list[str], parts: Sequence[str]
    ) -> tuple[str, str, bool] | None:
        """A clause about "he", "it", "that": who is meant, or None when nobody can tell."""
        first = tokens[0].norm
        if first in ("he", "she") and parts and not any(map(self.people.speaks_of_someone, parts)):
            meant = self.people.meant()
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
            meant = self._meant(first)
            if meant and (first != "they" or _is_plural(meant[0])):
                label, subject = meant
                return f"{label} {joined(inner(tokens)[1:])}", subject, False
        if first in ("it", "that", "this") and tokens[1:2] and tokens[1].norm in ("is", "was"):
            said = [token for token in tokens[2:] if token.norm not in self.lists.empty]
            if len(said) >= 3 and tokens[2].norm == "not":
                return joined(inner(tokens)), "user", True
            if len(said) >= 3:  # "it's only ever decaf after lunch" says it without "it"
                return joined(inner(tokens[2:])), "user", True
        for place in range(2, len(tokens) - 2):
            if tokens[place].norm == "i" and tokens[place - 1].norm not in self.lists.embeds:
                return joined(predicate(tokens[place + 1 :])), "user", True
        return None

    def _determines(self, tokens: Sequence[Token]) -> bool:
        """Whether "that" stands before its noun ("that racket behind me is mot")."""
        follow = tokens[1].norm if len(tokens) > 3 else ""
        plain = follow not in FINITE and follow not in self.lexicon.adverbs
        return bool(follow) and plain and follow != "one" and has_verb(tokens[1:])
