"""``bmo gate`` and ``bmo plan``: a single decision or plan, or one for each JSON line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import each_turn, row_of, write_line
from bmo.cli.options import AskedOption, LanguageOption, ModeOption, ObjectOption
from bmo.cli.tables import VERDICT_STYLE, screen, shown
from bmo.quotation import quotation
from bmo.settings import load_settings
from bmo.turn import Assessment, Decision, RecallPlan, Turn

if TYPE_CHECKING:
    from bmo.gate import WriteGate

TextArgument = Annotated[str | None, typer.Argument(help="What the user says.")]
JsonlOption = Annotated[
    str | None, typer.Option("--jsonl", help="File of JSON lines, or - for standard input.")
]
ODDS = ("allow", "hold", "discard", "read_need", "steers")

app = typer.Typer()


@app.command("gate")
def gate(
    text: TextArgument = None,
    jsonl: JsonlOption = None,
    asked: AskedOption = "",
    after: Annotated[str, typer.Option(help="The assistant's reply.")] = "",
    language: LanguageOption = None,
    mode: ModeOption = None,
    rules: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Custom rules to try (YAML).")
    ] = None,
    as_json: ObjectOption = False,
) -> None:
    """What the write gate makes of a turn; --mode hybrid or llm asks the model behind it, too."""
    from bmo.gate import WriteGate

    given = {"gatekeeper_mode": mode, "gatekeeper_custom_rules_path": rules}
    settings = load_settings(**{name: value for name, value in given.items() if value is not None})
    write_gate = WriteGate.from_settings(settings)
    unasked: tuple[str, ...] = ()
    if mode is None and settings.effective_mode in ("hybrid", "llm"):
        from bmo.extract import Orchestrator

        unasked = Orchestrator.from_settings(settings, write_gate).notices
    _warn(*write_gate.custom_rules.problems, write_gate.encoder_problem, *unasked)
    if rules is not None and not all(one.works for one in write_gate.custom_rules.problems):
        raise CommandError(f"--rules {str(rules)!r} has what is named above; mend it.")
    if jsonl is not None:
        _each_line(jsonl, text, lambda turn: decision_row(_decided(write_gate, turn, mode)))
        return
    words = _text_or_stdin(text)
    turn = Turn(text=words, assistant_before=asked, assistant_after=after, language=language)
    decision = _decided(write_gate, turn, mode)
    if as_json:
        seen = decision.assessment
        odds = {"judge": odds_row(seen)} if seen else {}
        write_line({"id": None, **decision_row(decision), **odds})
    else:
        show_decision(screen(), decision)


@app.command("plan")
def plan(
    text: TextArgument = None,
    jsonl: JsonlOption = None,
    asked: AskedOption = "",
    language: LanguageOption = None,
    as_json: ObjectOption = False,
) -> None:
    """What the read gate makes of a turn."""
    from bmo.recall import ReadGate

    settings = load_settings()
    if settings.gatekeeper_custom_rules_path is not None:
        from bmo.gate.custom_rules import load_custom_rules

        _warn(*load_custom_rules(settings.gatekeeper_custom_rules_path).problems)
    read_gate = ReadGate.from_settings(settings, load_encoder=settings.effective_mode != "pattern")
    if jsonl is not None:
        _each_line(jsonl, text, lambda turn: plan_row(read_gate.plan(turn)))
        return
    turn = Turn(text=_text_or_stdin(text), assistant_before=asked, language=language)
    planned = read_gate.plan(turn)
    if as_json:
        write_line({"id": None, **plan_row(planned)})
    else:
        show_plan(screen(), planned)


def _warn(*problems: object) -> None:
    """Says on standard error what is wrong; nothing where there is nothing."""
    for problem in filter(None, problems):
        print(f"bmo: {problem}", file=sys.stderr)


def _decided(gate: WriteGate, turn: Turn, mode: str | None) -> Decision:
    """The gate's word, then the model's where ``--mode`` names a mode that asks one of the turn.

    A model that is missing or fails leaves the gate's word; the sentence goes to standard error.
    """
    decision = gate.decide(turn)
    if mode is None or gate.settings.effective_mode not in ("hybrid", "llm"):
        return decision
    from bmo.extract import Known, Orchestrator
    from bmo.ledger.model_queue import aim_of

    aim = aim_of(decision, gate.settings.effective_mode)
    if aim is None:
        return decision
    model = Orchestrator.from_settings(gate.settings, gate)
    try:
        (outcome,) = model.extract([replace(turn, text=decision.text)], Known()).outcomes
    finally:
        model.close()
    if outcome.status == "failed":
        _warn(outcome.decision.reason)
        return replace(decision, fallback=True)
    found = outcome.decision
    # As in the background: of what the gate keeps, a model changes the text and drops nothing.
    return found if aim == "held" or found.facts else decision


def _each_line(source: str, text: str | None, row: Callable[[Turn], dict[str, Any]]) -> None:
    """Prints a row for each turn of JSON lines."""
    if text is not None:
        raise CommandError("the words and --jsonl are one at a time.")
    with closing(each_turn(source)) as turns:
        for row_id, turn in turns:
            write_line({"id": row_id, **row(turn)})


def _text_or_stdin(text: str | None) -> str:
    if text is None:
        if sys.stdin.isatty():
            raise CommandError("give the words as an argument, on standard input or by --jsonl.")
        text = sys.stdin.buffer.read().decode("utf-8", errors="replace").strip()
        if not text:
            raise CommandError("standard input is empty; give the words as an argument.")
    elif not text.strip():
        raise CommandError("the words are empty; say what the user says.")
    return text


def decision_row(decision: Decision) -> dict[str, Any]:
    """A decision as the documented JSON object, without its id."""
    names = "text asked category domain slot value subject polarity kind entities op"
    return {
        **row_of(decision, "verdict signals reason extraction_method gate_version fallback"),
        "confidence": round(decision.confidence, 4),
        "elapsed_us": round(decision.elapsed_us, 1),
        "facts": [row_of(fact, names) for fact in decision.facts],
    }


def odds_row(seen: Assessment) -> dict[str, Any]:
    """The encoder's probabilities as the documented JSON object."""
    categories = {name: round(value, 4) for name, value in seen.categories.items()}
    return {**{name: round(getattr(seen, name), 4) for name in ODDS}, "categories": categories}


