"""Details: what other clauses of the turn add to a fact.

"A puppy, a corgi, his name is tofu", "a telescope, it is an eight inch dobsonian", "the deadline
for my georgian has moved up, i want to be conversational by july".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bmo.gate.packs import load_pack
from bmo.gate.people import label_of, people_lexicon, subject_of
from bmo.turn import Fact

_SAME_ANIMAL = {"puppy": "dog", "kitten": "cat"}
_LATE = 0.95
"""Confidence of what "late" says before a relation: it says nothing else there."""
_OF_A_LANGUAGE = frozenset({"conversational", "fluent"})


def with_details(facts: tuple[Fact, ...], norm: Sequence[str]) -> tuple[Fact, ...]:
    """The facts of a turn, with what its words add to them.

    Args:
        facts: What the clauses say, each on its own.
        norm: The turn's words in normal form.
    """
    if "name" in [fact.slot for fact in facts]:
        facts = _with_breed(facts, norm)
    if not _OF_A_LANGUAGE.isdisjoint(norm):
        facts = tuple(_with_language(fact, norm) for fact in facts)
    if len(facts) > 1:
        facts = _with_due_date(facts)
    if "called" in norm:
        facts = tuple(_with_firm(fact, norm) for fact in facts)
    if "late" in norm:
        facts = _with_departed(facts, norm)
    if "thing_is" not in [fact.rule_id for fact in facts]:
        return facts
    kept: list[Fact] = []
    for fact in facts:
        if fact.rule_id == "thing_is" and kept and kept[-1].slot in ("owns", "drives"):
            text = f"{kept[-1].text}, {fact.text.partition(' is ')[2]}"
            kept[-1] = replace(kept[-1], text=text, entities=(*kept[-1].entities, *fact.entities))
        else:
            kept.append(fact)
    return tuple(kept)


def _with_departed(facts: tuple[Fact, ...], norm: Sequence[str]) -> tuple[Fact, ...]:
    """Reads "my late wife sylvia": she has died, and is nobody's living wife."""
    people, words = people_lexicon("en"), list(norm)
    for i in range(1, len(words) - 1):
        if words[i] != "late" or words[i - 1] not in ("my", "our"):
            continue
        found = people.relation_at(words, i + 1, len(words))
        if found is None or found[0].plural:
            continue
        relation, behind = found
        theirs = [fact for fact in facts if fact.subject.partition(":")[0] == subject_of(relation)]
        name = next((fact.value for fact in theirs if fact.slot == "name"), "")
        if not name and behind < len(words) and words[behind] in people.names:
            name = words[behind].title()
        subject = subject_of(relation, name)
        departed = Fact(
            text=f"{label_of(subject, name)} has died",
            category="relationships",
            slot="deceased",
            value="died",
            subject=subject,
            cardinality="one",
            confidence=_LATE,
            rule_id="late",
            extraction_method="pattern:late",
            entities=(name,) if name else (),
        )
        kept = [fact for fact in facts if not (fact in theirs and fact.slot in ("name", "has"))]
        if not any(fact.slot == "deceased" for fact in theirs):
            kept.append(departed)
        facts = tuple(kept)
    return facts


def _with_breed(facts: tuple[Fact, ...], norm: Sequence[str]) -> tuple[Fact, ...]:
    """Reads "Has a dog named Schnitzel, a dachshund" where the turn names one pet and its breed."""
    named = [fact for fact in facts if fact.slot == "name" and fact.op != "retract"]
    if not named:
        return facts
    people = people_lexicon("en")
    pets = []
    for fact in named:
        relation = people.forms.get((fact.subject.partition(":")[0].rpartition(".")[2],))
        if relation is not None and relation.pet:
            pets.append((fact, relation.name))
    if len(pets) > 1 and len({animal for _, animal in pets}) == 1:
        return _with_breed_of_all(facts, norm, pets[0][1])
    if len(pets) != 1:
        return facts
    fact, animal = pets[0]
    animal = _SAME_ANIMAL.get(animal, animal)
    for i in range(len(norm) - 1):
        if norm[i] not in ("a", "an"):
            continue
        found = people.relation_at(list(norm), i + 1, len(norm))
        if found is None or found[0].plural or found[0].name != animal:
            continue
        breed = " ".join(norm[i + 1 : found[1]])
        if breed in (animal, *_PLAIN_WORDS):
            continue
        told = replace(fact, text=f"{fact.text}, {norm[i]} {breed}")
        return tuple(told if one is fact else one for one in facts)
    return facts


