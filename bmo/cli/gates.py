"""``bmo gate`` and ``bmo plan``: a single decision or plan, or one for each JSON line."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import each_turn, write_line
from bmo.cli.judged import evidence_of, evidence_row, show_evidence
from bmo.settings import load_settings
from bmo.turn import Decision, RecallPlan, Turn

TextArgument = Annotated[str | None, typer.Argument(help="What the user says.")]
JsonlOption = Annotated[
    str | None, typer.Option("--jsonl", help="File of JSON lines, or - for standard input.")
]
BeforeOption = Annotated[
    str, typer.Option("--before", help="The assistant's words before the turn.")
]
LanguageOption = Annotated[
    str | None,
    typer.Option("--language", help='What the recogniser says it is: "en", "pt-BR", ...'),
]
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("gate")(gate)
    app.command("plan")(plan)


def gate(
    text: TextArgument = None,
    jsonl: JsonlOption = None,
    before: BeforeOption = "",
    after: Annotated[str, typer.Option("--after", help="The assistant's reply.")] = "",
    language: LanguageOption = None,
    mode: Annotated[str | None, typer.Option("--mode", help="local, pattern or disabled.")] = None,
    rules: Annotated[
        Path | None, typer.Option("--rules", help="Custom rules to try (YAML).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """What the write gate makes of a turn."""
    from bmo.gate import WriteGate

    _check_language(language)
    overrides: dict[str, Any] = {}
    if mode is not None:
        overrides["gatekeeper_mode"] = mode
    if rules is not None:
        overrides["gatekeeper_custom_rules_path"] = rules
    write_gate = WriteGate.from_settings(load_settings(**overrides))
    if rules is not None and not rules.is_file():
        raise CommandError(f"--rules {str(rules)!r} is no file; name a YAML file with rules.")
    for problem in write_gate.custom_rules.problems:
        print(f"bmo: {problem}", file=sys.stderr)
    if jsonl is not None:
        for row_id, turn in each_turn(jsonl):
            write_line({"id": row_id, **decision_row(write_gate.decide(turn))})
        return
    turn = Turn(
        text=_text_or_stdin(text),
        assistant_before=before,
        assistant_after=after,
        language=language,
    )
    decision = write_gate.decide(turn)
    evidence = evidence_of(decision)
    if as_json:
        judged = {"judge": evidence_row(evidence)} if evidence is not None else {}
        write_line({"id": None, **decision_row(decision), **judged})
        return
    show_decision(Console(), decision)
    if evidence is not None:
        show_evidence(Console(), evidence)


def plan(
    text: TextArgument = None,
    jsonl: JsonlOption = None,
    before: BeforeOption = "",
    language: LanguageOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """What the read gate makes of a turn."""
    from bmo.recall import ReadGate

    _check_language(language)
    settings = load_settings()
    read_gate = ReadGate.from_settings(settings, load_judge=settings.effective_mode != "pattern")
    if jsonl is not None:
        for row_id, turn in each_turn(jsonl):
            write_line({"id": row_id, **plan_row(read_gate.plan(turn))})
        return
    turn = Turn(text=_text_or_stdin(text), assistant_before=before, language=language)
    planned = read_gate.plan(turn)
    if as_json:
        write_line({"id": None, **plan_row(planned)})
    else:
        show_plan(Console(), planned)


def _text_or_stdin(text: str | None) -> str:
    if text is not None:
        return text
    if sys.stdin.isatty():
        raise CommandError("give the words as an argument, on standard input or by --jsonl.")
    words = sys.stdin.buffer.read().decode("utf-8", errors="replace").strip()
    if not words:
        raise CommandError("standard input is empty; give the words as an argument.")
    return words


def _check_language(language: str | None) -> None:
    if language is not None and _LANGUAGE_TAG.fullmatch(language) is None:
        raise CommandError(
            f"--language {language[:40]!r} is no language code; use one such as en, de or pt-BR."
        )


def decision_row(decision: Decision) -> dict[str, Any]:
    """A decision as the documented JSON object, without its id."""
    return {
        "verdict": decision.verdict,
        "signals": list(decision.signals),
        "reason": decision.reason,
        "confidence": round(decision.confidence, 4),
        "facts": [
            {
                "text": fact.text,
                "category": fact.category,
                "slot": fact.slot,
                "value": fact.value,
                "subject": fact.subject,
                "polarity": fact.polarity,
                "kind": fact.kind,
                "op": fact.op,
            }
            for fact in decision.facts
        ],
        "elapsed_us": round(decision.elapsed_us, 1),
        "extraction_method": decision.extraction_method,
        "gate_version": decision.gate_version,
        "fallback": decision.fallback,
    }


def plan_row(planned: RecallPlan) -> dict[str, Any]:
    """A plan as the documented JSON object, without its id."""
    return {
        "recall": planned.recall,
        "trigger": planned.trigger,
        "complexity": planned.complexity,
        "intent": planned.intent,
        "budget_tokens": planned.budget_tokens,
        "slots": list(planned.slots),
        "subjects": list(planned.subjects),
        "domains": list(planned.domains),
    }


VERDICT_STYLE = {"allow": "green", "hold": "yellow", "discard": "dim"}


def show_decision(console: Console, decision: Decision) -> None:
    """A decision for people."""
    style = VERDICT_STYLE[decision.verdict]
    console.print(
        f"[{style}]{decision.verdict}[/{style}]  {escape(decision.reason)}  "
        f"[dim]{decision.confidence:.2f} · {decision.elapsed_us:.0f} us · "
        f"{escape(decision.extraction_method)}[/dim]",
        highlight=False,
    )
    console.print(f"[dim]signals[/dim] {', '.join(decision.signals)}", highlight=False)
    for fact in decision.facts:
        mark = {"assert": "+", "retract": "-", "correct": "~"}[fact.op]
        slot = f"{fact.subject} {fact.slot}" if fact.slot else fact.subject
        console.print(
            f"{mark} {escape(fact.text)}  [dim]{fact.category} · {escape(slot)} · "
            f"{escape(fact.rule_id or fact.extraction_method)} {fact.confidence:.2f}[/dim]",
            highlight=False,
        )


def show_plan(console: Console, planned: RecallPlan) -> None:
    """A plan for people."""
    word = "[green]recall[/green]" if planned.recall else "[dim]no recall[/dim]"
    console.print(
        f"{word}  {escape(planned.trigger)}  [dim]{planned.complexity} {planned.intent} · "
        f"{planned.budget_tokens} tokens · {planned.elapsed_us:.0f} us[/dim]",
        highlight=False,
    )
    for name, values in (
        ("slots", planned.slots),
        ("subjects", planned.subjects),
        ("domains", planned.domains),
    ):
        if values:
            console.print(f"[dim]{name}[/dim] {escape(', '.join(values))}", highlight=False)
