"""Objects that belong to somebody: "i run | my father's shop" is no clause of its own."""

from __future__ import annotations

from bmo.language.lexicon import SurfaceLexicon
from bmo.language.verb_forms import base_form, past_lemma
from bmo.language.verb_group import parse_verb_group

_LONGEST_OWNER = 3
"""Words of "my older sister" that may stand before "'s"."""
_PARTICLES = frozenset("after at down for off on out over up with".split())
_STATES = frozenset(
    (
        "abroad afraid again all allergic alone also always angry asleep away back better "
        "blind both busy cross dead deaf diabetic due dying eight eighteen eighty eleven "
        "engaged expecting fifteen fifty fine five forty four fourteen free good great "
        "happy here hers his home ill in late mad mine nearly nine nineteen ninety no not "
        "off ok okay old older on one only out over poorly pregnant pretty quite ready "
        "really right scared self-employed seven seventeen seventy sick single six "
        "sixteen sixty so sober still sure ten there thirteen thirty tired too twelve "
        "twenty two vegan vegetarian very well worse younger"
    ).split()
)
"""What somebody is: behind one of these words "'s" is "is" and no possessive."""

_WITHOUT_OBJECT = frozenset({"", "agree", "be", "come", "go", "live", "retire", "sleep", "work"})
_NOUNS_IN_ING = frozenset({"baking", "building", "cooking", "handwriting", "painting", "wedding"})
_BEFORE_THINGS = frozenset({"old", "older", "younger", "late", "first", "only"})
_NO_NOUNS = ("ing", "ly", "less", "ful", "ous", "able", "ish")


def is_owned_object(
    norm: list[str], after: list[str], begin: int, i: int, lexicon: SurfaceLexicon
) -> bool:
    """Whether "my father's shop" at ``i`` is the object of the verb right before it.

    Args:
        norm: Words of the turn in normal form.
        after: The punctuation behind each.
        begin: Where the present clause began.
        i: Index of a possessive.
        lexicon: The language's surface forms.
    """
    if "'s" not in norm[i + 2 : i + 2 + _LONGEST_OWNER] or after[i - 1]:
        return False
    at = norm.index("'s", i + 2)
    if at + 1 >= len(norm) or after[at] or not _is_thing(norm, at + 1, lexicon):
        return False
    if lexicon.classes.get(norm[begin]) == "possessive":
        return _ends_with_verb(norm, begin + 2, i)  # "my sister runs | our father's shop"
    while begin < i and norm[begin] not in lexicon.clause_subjects:
        begin += 1
    group = parse_verb_group(norm, begin + 1, i)
    if group is None or group.lemma in _WITHOUT_OBJECT:
        return False
    return _PARTICLES.issuperset(norm[group.end : i])


def _ends_with_verb(norm: list[str], first: int, end: int) -> bool:
    """Whether what is said of somebody up to ``end`` is a verb, and a particle at most."""
    last = end - 2 if norm[end - 1] in _PARTICLES else end - 1
    if last < first or norm[last].endswith("ss") or base_form(norm[last]) in _WITHOUT_OBJECT:
        return False
    return norm[last].endswith("s") or past_lemma(norm[last]) != ""


def _is_thing(norm: list[str], at: int, lexicon: SurfaceLexicon) -> bool:
    """Whether a word behind "'s" may be what is owned, and is nothing that somebody is or does."""
    word = norm[at]
    if word in _BEFORE_THINGS and at + 1 < len(norm):
        at, word = at + 1, norm[at + 1]
    if word in _NOUNS_IN_ING:
        return True
    if word in lexicon.classes or word in _STATES or word.endswith(_NO_NOUNS):
        return False
    return not past_lemma(word)
