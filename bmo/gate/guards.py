"""The guards of the write gate in their order: what rules settle before the encoder is asked.

Length cap, masking of secrets and identifiers, custom skip rules, injection firewall, skip
signals, orders, custom keep rules, published signals, language. Pure and quick: they run on the
event loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bmo.gate.custom_rules import CustomRules
from bmo.gate.firewall import attack
from bmo.gate.identifiers import masked_identifiers
from bmo.gate.mentions import content
from bmo.gate.orders import (
    Order,
    days_of,
    is_standing_wish,
    meant,
    put_right,
    read_order,
    taken_back,
)
from bmo.gate.published_signals import PublishedSignals, published_signals
from bmo.gate.secrets import bare_secret, scan
from bmo.gate.slots import with_value
from bmo.gate.small_talk import SmallTalk, small_talk
from bmo.language import (
    MAX_CHARACTERS,
    LanguageCode,
    clean,
    identify,
    without_fillers,
)
from bmo.language.domains import domain_of
from bmo.settings import GatekeeperMode, SensitivePolicy, Settings
from bmo.turn import (
    MASKS,
    WITHHOLD_RULE,
    Category,
    Decision,
    DialogueContext,
    Fact,
    Kind,
    Signal,
    Turn,
    Verdict,
)

_LONGEST_TURN = 10 * MAX_CHARACTERS
"""A turn of more characters was not spoken: it is held, and its begin alone is written down."""
_FEW_WORDS = 3
"""A turn with an identifier and no more content words beside it says nothing else."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A turn behind the guards.

    Attributes:
        turn: The turn with its words and the assistant's masked, and cut to what is read.
        ruling: What a guard decided, or None: the turn is open.
        language: Language of the turn; None when it is one the encoder was not taught.
        published: The published signals.
        takes_back: What it erases beside what is made of it ("scratch that, i live in bergen").
    """

    turn: Turn
    ruling: Decision | None
    language: LanguageCode | None = "en"
    published: PublishedSignals = field(default_factory=PublishedSignals)
    takes_back: tuple[Fact, ...] = ()


def mask(
    text: str, policy: SensitivePolicy = "drop", asked: str = "", known: set[str] | None = None
) -> tuple[str, int]:
    """Text as it may be written down, and how much of it was masked.

    Args:
        text: Any words.
        policy: BMO_SENSITIVE: "keep" leaves identifiers; secrets are masked under every policy.
        asked: The assistant's words before.
        known: Secrets of the visit: what was told before is masked again, what is new is added.
    """
    found = scan(text, asked, known or ())
    if known is not None:
        known.update(found.values)
    if policy == "keep":
        return found.masked, len(found.spans)
    masked, identifiers = masked_identifiers(found.masked)
    return masked, len(found.spans) + identifiers


class NotStorable(ValueError):
    """Words that a person gives to memory and that no memory may hold; the message says why."""


def guard(turn: Turn, context: DialogueContext, settings: Settings, custom: CustomRules) -> Guarded:
    """Passes a turn through all guards.

    Args:
        turn: What was said, as it was said.
        context: For orders: what may be meant.
        settings: Mode, policies, thresholds.
        custom: Rules of the deployment.
    """
    asked = ""
    if turn.assistant_before:
        asked = scan(clean(turn.assistant_before)[-MAX_CHARACTERS:]).masked
    found = scan(clean(turn.text)[:MAX_CHARACTERS], asked)
    text, identifiers = found.masked, 0
    if settings.bmo_sensitive != "keep":
        text, identifiers = masked_identifiers(text)
        asked, _ = masked_identifiers(asked)
    overlong = len(turn.text) > _LONGEST_TURN
    steers = attack(text, asked)
    if asked and attack(asked) is not None:
        asked = ""
    if (text, asked) != (turn.text, turn.assistant_before):
        turn = replace(turn, text=text, assistant_before=asked)
    if settings.effective_mode == "disabled":
        return Guarded(turn, raw_ruling(turn, "gatekeeper disabled"))
    if not any(char.isalnum() for char in text):
        return Guarded(turn, by_rule("discard", ("other",), "no words", 1.0, "skip.wordless"))
    if overlong:
        return Guarded(turn, by_rule("hold", ("other",), "too long", 1.0, "guard.length"))
    standing, of_before = _standing(text, context)
    takes_back: tuple[Fact, ...] = ()
    if standing != text:
        turn = replace(turn, text=(text := standing))
    if of_before:
        takes_back = _forget(Order("forget_last"), context, turn).facts
    ruling = _sensitive(turn, bare_secret(found), identifiers, settings)
    ruling = ruling or _skipped_by_custom_rule(turn, custom)
    if ruling is None and steers is not None:
        ruling = by_rule("hold", ("injection",), "injection", 0.95, steers)
    skipped = small_talk(text) if ruling is None else None
    ruling = ruling or _small_talk(turn, skipped, settings) or _order(turn, context)
    ruling = ruling or _kept_by_custom_rule(turn, custom)
    if ruling is not None:
        return Guarded(turn, ruling, takes_back=takes_back)
    published = published_signals(text, turn.assistant_after)
    if skipped is not None and skipped.signal == "greeting":
        # Past GATEKEEPER_GREETING_LENGTH_LIMIT its length says that there is more in it.
        published = PublishedSignals(("greeting",), "greeting past its limit")
    language = identify(
        text, tag=turn.language, setting=settings.bmo_language, previous=turn.assistant_before
    )
    if language is None:
        ruling = by_rule("hold", ("other",), "language", 0.5)
    elif published.sarcastic:
        ruling = by_rule("hold", (*published.keep, "other"), "sarcasm", 0.7, "published.sarcasm")
    return Guarded(turn, ruling, language, published, takes_back)


def by_rule(
    verdict: Verdict,
    signals: tuple[Signal, ...],
    reason: str,
    confidence: float,
    rule_id: str = "",
    facts: tuple[Fact, ...] = (),
) -> Decision:
    """What a rule decides; ``rule_id`` names it, "" where none vouches for the turn."""
    method = f"pattern:{rule_id}" if rule_id else "pattern"
    return Decision(verdict, signals, reason, confidence, rule_id, facts, extraction_method=method)


def raw_ruling(turn: Turn, reason: str) -> Decision:
    """Everything is stored in the words it was said in."""
    fact = words_fact(turn, "personal_facts", 0.5, "raw")
    return Decision("allow", ("other",), reason, 0.5, facts=(fact,), extraction_method="raw")


def words_fact(
    turn: Turn,
    category: Category,
    confidence: float,
    method: str,
    *,
    text: str = "",
    rule_id: str = "",
) -> Fact:
    """A memory in the user's words, with the words they answer.

    Args:
        turn: The turn, masked.
        category: Where it belongs.
        confidence: 0..1.
        method: What vouches for it.
        text: The part that is kept; "" is the whole turn.
        rule_id: The rule that kept it.
    """
    words = without_fillers(text or turn.text, turn.language or "en")
    return Fact(
        text=words,
        category=category,
        said=turn.text,
        asked=turn.assistant_before,
        kind=kind_of(words, category),
        subject="team" if category == "policies" else "user",
        confidence=confidence,
        rule_id=rule_id,
        extraction_method=method,
        domain=domain_of(words),
    )


def kind_of(words: str, category: Category) -> Kind:
    """How a memory is used: wishes about form and conduct are hard rules."""
    if category in ("preferences", "policies") and is_standing_wish(words):
        return "hard_rule"
    if category == "preferences":
        return "preference"
    return "policy" if category == "policies" else "fact"


def _sensitive(turn: Turn, bare: bool, identifiers: int, settings: Settings) -> Decision | None:
    """A turn that is nothing but a secret, or, by BMO_SENSITIVE=drop, little but identifiers."""
    if bare:
        return by_rule("discard", ("sensitive",), "secret", 1.0, "guard.secret")
    # Words that were written down come masked: they are decided as they were.
    any_masked = identifiers or any(mask in turn.text for mask in MASKS[1:3])
    if not any_masked or settings.bmo_sensitive != "drop":
        return None
    rest = turn.text
    for mask in MASKS[:3]:
        rest = rest.replace(mask, " ")
    if len(content(rest)) > _FEW_WORDS:
        return None
    return by_rule("discard", ("sensitive",), "personal identifier", 1.0, "guard.identifier")


def _skipped_by_custom_rule(turn: Turn, custom: CustomRules) -> Decision | None:
    found = custom.match_skip(turn.text) if custom.skip else None
    return by_rule("discard", ("other",), found.reason, 1.0, found.id) if found else None


def _small_talk(turn: Turn, found: SmallTalk | None, settings: Settings) -> Decision | None:
    """Small talk, unless it may answer the assistant's question; no greeting past its limit."""
    limit = settings.gatekeeper_greeting_length_limit
    if found is None or (found.kind == "greeting" and len(turn.text) >= limit):
        return None
    answers = found.signal == "confirmation" and found.kind not in ("thanks", "dismissal")
    if "?" in turn.assistant_before and answers:
        return None
    return by_rule("discard", (found.signal,), found.reason, 0.99, found.rule_id)


