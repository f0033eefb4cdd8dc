"""First person to third: "i drive a bus because i like it" to "drives a bus because they like it".

The user has no subject word in a canonical text, so "i" and "we" at the front of a clause are
dropped and the verb behind them agrees with the person left out; everywhere else they become
"they".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from bmo.frozen import quickly_made
from bmo.gate.pack_tables import read_table
from bmo.gate.people import PeopleLexicon, people_lexicon
from bmo.language import Words, past_lemma, third_person
from bmo.language.lexicon import Phrases, match_phrase, phrase_table, surface_lexicon
from bmo.language.times import WEEKDAYS

_NOT_NAMES = frozenset("i the a an of and my your this that it not no you we he she they".split())
_OPENS_CLAUSE = frozenset({"and", "but", "or"})
_NAMED_BEHIND = frozenset(("called named aunt auntie uncle doctor dr mr mrs ms").split())
_NOT_CALLED = frozenset(
    "after again back earlier him her off out over round them today twice upon yesterday".split()
)
"""Words behind "called" and "named" that are no names: "named after his grandad"."""
_NAMED = frozenset("called named made".split())
_OBJECTS = frozenset("his her their the a an my our me us him them it".split())
OF_SEVERAL = frozenset("are were have do did been go both".split())
"""What follows "kasia and me" where it is a subject."""
_SINGULAR = frozenset("he she it that who there".split())
_BEHIND_NAME = frozenset("he she is has was who lives works".split())
"""What follows a name more often than any other word behind "my grandson"."""
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")


@quickly_made
@dataclass(frozen=True, slots=True)
class Token:
    """One word on its way to canonical text.

    Attributes:
        norm: Lower-case normal form, contractions expanded.
        shown: As it will be written.
        comma: A comma stood behind it.
    """

    norm: str
    shown: str
    comma: bool = False


@dataclass(frozen=True, slots=True)
class ThirdPersonLexicon:
    """The tables of ``third_person.toml``; attributes are its keys."""

    pronouns: Mapping[str, str]
    verbs: Mapping[str, str]
    adverbs: frozenset[str]
    fixed: frozenset[str]
    past: frozenset[str]
    base: frozenset[str]
    bare_verbs: frozenset[str]
    tails: tuple[tuple[str, ...], ...]
    asides: frozenset[str]
    interjections: frozenset[str]
    aside_phrases: Phrases
    announcements: Phrases
    requests: frozenset[str]
    creole: frozenset[str]
    creole_pairs: frozenset[str]
    yes: Phrases
    no: Phrases
    prepositions: frozenset[str]
    fronted: frozenset[str]
    deictic: frozenset[str]
    capitalised: frozenset[str]
    common_names: frozenset[str]
    happened: frozenset[str]
    where_gone: frozenset[str]
    same_in_past: frozenset[str]
    before_pit: frozenset[str]
    several: frozenset[str]
    told_of_the_past: frozenset[str]
    no_verbs: frozenset[str]
    past_rather: frozenset[str]
    carried: frozenset[str]
    people: PeopleLexicon


@lru_cache(maxsize=1)
def third_person_lexicon() -> ThirdPersonLexicon:
    """The English tables, read from the package on first use."""
    raw = read_table("en", "third_person.toml")
    words = raw["words"]
    tails = sorted((tuple(tail.split()) for tail in words["tails"]), key=len, reverse=True)
    return ThirdPersonLexicon(
        pronouns=raw["pronouns"],
        verbs=raw["verbs"],
        tails=tuple(tails),
        announcements=phrase_table(words["announcements"]),
        aside_phrases=phrase_table(words["aside_phrases"]),
        yes=phrase_table(words["yes"]),
        no=phrase_table(words["no"]),
        carried=surface_lexicon("en").carried_verbs,
        people=people_lexicon("en"),
        **{
            name: frozenset(words[name])
            for name in (
                "adverbs",
                "fixed",
                "past",
                "base",
                "bare_verbs",
                "asides",
                "interjections",
                "creole",
                "creole_pairs",
                "requests",
                "prepositions",
                "fronted",
                "deictic",
                "capitalised",
                "common_names",
                "happened",
                "where_gone",
                "same_in_past",
                "before_pit",
                "several",
                "told_of_the_past",
                "no_verbs",
                "past_rather",
            )
        },
    )


def written_names(assistant_before: str) -> dict[str, str]:
    """Words the assistant wrote large inside a sentence: lower case -> as written."""
    names: dict[str, str] = {}
    for sentence in _SENTENCE.findall(assistant_before):
        for place, word in enumerate(_WORD.findall(sentence)):
            plain = re.sub(r"['’]s$", "", word)
            if place and plain[:1].isupper() and plain.lower() not in _NOT_NAMES:
                if plain.startswith("I'"):
                    continue
                names[plain.lower()] = plain
    return names


def tokens_of(words: Words, start: int, end: int, names: Mapping[str, str]) -> list[Token]:
    """The words ``start`` to ``end`` with the case they will be written in.

    Args:
        words: Repaired words of a turn.
        start: Index of the first word.
        end: Index behind the last.
        names: Lower case -> as written, from the assistant's words and the ledger.
    """
    lexicon = third_person_lexicon()
    found: list[Token] = []
    text, norms, after, size = words.text, words.norm, words.after, len(words)
    begins, ends = words.start, words.end
    for i in range(start, end):
        norm = norms[i]
        raw = text[begins[i] : ends[i]]
        if norm == "'s" and found:
            own = lexicon.people.forms.get((found[-1].norm,))
            several = own is not None and own.plural and own.name != found[-1].norm
            ending = "'" if several and found[-1].norm.endswith("s") else "'s"
            found[-1] = replace(found[-1], shown=found[-1].shown + ending)
            continue
        shown = raw if raw.lower() == norm else norm
        # A bare answer ("Gdansk") is written as it was said; the first word of a sentence is not.
        opens = (i == 0 or after[i - 1][:1] in (".", "!", "?")) and size > 2
        if (
            opens
            and shown[:1].isupper()
            and shown[1:].islower()
            and norm not in lexicon.people.names
        ):
            shown = norm
        if shown.islower():
            behind = norms[i + 1] if i + 1 < size else ""
            aside = norm in lexicon.interjections and i > 0 and "," in after[i - 1]
            before = norms[i - 1] if i and not aside else ""
            shown = _cased(norm, before, behind, names, lexicon)
        elif shown.isupper() and len(shown) > 4 and text.isupper():
            shown = shown.lower()
        if i and after[i - 1].endswith("(") and after[i].startswith(")"):
            found.append(Token(norm, f"({shown})", after[i][1:2] == "," and i + 1 < end))
            continue
        found.append(Token(norm, shown, after[i][:1] == "," and i + 1 < end))
    return found


def _cased(
    word: str, before: str, behind: str, names: Mapping[str, str], lexicon: ThirdPersonLexicon
) -> str:
    if word in names:
        return names[word]
    if word in lexicon.capitalised:
        return word.capitalize()
    if word == "till" and behind and behind not in _BEHIND_NAME:
        return word  # "no cat till then" is nobody's name
    if word in lexicon.people.names:
        follows = (before,) in lexicon.people.forms or before in _NAMED_BEHIND
        if follows or word not in lexicon.common_names:
            return word.capitalize()
    elif before in ("called", "named") and word.isalpha() and len(word) > 2:
        if word not in surface_lexicon("en").classes and word not in _NOT_CALLED:
            return word.capitalize()
    elif (before,) in lexicon.people.forms and behind in _BEHIND_NAME and _is_no_word(word):
        return word.capitalize()
    return word


def _is_no_word(word: str) -> bool:
    """Whether a word is in no table of English words: behind "my grandson" it is his name."""
    lexicon = third_person_lexicon()
    if not word.isalpha() or len(word) < 3 or word.endswith(("s", "ed", "ing", "ly")):
        return False
    if word in lexicon.people.compounds or word in lexicon.people.last:
        return False  # "mother tongue", "baby sitter"
    known = lexicon.adverbs | lexicon.prepositions | lexicon.carried | lexicon.bare_verbs
    return word not in known and word not in surface_lexicon("en").classes and not past_lemma(word)


def joined(tokens: Sequence[Token]) -> str:
    """Tokens as text."""
    text = " ".join(token.shown + ("," if token.comma else "") for token in tokens)
    return re.sub(r"\bcan not\b", "cannot", text).strip(" ,")


def inner(tokens: Sequence[Token]) -> list[Token]:
    """Words that are not the clause's own subject and verb, in the third person."""
    pronouns = third_person_lexicon().pronouns
    found: list[Token] = []
    for i, token in enumerate(tokens):
        before = tokens[i - 1].norm if i else ""
        if token.norm == "mine" and before in third_person_lexicon().before_pit:
            found.append(token)
        elif token.norm == "me" and before == "and" and _next(tokens, i) in OF_SEVERAL:
            found.append(replace(token, shown="they"))
        elif token.norm in pronouns:
            found.append(replace(token, shown=pronouns[token.norm]))
        elif token.norm == "is" and before in _SINGULAR and _next(tokens, i) in ("got", "been"):
            found.append(replace(token, shown="has"))
        elif token.norm == "is" and i and _has_gone(tokens, i + 1):
            found.append(replace(token, shown="has"))
        elif token.norm == "is" and _one_before(tokens, i) and _has_done(tokens, i + 1):
            found.append(replace(token, shown="has"))
        elif token.norm == "is" and before == "there" and _counts_many(tokens, i + 1):
            found.append(replace(token, shown="are"))
        elif token.norm in ("am", "was") and before == "i":
            found.append(replace(token, shown="are" if token.norm == "am" else "were"))
        else:
            found.append(token)
    return found


