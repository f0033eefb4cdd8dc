"""Clause segmentation: punctuation, coordinators and run-ons of speech without punctuation."""

from __future__ import annotations

from dataclasses import dataclass

from bmo.language.lexicon import LanguageCode, SurfaceLexicon, match_phrase, surface_lexicon
from bmo.language.tokens import Words

MAX_CLAUSES = 32
"""What follows the last of these is one clause: a bound on time for hostile input."""

_HARD = frozenset(".!?;…:")
_BE = frozenset({"am", "is", "are", "was", "were"})
_NOT_AFTER_RELATIVE = frozenset(
    {
        "is",
        "are",
        "was",
        "were",
        "and",
        "but",
        "so",
        "the",
        "most",
        "best",
        "more",
        "about",
        "with",
        "on",
        "at",
        "to",
        "in",
        "for",
    }
)
_KIN_BEFORE_NAME = frozenset(
    "brother sister son daughter wife husband mum mom mother dad father partner "
    "girlfriend boyfriend friend cat dog "
    "cousin uncle aunt boss neighbour flatmate called named".split()
)
_BARE_AUXILIARIES = frozenset({"do", "did", "am", "have", "can", "will", "would", "is"})
_QUESTION_OPENERS = frozenset(
    tuple(pair.split())
    for pair in (
        "what is|what are|what do|what does|what time|what would|what should|where "
        "is|where are|where do|who is|who are|how do|how long|"
        "how much|how many|how far|how is|how are|when is|which is|why is|why do|can "
        "you|could you|do you|would you|will you|is there|are there|"
        "can i|could i|should i|tell me|remind me|is that|is it"
    ).split("|")
)
_QUALIFIED = frozenset({"only", "not", "just", "never"})
_POSSESSIVE_STARTS = frozenset({"my", "our", "his", "her", "their"})


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a turn.

    Attributes:
        start: Index of its first word in the turn's words, openers taken off.
        end: Index behind its last word.
        intro: The conjunction or opener word it began with, or "".
        carried: Its subject is that of the clause before ("... and live in york").
        sentence: Number of the sentence it stands in, by punctuation.
        closed_by: Punctuation behind it ("?", ".", ...), or "".
    """

    start: int
    end: int
    intro: str = ""
    carried: bool = False
    sentence: int = 0
    closed_by: str = ""


def segment(
    words: Words, language: LanguageCode = "en", names: frozenset[str] = frozenset()
) -> list[Clause]:
    """Splits words into clauses, left to right.

    Args:
        words: Repaired words of a turn.
        language: Whose conjunctions and pronouns apply.
        names: Lower-case names of known people, which may be subjects.

    Returns:
        Clauses that hold at least one word each; openers ("well", "you know") belong to none.
    """
    lexicon = surface_lexicon(language)
    norm = words.norm
    after = words.after
    size = len(norm)
    clauses: list[Clause] = []
    begin = 0
    sentence = 0
    carried = False
    for i in range(1, size + 1):
        mark = after[i - 1]
        if len(clauses) >= MAX_CLAUSES and i < size:
            continue
        hard = i == size or (mark != "" and not _HARD.isdisjoint(mark))
        if not hard:
            border = _border(norm, after, begin, i, lexicon, names)
            if not border:
                continue
        else:
            border = 1
        clause = _clause(norm, begin, i, carried, sentence, mark if hard else mark[:1], lexicon)
        if clause is not None:
            clauses.append(clause)
        begin = i
        carried = border == 2
        if hard:
            sentence += 1
    return clauses


def _clause(
    norm: list[str],
    begin: int,
    end: int,
    carried: bool,
    sentence: int,
    mark: str,
    lexicon: SurfaceLexicon,
) -> Clause | None:
    """The clause of these words, without the openers at its front."""
    intro = norm[begin]
    start = begin
    while start < end:
        length = match_phrase(lexicon.openers, norm, start)
        denied = norm[start] in lexicon.denials and start + 1 < end
        follows = lexicon.classes.get(norm[start + 1], "") if denied else ""
        if follows in ("pronoun", "possessive"):
            length = 1  # "no | his name is tom"
        if not length or start + length > end:
            break
        start += length
    if start >= end:
        return None
    return Clause(start, end, intro if start > begin else "", carried, sentence, mark)


def _border(
    norm: list[str],
    after: list[str],
    begin: int,
    i: int,
    lexicon: SurfaceLexicon,
    names: frozenset[str],
) -> int:
    """0: no border before word ``i``; 1: a clause begins; 2: one that carries its subject on."""
    word = norm[i]
    before = norm[i - 1]
    size = len(norm)
    follow = norm[i + 1] if i + 1 < size else ""
    comma = after[i - 1] != ""
    if word in lexicon.clause_subjects:
        if comma and (before not in lexicon.embedders or before in ("one", "me", "it")):
            return 1
        if (
            i - begin == 2
            and before in _BARE_AUXILIARIES
            and norm[begin] in lexicon.clause_subjects
        ):
            return 1  # "i do | i have an old car"
        if before in lexicon.embedders or i - begin < 2:
            return 0
        return 0 if _is_relative(norm, after, i) else 1
    if word in lexicon.weak_clause_subjects:
        if before in lexicon.embedders and not comma:
            return 0
        if follow in lexicon.finite_verbs and i - begin >= 2:
            return 1
        return 0
    if (
        i - begin >= 3
        and (word, follow) in _QUESTION_OPENERS
        and before not in lexicon.embedders
        and i + 2 < size
    ):
        return 1
    if (
        names
        and word in names
        and i - begin >= 2
        and follow in lexicon.finite_verbs
        and before not in lexicon.embedders
        and lexicon.classes.get(before) != "possessive"
        and before not in _KIN_BEFORE_NAME
    ):
        return 1
    if (
        word == "the"
        and i - begin >= 3
        and before not in lexicon.embedders
        and lexicon.classes.get(before) != "preposition"
        and i + 2 < size
        and norm[i + 2] in ("is", "are", "was", "has")
        and before not in ("when", "while", "love", "like", "hate", "called")
    ):
        return 1
    if word in lexicon.coordinators:
        if not follow or after[i]:
            return 1 if comma and word in ("but", "so") else 0
        if word in lexicon.subordinators:
            return 1
        if word in ("but", "aber", "mais", "pero"):
            return 0 if follow in _QUALIFIED else 1
        if word in ("since", "while") and follow not in lexicon.clause_subjects:
            return 0
        if follow in lexicon.clause_subjects:
            return 1
        if follow in lexicon.weak_clause_subjects:
            behind = norm[i + 2] if i + 2 < size else ""
            return 1 if behind in lexicon.finite_verbs or word == "so" else 0
        if word in ("so", "and", "but") and follow == "please":
            return 1
        if word == "so" and (
            follow in ("never", "always")
            or (follow == "do" and i + 2 < size and norm[i + 2] == "not")
        ):
            # "im deaf in one ear so never whisper": an instruction after its reason.
            return 1
        if word in ("so", "plus", "then"):
            return 1 if comma else 0
        if _nominal_subject(norm, after, i + 1, lexicon):
            return 1
        if word in ("and", "und", "et", "y") and follow in lexicon.carried_verbs:
            return 2 if _may_carry(norm, begin, i) else 0
        return 0
    if word in _POSSESSIVE_STARTS and i - begin >= 2:
        if before in lexicon.embedders and not comma:
            return 0
        return 1 if _nominal_subject(norm, after, i, lexicon) else 0
    if comma and word in ("which", "who"):
        return 1
    if comma and word in (
        "please",
        "play",
        "can",
        "could",
        "what",
        "where",
        "how",
        "why",
        "do",
        "does",
        "is",
        "remember",
    ):
        return 1
    return 0


def _is_relative(norm: list[str], after: list[str], i: int) -> bool:
    """Whether the pronoun at ``i`` opens an object-gap relative clause ("songs i like").

    The gap shows: nothing follows the verb, or a word that cannot be its object.
    """
    verb = i + 1
    size = len(norm)
    if verb >= size:
        return True
    if norm[verb] in _BE:
        return False
    while verb < size - 1 and norm[verb] in _SKIPPED_BEFORE_VERB:
        verb += 1
    if after[verb] and after[verb] != ",":
        return True
    if verb + 1 >= size:
        return True
    behind = verb + 1
    while behind < size - 1 and norm[behind] in _PARTICLES and not after[behind]:
        behind += 1
    if behind > verb + 1 and norm[behind] in ("is", "are", "was", "were"):
        return True
    return norm[verb + 1] in ("is", "are", "was", "were", "and", "but", "most", "best", "when")


_PARTICLES = frozenset(("about at by for from in of on out to up with").split())
_SKIPPED_BEFORE_VERB = frozenset(
    {
        "really",
        "do",
        "did",
        "have",
        "had",
        "can",
        "could",
        "would",
        "will",
        "always",
        "usually",
        "also",
        "just",
        "not",
        "never",
        "actually",
        "like",
        "want",
        "to",
        "used",
    }
) - {"like", "want"}


def _nominal_subject(norm: list[str], after: list[str], i: int, lexicon: SurfaceLexicon) -> bool:
    """Whether a noun phrase with a finite verb behind it begins at ``i`` ("my sister is ...")."""
    limit = min(len(norm), i + 6)
    first = norm[i]
    if first in lexicon.classes and lexicon.classes[first] not in (
        "possessive",
        "article",
        "pronoun",
    ):
        return False
    if first in ("to", "not", "or", "other", "both"):
        return False
    for j in range(i, limit - 1):
        if after[j]:
            return False
        word = norm[j + 1]
        if word in lexicon.finite_verbs:
            return True
        if (
            word in lexicon.classes
            and lexicon.classes[word] in ("preposition", "article")
            and word not in ("in", "of")
        ):
            return False
        if word in lexicon.coordinators and word != "and":
            return False
        if word in ("when", "whenever", "if", "before", "after", "unless", "until"):
            return False
    return False


def _may_carry(norm: list[str], begin: int, i: int) -> bool:
    """Whether "and <verb>" at ``i`` adds a predicate, and not a second infinitive or noun.

    "i love to hike and swim" shares "to"; "i live in york and work at a bank" does not.
    """
    return "to" not in norm[begin:i] or norm[i + 1] in ("am", "is", "are", "have", "has", "was")
