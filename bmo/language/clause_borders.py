"""Where a clause begins in speech without punctuation: coordinators, run-ons, relative clauses."""

from __future__ import annotations

from functools import cache

from bmo.language.lexicon import LanguageCode, SurfaceLexicon, surface_lexicon
from bmo.language.owned_objects import is_owned_object

_BE = frozenset({"am", "is", "are", "was", "were"})
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


@cache
def border_words(language: LanguageCode) -> dict[str, frozenset[str] | None]:
    """Every word at which a clause may begin without punctuation before it.

    Returns:
        Word -> the words of which one must follow it, or None where any may: most words of this
        table stand inside a clause, and the word behind them shows it.
    """
    lexicon = surface_lexicon(language)
    follows: dict[str, frozenset[str] | None] = {}
    for word, follow in _QUESTION_OPENERS:
        follows[word] = frozenset({follow}).union(follows.get(word) or ())
    follows["got"] = follows["bought"] = _SELF
    follows["no"] = _UNWANTED
    follows["please"] = _ASKED_OF
    follows["nothing"] = _HOLDING
    follows["just"] = frozenset({"do"})
    follows.update(dict.fromkeys(("the", *lexicon.coordinators, *_POSSESSIVE_STARTS)))
    follows.update(dict.fromkeys(lexicon.weak_clause_subjects, lexicon.finite_verbs))
    follows.update(dict.fromkeys(lexicon.clause_subjects))
    if "it" in follows:
        follows["it"] = lexicon.finite_verbs | _EFFECTS
    return follows


def border_before(
    norm: list[str],
    after: list[str],
    begin: int,
    i: int,
    lexicon: SurfaceLexicon,
    names: frozenset[str],
) -> int:
    """0: no border before word ``i``; 1: a clause begins; 2: one that carries its subject on.

    Args:
        norm: Words of the turn in normal form.
        after: The punctuation behind each.
        begin: Where the present clause began.
        i: The word in question, 1 or more.
        lexicon: The language's surface forms.
        names: Lower-case names of known people.
    """
    word = norm[i]
    if word in lexicon.clause_subjects:
        return _at_pronoun(norm, after, begin, i, lexicon)
    if word in lexicon.weak_clause_subjects:
        return _at_weak_pronoun(norm, after, begin, i, lexicon)
    if _opens_noun_clause(norm, begin, i, lexicon, names):
        return 1
    if word in lexicon.coordinators:
        return _at_coordinator(norm, after, begin, i, lexicon)
    before = norm[i - 1]
    follow = norm[i + 1] if i + 1 < len(norm) else ""
    comma = after[i - 1] != ""
    if word in _POSSESSIVE_STARTS and i - begin >= 2:
        if before in lexicon.embedders and not comma and norm[i - 2 : i] != _FOR_ME:
            return 0
        if before == "'s":
            return 0  # "tom 's my brother"
        if is_owned_object(norm, after, begin, i, lexicon):
            return 0
        return 1 if _nominal_subject(norm, after, i, lexicon) else 0
    if word in ("got", "bought") and follow in _SELF:
        told = not lexicon.clause_subjects.isdisjoint(norm[begin : i - 1])
        return 2 if i - begin >= 3 and told else 0
    if word == "no" and follow in _UNWANTED and i - begin >= 3 and before not in lexicon.embedders:
        return 1  # "that is monday and tuesday | no reminders before ten"
    if word == "just" and before in _GRANTED and norm[i + 1 : i + 3] == ["do", "not"]:
        return 1  # "it is fine | just do not bring up my dad"
    if word == "please" and follow in _ASKED_OF and i - begin >= 3:
        return 1  # "my english is not so good | please speak slow"
    if comma and word == "me" and follow == "and" and norm[i - 1] != "us":
        return 1  # "i do removals, | me and my brother", but "the two of us, me and my mum"
    return 1 if comma and word in _AFTER_COMMA else 0


def _at_pronoun(
    norm: list[str], after: list[str], begin: int, i: int, lexicon: SurfaceLexicon
) -> int:
    before = norm[i - 1]
    comma = after[i - 1] != ""
    if norm[i] == "il" and tuple(norm[i + 1 : i + 3]) in _PLEASE:
        return 0
    if comma and (before not in lexicon.embedders or before in ("one", "me", "it")):
        return 1
    if i - begin == 2 and before in _BARE_AUXILIARIES and norm[begin] in lexicon.clause_subjects:
        return 1  # "i do | i have an old car"
    if (before in lexicon.embedders and not _ends_phrase(norm, i - 1)) or i - begin < 2:
        return 0
    return 0 if _is_relative(norm, after, i) else 1