def _one_before(tokens: Sequence[Token], at: int) -> bool:
    """Whether a singular pronoun or a name stands before."""
    return at > 0 and (tokens[at - 1].norm in _SINGULAR or tokens[at - 1].shown[:1].isupper())


def _has_done(tokens: Sequence[Token], at: int) -> bool:
    """Whether "he's" is "he has": a participle and its object follow ("finished his degree")."""
    done = _next(tokens, at - 1)
    if done in third_person_lexicon().happened:
        return True
    return (
        bool(past_lemma(done))
        and done not in _NAMED
        and (
            _next(tokens, at) in _OBJECTS or _next(tokens, at) in third_person_lexicon().capitalised
        )
        and not tokens[at].comma
    )


def _has_gone(tokens: Sequence[Token], at: int) -> bool:
    """Whether "is" before ``at`` is "has": somebody went somewhere ("he's gone off to uni")."""
    return (
        _next(tokens, at - 1) == "gone" and _next(tokens, at) in third_person_lexicon().where_gone
    )


def _next(tokens: Sequence[Token], at: int) -> str:
    return tokens[at + 1].norm if at + 1 < len(tokens) else ""


def _counts_many(tokens: Sequence[Token], at: int) -> bool:
    """Whether what is there is more than one ("there's two foremen")."""
    return at < len(tokens) and tokens[at].norm in third_person_lexicon().several


