"""What the published signals make of the rules' verdict: more signals, sarcasm, short exchanges."""

from __future__ import annotations

from bmo.gate.published_signals import is_work_advice, signals_and_sarcasm
from bmo.gate.turn_pieces import MAY_SIGNAL
from bmo.gate.verdict import RulesVerdict
from bmo.settings import Settings
from bmo.turn import Turn


def with_published_signals(
    verdict: RulesVerdict, turn: Turn, settings: Settings, told: int
) -> RulesVerdict:
    """Adds the published keep signals; a short exchange without any carries nothing.

    Args:
        verdict: The rules' verdict.
        turn: What was said.
        settings: What a short exchange is.
        told: What the turn's pieces tell (``read_pieces``).
    """
    if verdict.verdict == "discard":
        if verdict.signals[:1] == ("command",) and is_work_advice(turn.text):
            return verdict._replace(verdict="hold", reason="work advice", open=True)
        return verdict
    if not told & MAY_SIGNAL and not turn.assistant_after:
        return verdict  # most turns
    found, sarcastic = signals_and_sarcasm(turn.text, turn.assistant_after)
    if verdict.verdict == "allow" and sarcastic:
        return verdict._replace(verdict="hold", reason="sarcasm", facts=(), open=False)
    if found:
        known = [s for s in verdict.signals if s != "other"]
        signals = (*known, *[s for s in found if s not in known])
        return tuple.__new__(RulesVerdict, (verdict[0], signals, *verdict[2:]))
    short = (
        verdict.verdict == "hold"
        and turn.assistant_after != ""
        and len(turn.text.strip()) < settings.gatekeeper_short_user_threshold
        and len(turn.assistant_after.strip()) < settings.gatekeeper_short_assistant_threshold
    )
    if short:
        return verdict._replace(verdict="discard", reason="short exchange", open=False)
    return verdict