def plan_row(planned: RecallPlan) -> dict[str, Any]:
    """A plan as the documented JSON object, without its id."""
    return row_of(
        planned, "recall trigger complexity intent budget_tokens slots subjects domains depth"
    )


def show_decision(console: Console, decision: Decision) -> None:
    """A decision for people."""
    style = VERDICT_STYLE[decision.verdict]
    console.print(
        f"[{style}]{decision.verdict}[/{style}]  {shown(decision.reason)}  "
        f"[dim]{decision.confidence:.2f} · {decision.elapsed_us:.0f} us · "
        f"{shown(decision.extraction_method)}[/dim]"
    )
    console.print(f"[dim]signals[/dim] {', '.join(decision.signals)}")
    for fact in decision.facts:
        mark = {"assert": "+", "retract": "-"}[fact.op]
        about = " ".join(filter(None, (fact.subject, fact.slot, fact.domain)))
        rule = fact.rule_id or fact.extraction_method
        console.print(
            f"{mark} {shown(quotation(fact))}  [dim]{fact.category} · {shown(about)} · "
            f"{shown(rule)} {fact.confidence:.2f}[/dim]"
        )
    seen = decision.assessment
    if seen is not None:
        likeliest = max(seen.categories, key=seen.categories.__getitem__)
        console.print(
            f"[dim]encoder[/dim] allow {seen.allow:.2f}  hold {seen.hold:.2f}  discard "
            f"{seen.discard:.2f}  read-need {seen.read_need:.2f}  {likeliest} "
            f"{seen.categories[likeliest]:.2f}"
        )


def show_plan(console: Console, planned: RecallPlan) -> None:
    """A plan for people."""
    word = "[green]recall[/green]" if planned.recall else "[dim]no recall[/dim]"
    console.print(
        f"{word}  {shown(planned.trigger)}  [dim]{planned.complexity} {planned.intent} · "
        f"{planned.depth} · {planned.budget_tokens} tokens · {planned.elapsed_us:.0f} us[/dim]"
    )
    for name in ("slots", "subjects", "domains"):
        if getattr(planned, name):
            console.print(f"[dim]{name}[/dim] {shown(', '.join(getattr(planned, name)))}")