_PLEASE = frozenset({("te", "plaît"), ("vous", "plaît"), ("te", "plait"), ("vous", "plait")})
"""What follows "s'il" where it is no subject."""


def _at_weak_pronoun(
    norm: list[str], after: list[str], begin: int, i: int, lexicon: SurfaceLexicon
) -> int:
    follow = norm[i + 1] if i + 1 < len(norm) else ""
    if norm[i] == "you" and follow in _MAY and not _SCOPES.isdisjoint(norm[max(begin, i - 3) : i]):
        return 0  # "for the news you can go longer"
    if norm[i - 1] in lexicon.embedders and after[i - 1] == "":
        return 0
    if norm[i] == "you" and norm[i - 1] in _RATHER:
        return 0  # "i would rather you did not"
    if norm[i] == "it" and follow in _EFFECTS and i - begin >= 3 and i + 3 < len(norm):
        return 1  # "nothing with cheese for tom | it brings on his migraines"
    return 1 if follow in lexicon.finite_verbs and i - begin >= 2 else 0


_EFFECTS = frozenset("aggravates brings disagrees gives hurts irritates triggers upsets".split())
"""What something does to somebody: "it" before one of these begins a clause."""


def _opens_noun_clause(
    norm: list[str], begin: int, i: int, lexicon: SurfaceLexicon, names: frozenset[str]
) -> bool:
    """Whether a question, a known person or "the ... is" runs on from the clause before."""
    word, before = norm[i], norm[i - 1]
    follow = norm[i + 1] if i + 1 < len(norm) else ""
    if before in lexicon.embedders:
        return False
    more = i - begin >= 3 and i + 2 < len(norm)
    if more and (word, follow) in _QUESTION_OPENERS:
        if norm[begin] in _OPENS_SUBJECT and lexicon.finite_verbs.isdisjoint(norm[begin:i]):
            return False  # "our rule in the team | is that nobody deploys on fridays"
        return not _closes_request(norm, i, names)
    if (
        names
        and word in names
        and i - begin >= 2
        and follow in lexicon.finite_verbs
        and lexicon.classes.get(before) != "possessive"
        and before not in _KIN_BEFORE_NAME
    ):
        return True
    if word == "nothing" and follow in _HOLDING and i - begin >= 3:
        return True  # "find me something for tea | nothing with nuts"
    return (
        word == "the"
        and more
        and lexicon.classes.get(before) != "preposition"
        and norm[i + 2] in STATING
        and before not in _BEFORE_OBJECT
    )


def _closes_request(norm: list[str], i: int, names: frozenset[str]) -> bool:
    """Whether "would you" at ``i`` closes a request, as a new subject behind it shows."""
    if norm[i + 1] != "you" or norm[i] not in _TAG_VERBS:
        return False
    behind = i + 2
    while behind < len(norm) - 1 and norm[behind] in _COURTESIES:
        behind += 1
    return norm[behind] in _NEW_SUBJECTS or norm[behind] in names


_TAG_VERBS = frozenset({"would", "will", "could", "can"})
_COURTESIES = frozenset({"please", "bmo", "mate", "love", "thanks"})
_NEW_SUBJECTS = _POSSESSIVE_STARTS | {"i", "we", "he", "she", "it", "they", "the", "there"}
_OPENS_SUBJECT = _POSSESSIVE_STARTS | {"the", "one", "another"}
_FOR_ME = ["for", "me"]
_HOLDING = frozenset({"with", "containing"})


def _is_pair(norm: list[str], begin: int, i: int) -> bool:
    """Whether "and" at ``i`` joins two people: "my mum and dad"."""
    return (
        norm[i - 1] in _KIN_BEFORE_NAME
        and norm[i + 1] in _KIN_BEFORE_NAME
        and i - 2 >= begin
        and norm[i - 2] in _POSSESSIVE_STARTS
    )


