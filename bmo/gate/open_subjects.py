"""Whom a statement is about: somebody it names, or the one the assistant spoke of last."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bmo.gate.addressed_names import addressed
from bmo.gate.asked_question import asked_subject
from bmo.gate.third_person import Token, third_person_lexicon

_YOUR_PERSON = re.compile(r"\b[Yy]our ([a-z]+) ([A-Z][a-zé'-]+)\b")


class OpenSubjects:
    """The people of one turn: those the ledger knows and those the assistant has just named."""

    def __init__(
        self,
        before: str,
        names: Mapping[str, str],
        subjects: Mapping[str, str],
        own: frozenset[str] = frozenset(),
    ) -> None:
        """Takes the assistant's words, lower-case names as written and with their subjects.

        ``own`` are names of the user, of whom no pronoun speaks.
        """
        self.before = before
        self.own = own
        self.names = names
        self.subjects = subjects
        self.lexicon = third_person_lexicon()

    def speaks_of_someone(self, text: str) -> bool:
        """Whether a pronoun may point at someone in ``text``."""
        words = text.split()
        forms = self.lexicon.people.first
        large = (w for w in words if w[:1].isupper())
        named = any(w.strip(",").lower() not in self.lexicon.capitalised for w in large)
        return named or any(w.lower() in forms for w in words)

    def named_in(self, norm: Sequence[str]) -> bool:
        """Whether words in normal form name somebody, by name or relation."""
        people = self.lexicon.people
        return any(word in people.names or word in people.first for word in norm)

    def meant(self) -> tuple[str, str] | None:
        """Whom the assistant spoke of last: label and subject."""
        own = self.own | addressed(self.before)
        for low in reversed([n for n in self.names if n in self.before.lower()]):
            if low in own:
                continue
            subject = self.subjects.get(low, "")
            if subject.startswith("user."):
                relation = subject.partition(":")[0].rpartition(".")[2].replace("_", " ")
                return f"{relation} {self.names[low]}", subject
        asked = asked_subject(self.before)
        if asked and asked.lower() not in self.lexicon.capitalised:
            return asked, self.subjects.get(asked.lower(), "user")
        named = list(_YOUR_PERSON.finditer(self.before))
        if named:
            found = self.lexicon.people.relation_at([named[-1][1].lower()], 0, 1)
            if found is not None and not found[0].plural:
                relation, name = named[-1].groups()
                return f"{relation} {name}", f"user.{found[0].key}:{name.lower()}"
        for low, shown in reversed(list(self.names.items())):
            dated = low in self.lexicon.capitalised  # "June" is a month before it is a name
            if low in own:
                continue
            if low in self.lexicon.people.names and low in self.before.lower() and not dated:
                return shown, "user"
        return None

    def of(self, tokens: Sequence[Token]) -> str:
        """The subject behind a relation ("sister steffi") or a known name at the front."""
        norms = [token.norm.lower() for token in tokens]  # a name written out has its capital
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
