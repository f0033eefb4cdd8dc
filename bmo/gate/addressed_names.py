"""By which name the assistant addresses the user: "Hello, Margaret." speaks of nobody else.

A pronoun of the user's turn looks for a person among the assistant's words. The name the user is
called by there is the one person of whom the user never says "she".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bmo.gate.people import people_lexicon
from bmo.turn import Fact

_NAME = r"([A-Z][^\W\d_]+(?:['’-][^\W\d_]+)*)"
_GREETED = re.compile(
    r"(?:^|[.!?…]\s+|\boh )(?:[Oo]h |[Aa]h |[Ww]ell |[Gg]ood |[Vv]ery |[Mm]any |[Aa]nd )?"
    r"(?:hello|hi|hiya|hey|morning|afternoon|evening|night|day|welcome|welcome back|thanks|"
    r"thank you|bye|goodbye|cheers|dear|right|ok|okay|sure|sorry|congratulations|happy to help|"
    r"well done|nice to meet you|good to (?:see|hear from) you|there you are|you're welcome)"
    r"(?: (?:again|there|then|so much))?,? " + _NAME + r"(?=\s*(?:[.!?,;:–—-]|$))",
    re.IGNORECASE,
)
_AT_END = re.compile(r"(\w+), " + _NAME + r"\s*(?:[.!?]|$)")
_AT_FRONT = re.compile(
    r"(?:^|[.!?]\s+)" + _NAME + r", (?:(?:do|did|have|are|were|can|could|would|will|what do|"
    r"what did|how do|how are|where do|when do|which do|shall|should)\s+(?:you|i|we)|you|your|i|"
    r"i'm|i'll|i've|let me|let's)\b",
    re.IGNORECASE,
)
_SAID_OF = frozenset("name named called and or with of is was".split())
"""Words before a comma behind which a name is one of several, or tells who somebody is."""


def addressed(before: str) -> frozenset[str]:
    """Names, lower-case, by which the assistant addresses the user in its words before a turn.

    Args:
        before: The assistant's words; names written large.
    """
    if "," not in before and not _GREETED.search(before):
        return frozenset()
    kin = people_lexicon("en").last
    found = {name for name in _GREETED.findall(before) if name[:1].isupper()}
    found.update(name for name in _AT_FRONT.findall(before) if name[:1].isupper())
    for word, name in _AT_END.findall(before):
        said = word.lower()
        # "your sister, Elaine?" and "Noah, Maya." name others.
        if said not in kin and said not in _SAID_OF and not word[:1].isupper():
            found.add(name)
    return frozenset(name.lower() for name in found)


def own_names(facts: Iterable[Fact]) -> frozenset[str]:
    """The user's own names, lower-case, among facts.

    Args:
        facts: Facts of the user and others.
    """
    return frozenset(
        fact.value.lower()
        for fact in facts
        if fact.subject == "user" and fact.slot in ("name", "nickname", "called") and fact.value
    )