def _order(turn: Turn, context: DialogueContext) -> Decision | None:
    order = read_order(turn.text)
    if order is None:
        return None
    if order.kind == "show":
        return by_rule("discard", ("command",), "asked what is remembered", 0.95, "order.show")
    if order.kind == "remember":
        fact = words_fact(turn, "personal_facts", 0.95, "pattern:order.remember", text=order.what)
        fact = replace(fact, rule_id="order.remember")
        return by_rule("allow", ("remember",), "asked to remember", 0.95, fact.rule_id, (fact,))
    if order.kind == "withhold":
        return _withhold(turn, order)
    if order.kind == "unkept":
        return by_rule("allow", ("forget",), "asked not to keep it", 0.95, "order.unkept")
    ruling = _forget(order, context, turn)
    # Without a wish that is taken back it is no order.
    return ruling if ruling.facts or order.kind != "lift" else None


def _standing(text: str, context: DialogueContext) -> tuple[str, bool]:
    """What of a turn's words stands, and whether it takes the place of what was told before.

    Behind an order to take something back may stand one value: "scratch that, bergen".
    """
    back = taken_back(text)
    if back is None:
        right = put_right(text, context)
        return right or text, bool(right)
    if not back.after:  # an order alone
        return text, False
    before = back.before or next((said for said, _ in context.recent_turns), "")
    return with_value(before, back.after), not back.before


