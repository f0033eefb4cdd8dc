"""What the offline responder says: it quotes memories, and says what became of a turn. Pure.

An answer is the user's own words with their day. Nothing is put into other words, so nothing can
be said that the user did not say.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from importlib import resources
from textwrap import shorten
from typing import Any

from bmo.chat.outcome import Outcome
from bmo.gate.orders import read_order
from bmo.gate.small_talk import small_talk
from bmo.language import LanguageCode, spoken
from bmo.quotation import answered, is_words, one_line, quotation
from bmo.recall.people import ANYBODY, speaks_of
from bmo.turn import WITHHOLD_RULE, RecalledMemory, RecallPlan, StoredFact

MOST_QUOTED = 3
"""Memories quoted in one answer; a wide question says how many more there are."""

SURE = 0.3
"""P(answers) from which a memory is quoted; a model that reads the context may pass over a wrong
one, a quotation cannot."""

CLOSE = 0.08
"""How far below the best one another memory may be to be quoted too."""

MOST_NAMED = 4
"""Memories named that a request to forget is about."""

LONGEST_QUOTE = 240
"""Characters of a quotation; of longer words the rest is left out."""

_NOT_KEPT = {
    "secret": "secret",
    "personal identifier": "identifier",
    "no words": "no_words",
    "injection": "steering",
}
_HELD = {"language": "language"}
_PLEASANTRIES = {
    "greeting": "hello",
    "goodbye": "goodbye",
    "thanks": "welcome",
    "channel_check": "again",
}
_OWN_WORDS = {
    "off record": "off_record",
    "on record": "on_record",
    "erasure confirmed": "erased",
    "erasure cancelled": "not_erased",
    "off the record, this turn": "unkept",
}
"""Why memory itself decided on an utterance -> what is said to it."""
_ASKING = frozenset({"own_fact_question", "explicit_prompt", "follow_up"})
_IDENTIFIER = re.compile(r"\[(?!secret)[a-z -]+\]")
_NAME = re.compile(
    r"^- (?:Is named|Prefers to be called) (?P<name>[^(\n]+?)(?: \(|$)", re.MULTILINE
)
_NOTICE = re.compile(r"<memory_notice>(.*?)</memory_notice>", re.DOTALL)


def reply(
    words: str,
    blocks: Sequence[str],
    outcome: Outcome | None,
    language: LanguageCode,
    now: datetime,
    asked: str = "",
) -> str:
    """What is said to a turn.

    Args:
        words: The user's words.
        blocks: The memory blocks in the model's context, profile first.
        outcome: What became of the turn; None where nobody knows: then the lines of the recalled
            block are read out, and nothing is claimed.
        language: Of the phrases; memories stay in the language they were said in.
        now: The present moment.
        asked: The assistant's words before.
    """
    says = _phrases(language)
    about_memory = _about_memory(outcome, says) if outcome is not None else ""
    notices = [_as_speech(text) for block in blocks for text in _NOTICE.findall(block)]
    if about_memory or notices:
        return about_memory or " ".join(notices)
    about_itself = _about_itself().get(spoken(words))
    if about_itself is not None:
        return about_itself
    if outcome is None:
        return " ".join(_recalled_lines(blocks)) or _heard(words, blocks, says, asked)
    refused = _about_a_request(words, outcome, says)
    if refused:
        return refused
    plan = outcome.recall.plan if outcome.recall is not None else None
    changed = _changed(outcome, says)
    asks = words.rstrip().endswith("?") or _is_question(plan)
    wants = asks or _is_command(outcome, plan)
    held = outcome.decision is not None and outcome.decision.verdict == "hold"
    if asks or not (changed or held):
        quoted = _quotations(outcome, says, now)
        if quoted:
            return " ".join([*quoted, *([] if asks or not wants else [says["more_needs_model"]])])
    if changed:
        return changed
    talk = small_talk(words)
    if wants and not (talk is not None and talk.kind in _PLEASANTRIES):
        if _is_withheld(outcome):
            return says["withheld"]
        of_memory = asks and plan is not None and plan.recall
        return says["late" if outcome.late else "not_known" if of_memory else "no_model"]
    if held and outcome.decision is not None:
        return says[_HELD.get(outcome.decision.reason, "heard")]
    return _heard(words, blocks, says, asked)


def _about_memory(outcome: Outcome, says: Mapping[str, str]) -> str:
    """What is said to words that were meant for memory itself; "" elsewhere."""
    decision, recorded = outcome.decision, outcome.recorded
    if decision is not None and decision.extraction_method == "session":
        if decision.reason == "record state":
            return says["still_on"] if outcome.kept else f"{says['still_off']} {says['until']}"
        return says.get(_OWN_WORDS.get(decision.reason, ""), "")
    if recorded is None or recorded.pending_erasure is None:
        return ""
    pending = recorded.pending_erasure
    told = [fact for fact in pending.facts if fact.rule_id != WITHHOLD_RULE] or pending.facts
    wish = [says["and_wish"]] if len(told) < len(pending.facts) else []
    days = [says["and_days"]] if pending.scope == "period" else []
    asked = says["would_forget"].format(count=len(told), what=_named(told, says))
    return " ".join([asked, *wish, *days, says["shall_erase"]])


def _named(facts: Sequence[StoredFact], says: Mapping[str, str]) -> str:
    """Some memories as they are shown, the first few of them."""
    named = "; ".join(quotation(fact) for fact in facts[:MOST_NAMED])
    more = says["and_more"].format(count=len(facts) - MOST_NAMED)
    return f"{named} {more}" if len(facts) > MOST_NAMED else named


def _is_withheld(outcome: Outcome) -> bool:
    """Whether what would answer is never to be brought up."""
    left = outcome.recall.left_out if outcome.recall is not None else ()
    return any(memory.why == "withheld" and (memory.answers or 0.0) >= SURE for memory in left)


def _about_a_request(words: str, outcome: Outcome, says: Mapping[str, str]) -> str:
    """What is said where nothing is kept, or something is to be forgotten; "" elsewhere."""
    decision, recorded = outcome.decision, outcome.recorded
    forgets = decision is not None and "forget" in decision.signals
    if not outcome.kept and not forgets and not words.rstrip().endswith("?"):
        return f"{says['unkept']} {says['until']}"
    if decision is None:
        return ""
    if decision.rule_id == "order.lift":
        return says["brought_up_again"]
    if forgets and not (recorded is not None and recorded.added):
        receipt = recorded.receipt if recorded is not None else None
        gone = [ended.fact for ended in recorded.ended] if recorded is not None else []
        if gone or (receipt is not None and any(receipt.places.values())):
            return f"{says['forgotten']} {_named(gone, says)}." if gone else says["gone"]
        order = read_order(words)
        looked = [says["looked_for"].format(what=order.what)] if order and order.what else []
        return " ".join([says["nothing_to_forget"], *looked])
    if decision.verdict == "allow":
        return ""
    if decision.reason in _NOT_KEPT:
        return says[_NOT_KEPT[decision.reason]]
    if "[secret]" in decision.text:
        return says["secret"]
    if decision.verdict == "hold":
        return ""
    return says["identifier"] if _IDENTIFIER.search(decision.text) else ""


def _changed(outcome: Outcome, says: Mapping[str, str]) -> str:
    """One sentence on what a turn changed in memory, "" when it changed nothing."""
    done, decision = outcome.recorded, outcome.decision
    if done is None or decision is None:
        return ""
    if done.added:
        withheld = decision.rule_id == WITHHOLD_RULE
        said = [says["not_brought_up" if withheld else "kept"]]
        said += [says["conflict"]] if done.conflicts else []
        said += [says["beside_secret"]] if "[secret]" in decision.text else []
        return " ".join(said)
    if done.confirmed:
        return says["known"]
    return says["past"] if done.ended else ""


def _quotations(outcome: Outcome, says: Mapping[str, str], now: datetime) -> list[str]:
    """The memories that answer the turn.

    Standing wishes come with every recall and answer nothing but "what do you know about me"; what
    this very turn ended is over.
    """
    if outcome.recall is None:
        return []
    plan, recorded = outcome.recall.plan, outcome.recorded
    over = {ended.fact.id for ended in recorded.ended} if recorded is not None else set()
    chosen = [
        memory
        for memory in outcome.recall.memories
        if (memory.fact.kind != "hard_rule" or memory.why == "slot" or plan.include_all)
        and memory.fact.id not in over
        and (memory.fact.valid_until is None or plan.include_past)
    ]
    told: dict[str, StoredFact] = {}
    for memory in _answering(chosen, plan):
        told.setdefault(memory.fact.said or memory.fact.text, memory.fact)
    best = list(told.values())[:MOST_QUOTED]
    said = [_quoted(fact, says, now) for fact in best]
    if plan.include_all and len(chosen) > len(best):
        said.append(says["more"].format(count=len(chosen) - len(best)))
    return said


def _answering(chosen: Sequence[RecalledMemory], plan: RecallPlan) -> list[RecalledMemory]:
    """Those of the chosen memories that answer, as they are to be quoted.

    What stands in the slot that was asked for is the answer, the newest first, and so is what
    speaks of the person who was asked about ("did i tell you about my brother": of him or not at
    all). For other questions it is the likeliest by P(answers), and what is about as likely: of
    two that cannot both hold the newer stands first.
    """
    if plan.trigger == "own_fact_question":  # "where does my son work": what speaks of the son
        chosen = [m for m in chosen if speaks_of(m.fact, plan.subjects)] or chosen
    likeliest = sorted(chosen, key=lambda memory: -_chance(memory))
    if plan.include_all:
        return sorted(likeliest, key=lambda memory: memory.fact.slot is None)
    newest = sorted(chosen, key=lambda memory: memory.fact.valid_from, reverse=True)
    slotted = [memory for memory in newest if memory.why == "slot"]
    of_person = [memory for memory in likeliest if memory.why == "person"]
    known = plan.trigger == "explicit_prompt" and not all(map(_is_topic, plan.subjects))
    if slotted or of_person or known:
        return slotted or of_person
    least = max(SURE, _chance(likeliest[0]) - CLOSE) if likeliest else SURE
    return [memory for memory in newest if _chance(memory) >= least]


def _is_topic(subject: str) -> bool:
    """Whether a subject is a word that was asked about, and no person or relation."""
    return subject.startswith(ANYBODY)


def _chance(memory: RecalledMemory) -> float:
    """P(answers), or the score where nothing was asked for it."""
    return memory.score if memory.answers is None else memory.answers


def _quoted(fact: StoredFact, says: Mapping[str, str], now: datetime) -> str:
    """A memory in a sentence: the words it came from, or the note that a version before made."""
    words = fact.text if is_words(fact) else fact.said
    if not words or (len(words) > LONGEST_QUOTE and not is_words(fact)):
        said = says["noted"].format(when=_when(fact, says, now), words=one_line(fact.text))
    else:
        asked = answered(replace(fact, text=words))
        said = says["answered" if asked else "told"].format(
            when=_when(fact, says, now),
            words=shorten(one_line(words), LONGEST_QUOTE, placeholder=" …"),
            asked=asked,
        )
    return f"{said} {says['ended']}" if fact.valid_until is not None else said


def _when(fact: StoredFact, says: Mapping[str, str], now: datetime) -> str:
    at = fact.valid_from
    if at.date() == now.date():
        return says["today"]
    pattern = says["day" if at.year == now.year else "day_of_year"]
    month = says["months"].split()[at.month - 1]
    return pattern.format(day=at.day, month=month, year=at.year)


def _is_question(plan: RecallPlan | None) -> bool:
    return plan is not None and (plan.intent == "question" or plan.trigger in _ASKING)


def _is_command(outcome: Outcome, plan: RecallPlan | None) -> bool:
    """Whether something is to be done, for which a language model would be needed."""
    told = outcome.decision is not None and "command" in outcome.decision.signals
    return told or (plan is not None and plan.intent == "generation")


def _heard(words: str, blocks: Sequence[str], says: Mapping[str, str], asked: str) -> str:
    """What is said to small talk, with the name where it is known, and to all that is left."""
    if not any(char.isalnum() for char in words):
        return says["no_words" if words.strip() else "heard"]
    talk = small_talk(words)
    found = next((hit for block in blocks for hit in _NAME.finditer(block)), None)
    name = f", {found[1].strip()}" if found else ""
    kind = _PLEASANTRIES.get(talk.kind, "heard") if talk else "heard"
    kind = "heard" if kind == "again" and not asked else kind
    return says[kind].format(name=name, asked=one_line(asked))


def _recalled_lines(blocks: Sequence[str]) -> list[str]:
    """The memories of the recalled block as they stand there."""
    recalled = [block for block in blocks if not block.startswith("<profile>")]
    lines = [line for block in recalled for line in block.splitlines() if line.startswith("- ")]
    return [f"{line.removeprefix('- ')}." for line in lines[:MOST_QUOTED]]


def _as_speech(notice: str) -> str:
    """A line that memory wants said ("... Ask whether to erase them for good."), as speech."""
    asked = notice.replace("Ask whether to erase them for good.", "Shall I erase them for good?")
    return asked.removesuffix("Say so.").rstrip()


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((resources.files("bmo.chat") / "phrases.toml").read_text("utf-8"))


def _phrases(language: LanguageCode) -> Mapping[str, str]:
    """The phrases of a language, English where it has none of its own."""
    return {**_table()["en"], **_table()[language]}


@cache
def _about_itself() -> Mapping[str, str]:
    """Whole questions about the responder itself -> their answer, in every language."""
    return {
        spoken(asked): table[kind]
        for table in _table().values()
        for kind in ("about", "source")
        for asked in table[f"{kind}_asked"]
    }