def predicate(tokens: Sequence[Token]) -> list[Token]:
    """What stands behind a dropped "i" or "we", its verb in the third person singular."""
    lexicon = third_person_lexicon()
    place = 0
    while place < len(tokens) - 1 and tokens[place].norm in lexicon.adverbs:
        place += 1
    if place >= len(tokens):
        return []
    front, verb, rest = list(tokens[:place]), tokens[place], list(tokens[place + 1 :])
    if verb.norm == "do" and rest and rest[0].norm != "not" and is_base_verb(rest[0].norm):
        verb, rest = rest[0], rest[1:]  # "i do like": nothing is lost with the emphasis
    agreed = [*front, replace(verb, shown=_agreeing(verb.norm, rest))]
    if is_base_verb(verb.norm):
        rest = _with_listed_verbs([verb, *rest])[1:]
    return agreed + inner(_with_carried_verbs(rest))


def is_base_verb(word: str) -> bool:
    """Whether a word is a verb in its base form, where a verb may stand."""
    lexicon = third_person_lexicon()
    return (word in lexicon.bare_verbs or word in lexicon.carried) and not past_lemma(word)


def _with_carried_verbs(tokens: Sequence[Token]) -> list[Token]:
    """Makes verbs agree that "and" or "but" hangs on the same subject."""
    lexicon = third_person_lexicon()
    found = list(tokens)
    for i in range(1, len(found)):
        if found[i - 1].norm not in _OPENS_CLAUSE:
            continue
        k = i
        if found[k].norm in ("i", "we") and k + 1 < len(found):
            k += 1
            if found[k].norm in lexicon.adverbs and k + 1 < len(found):
                k += 1
            found[k] = replace(found[k], shown=_agreeing(found[k].norm, found[k + 1 :]))
            found[i] = replace(found[i], shown="", norm="")
            continue
        if found[k].norm in lexicon.adverbs and k + 1 < len(found):
            k += 1
        if found[k].norm in lexicon.carried and "to" not in [t.norm for t in found[:i]]:
            found[k] = replace(found[k], shown=_agreeing(found[k].norm, found[k + 1 :]))
    return [token for token in found if token.norm or token.shown]