def _at_coordinator(
    norm: list[str], after: list[str], begin: int, i: int, lexicon: SurfaceLexicon
) -> int:
    word = norm[i]
    follow = norm[i + 1] if i + 1 < len(norm) else ""
    behind = norm[i + 2] if i + 2 < len(norm) else ""
    comma = after[i - 1] != ""
    if not follow or after[i]:
        return 1 if comma and word in ("but", "so") else 0
    if word in lexicon.subordinators:
        return 0 if word == "because" and follow == "of" else 1
    if word == "and" and _is_pair(norm, begin, i):
        return 0  # "my mum and dad are divorced"
    if word == "and" and norm[begin] in _POSSESSIVE_STARTS and follow in _POSSESSIVE_STARTS:
        if "'s" in norm[begin:i] and norm[i + 3 : i + 4] in (["are"], ["were"], ["both"]):
            if lexicon.finite_verbs.isdisjoint(set(norm[begin:i]) - {"'s"}) and behind[-1:] != "s":
                return 0  # "my brother's wife and my wife are sisters"
    if word == "and" and norm[i - 1] == "me" and follow in _POSSESSIVE_STARTS:
        if (i - 1 == begin or after[i - 2]) and _PARTED.isdisjoint(norm[i : i + 8]):
            return 0  # "me and my sister have a stall"
    if word in ("but", "aber", "mais", "pero"):
        return 0 if follow in _QUALIFIED else 1
    if word in ("since", "while") and follow not in lexicon.clause_subjects:
        return 0
    if follow in lexicon.clause_subjects:
        return 1
    if follow in lexicon.weak_clause_subjects:
        return 1 if behind in lexicon.finite_verbs or word == "so" else 0
    if word in ("so", "and", "but") and follow == "please":
        return 1
    if word == "so" and (follow in _TOLD_TO or (follow == "do" and behind == "not")):
        # "im deaf in one ear so never whisper": an instruction after its reason.
        return 1
    if word in ("so", "plus", "then"):
        return 1 if comma else 0
    if word == "and" and follow in _BETWEEN and behind in lexicon.carried_verbs:
        return 2 if _may_carry(norm, begin, i) else 0
    plural = behind in ("are", "were") and follow not in lexicon.classes
    if word == "and" and plural and norm[i - 1] != "me":
        if not comma and lexicon.finite_verbs.isdisjoint(norm[begin:i]):
            return 0  # "salt and pepper are my favourites"
    if _nominal_subject(norm, after, i + 1, lexicon):
        return 1
    if word in ("and", "und", "et", "y"):
        if follow in lexicon.carried_verbs:
            return 2 if _may_carry(norm, begin, i) else 0
    return 0


_PARTED = frozenset("split broke broken up parted separated divorced over".split())
"""Words of what two people no longer are: read by their own construction."""
_RATHER = frozenset({"rather", "prefer", "if", "that"})
_ASKED_OF = frozenset("speak talk use keep answer do be explain call".split())
_TOLD_TO = frozenset("never always be keep speak give stick talk skip".split())
_BETWEEN = frozenset("still also now just always usually mostly never often sometimes".split())
"""Adverbs before a verb that is carried on ("she is 74 and still drives a truck")."""
_SELF = frozenset({"me", "myself", "us", "ourselves"})
STATING = frozenset({"is", "are", "was", "has"})
"""What stands behind "the" and its noun where a clause begins with them."""
_BEFORE_OBJECT = frozenset({"when", "while", "love", "like", "hate", "called"})
_AFTER_COMMA = frozenset(
    "which who please play can could what where how why do does is remember".split()
)
_SCOPES = frozenset({"for", "about"})
_MAY = frozenset({"can", "may", "could", "should"})
_GRANTED = frozenset({"fine", "ok", "okay", "alright", "cool", "good", "well"})
"""What is granted before "just do not ..."."""
_UNWANTED = frozenset("alarms calls emojis jokes messages notifications reminders texts".split())
_DETERMINERS = frozenset({"possessive", "article"})
_NOUNS_TOO = frozenset({"studies", "works", "runs", "plays", "drives", "calls"})
_SAYING = frozenset(
    "ask asked assure assured convince convinced convinces let make promise promised remind "
    "reminded reminds show showed tell telling tells told".split()
)


def _ends_phrase(norm: list[str], i: int) -> bool:
    """Whether "me" at ``i`` ends its clause ("finished for me | i am"), not "tell me i am"."""
    return norm[i] == "me" and i > 0 and norm[i - 1] not in _SAYING


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
    for k in range(verb + 1, min(size - 1, verb + 4)):
        if norm[k] in _STRANDED and norm[k + 1] in ("is", "are", "was", "were"):
            return True  # "a bloke i play football with is called lee"
    return norm[verb + 1] in ("is", "are", "was", "were", "and", "but", "most", "best", "when")


_STRANDED = frozenset("about by for from of to with".split())
"""Prepositions that what stands in front of the relative clause belongs to."""
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
        if word in lexicon.clause_subjects and lexicon.language == "en":
            return False  # "between two and six | i am asleep"
        if word in lexicon.finite_verbs:
            if j == i and word in _NOUNS_TOO and lexicon.classes.get(first) == "possessive":
                continue  # "abena finished her studies": no subject is without a noun
            if word == "left" and lexicon.classes.get(norm[j]) in _DETERMINERS:
                continue  # "i lost my hearing in my left ear"
            return True
        if word == "and" and norm[j + 2 : j + 3] and norm[j + 2] in lexicon.weak_clause_subjects:
            return False  # "i broke my right wrist and it never healed"
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