def _with_breed_of_all(
    facts: tuple[Fact, ...], norm: Sequence[str], animal: str
) -> tuple[Fact, ...]:
    """Reads "two kelpies, smoko and bindi" as a kelpie each."""
    people, words = people_lexicon("en"), list(norm)
    for i in range(len(words)):
        found = people.relation_at(words, i, len(words))
        if found is None or not found[0].plural or found[0].name != animal:
            continue
        several = " ".join(words[i : found[1]])
        ones = (several.removesuffix("s"), f"{several[:-3]}y", several.removesuffix("es"))
        breed = next((one for one in ones if tuple(one.split()) in people.forms), animal)
        if breed == animal or breed in _PLAIN_WORDS:
            return facts
        article = "an" if breed[0] in "aeiou" else "a"
        return tuple(
            replace(fact, text=f"{fact.text}, {article} {breed}") if fact.slot == "name" else fact
            for fact in facts
        )
    return facts


def _with_due_date(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Reads "ola is pregnant, the baby is due in september" as one fact about Ola."""
    expecting = next((fact for fact in facts if fact.slot == "pregnant"), None)
    due = next((fact for fact in facts if fact.slot == "due_date"), None)
    if expecting is None or due is None or " due " not in f"{due.text} ":
        return facts
    when = due.text.partition(" due ")[2]
    told = replace(
        expecting,
        text=f"{expecting.text}, due {when}",
        slot="due_date",
        value=due.value,
        when=due.when,
        entities=(*expecting.entities, *due.entities),
    )
    return tuple(told if fact is expecting else fact for fact in facts if fact is not due)


def _with_firm(fact: Fact, norm: Sequence[str]) -> Fact:
    """Reads "for a shipping company, its called baltlog" with the company's name.

    The same of "at a logistics startup called ferrywell in leeds".
    """
    if fact.slot != "employer" or not fact.value.startswith(("a ", "an ")):
        return fact
    at = next((i for i in range(2, len(norm)) if tuple(norm[i - 2 : i + 1]) == _IS_CALLED), 0)
    end = len(norm)
    if not at:
        said = fact.value.lower().split()
        at = norm.index("called")
        if list(norm[at - len(said) : at]) != said:
            return fact
        end = next((i for i in range(at + 1, end) if norm[i] in _BEHIND_FIRM), end)
    name = norm[at + 1 : end]
    if not 0 < len(name) <= _FIRM_WORDS:
        return fact
    shown = " ".join(word.capitalize() for word in name)
    return replace(
        fact,
        text=f"{fact.text} called {shown}",
        value=shown,
        entities=(*fact.entities, shown.lower()),
    )


_IS_CALLED = ("it", "is", "called")
_FIRM_WORDS = 3
_BEHIND_FIRM = frozenset("in and but which who that where i it since for on at as so".split())
_PLAIN_WORDS = ("doggo", "kitty", "mongrel", "mutt", "pup")


def _with_language(fact: Fact, norm: Sequence[str]) -> Fact:
    """Reads "conversational by july" with the language that the turn speaks of."""
    languages = load_pack("en").lexicons.get("languages", frozenset())
    said = [word for word in norm if (word,) in languages]
    if fact.op == "retract" or len(set(said)) != 1 or said[0] in fact.text.lower():
        return fact
    for cue in _OF_A_LANGUAGE:
        if cue in fact.text.lower().split():
            language = f"{cue} in {said[0].capitalize()}"
            return replace(
                fact,
                text=fact.text.replace(cue, language, 1),
                value=fact.value.replace(cue, language, 1),
            )
    return fact