def _with_listed_verbs(tokens: Sequence[Token]) -> list[Token]:
    """Makes verbs agree that a comma hangs on the same subject ("hates jira, prefers linear")."""
    lexicon = third_person_lexicon()
    found = list(tokens)
    for i in range(1, len(found) - 1):
        token = found[i]
        listed = found[i - 1].comma and not token.comma and is_base_verb(token.norm)
        listed = listed and token.norm not in lexicon.prepositions and token.norm != "like"
        if listed and not found[i + 1].comma and "to" not in [t.norm for t in found[:i]]:
            found[i] = replace(token, shown=_agreeing(token.norm, found[i + 1 :]))
    return found


def _agreeing(verb: str, rest: Sequence[Token]) -> str:
    """A verb's form behind the person left out."""
    lexicon = third_person_lexicon()
    if verb in lexicon.verbs:
        return lexicon.verbs[verb]
    if verb in lexicon.fixed or verb in lexicon.past or verb in lexicon.adverbs:
        return verb
    if verb in lexicon.no_verbs or verb in lexicon.past_rather:
        return verb
    if verb == "got":
        dated = any(t.norm in WEEKDAYS or t.norm in lexicon.told_of_the_past for t in rest)
        return "has" if rest and _opens_noun_phrase(rest[0].norm) and not dated else "got"
    if verb == "been":
        return "has been"
    if verb == "born":
        return "was born"
    if verb in ("married", "retired") and not (rest and _opens_noun_phrase(rest[0].norm)):
        return verb
    if verb.endswith("ing") and len(verb) > 4:
        return f"is {verb}"
    if past_lemma(verb) and verb not in lexicon.base:
        return verb
    same = verb in lexicon.base or verb in lexicon.same_in_past
    if same and not lexicon.told_of_the_past.isdisjoint(t.norm for t in rest):
        return verb  # "split up last year"
    if verb.endswith("s") and not verb.endswith("ss"):
        return verb
    return third_person(verb)


def _opens_noun_phrase(word: str) -> bool:
    return (
        word
        in (
            "a",
            "an",
            "my",
            "our",
            "some",
            "no",
            "lots",
            "loads",
            "plenty",
            "two",
            "three",
            "four",
            "five",
            "six",
            "one",
        )
        or word.isdigit()
    )


def phrase_length(table: Phrases, tokens: Sequence[Token], at: int = 0) -> int:
    """How many words at ``at`` are a phrase of ``table``, or 0."""
    if at >= len(tokens):
        return 0
    entry = table.get(tokens[at].norm)
    if entry is None:
        return 0
    longest = max((sizes[0] for sizes in entry[1].values()), default=1)
    return match_phrase(table, [token.norm for token in tokens[at : at + longest]], 0)