def _withhold(turn: Turn, order: Order) -> Decision:
    fact = words_fact(turn, "preferences", 0.95, f"pattern:{WITHHOLD_RULE}", rule_id=WITHHOLD_RULE)
    fact = replace(fact, kind="hard_rule", value=order.what)
    return by_rule(
        "allow", ("preference",), "asked never to bring it up", 0.95, WITHHOLD_RULE, (fact,)
    )


def _forget(order: Order, context: DialogueContext, turn: Turn) -> Decision:
    """A request to forget, or a wish that is taken back."""
    scope, ends = meant(order, context)
    rule_id = f"order.{order.kind}"
    facts: tuple[Fact, ...] = ()
    # Of days and of everything the ledger knows what is meant; of somebody, what became no memory.
    if ends or scope in ("period", "all") or order.kind == "forget_subject":
        request = Fact(
            text=order.what or order.kind.replace("_", " "),
            category="personal_facts",
            op="retract",
            ends=ends,
            scope=scope,
            days=days_of(order, turn.at),
            rule_id=rule_id,
            extraction_method=f"pattern:{rule_id}",
        )
        facts = (request,)
    if order.kind == "lift":
        return by_rule("allow", ("preference",), "may be brought up again", 0.95, rule_id, facts)
    return by_rule("allow", ("forget",), "asked to forget", 0.95, rule_id, facts)


def _kept_by_custom_rule(turn: Turn, custom: CustomRules) -> Decision | None:
    found = custom.match_keep(turn.text, turn.assistant_after) if custom.keep else None
    if found is None:
        return None
    rule, text = found
    method = f"pattern:{rule.id}"
    fact = words_fact(turn, rule.category or "decisions", 1.0, method, rule_id=rule.id)
    # A category of the deployment's own is the domain.
    fact = replace(fact, domain=None if rule.category else rule.label)
    if text is not None:
        fact = replace(fact, text=text, slot=rule.label, value=text)
    return by_rule("allow", ("other",), rule.reason, 1.0, rule.id, (fact,))


def open_mode(mode: GatekeeperMode) -> bool:
    """Whether the encoder looks at what the guards leave open."""
    return mode in ("local", "hybrid", "llm")
