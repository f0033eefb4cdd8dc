"""``bmo memories``: look at what is remembered and why. These work beside a running BMO."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import row_of, write_line
from bmo.cli.opening import opened_ledger, settings_for, the_fact
from bmo.cli.options import (
    CategoryOption,
    IdArgument,
    JsonOption,
    UserOption,
    VisibilityOption,
    moment,
)
from bmo.cli.tables import fact_row, put_facts, quoted, screen, show_facts, show_pairs, shown
from bmo.quotation import quotation
from bmo.settings import Settings
from bmo.turn import StoredFact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bmo.ledger import Why

app = typer.Typer(no_args_is_help=True, help="Look at, explain, edit and erase memories.")


@app.command("list")
def list_command(
    user: UserOption = None,
    category: CategoryOption = None,
    domain: Annotated[
        str | None, typer.Option(help="One topic, or a custom rule's own category.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Told to this agent.")] = None,
    visibility: VisibilityOption = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(parser=moment, help="What was known and true then (ISO 8601)."),
    ] = None,
    past: Annotated[bool, typer.Option("--past", help="Ended memories too.")] = False,
    extraction_version: Annotated[
        str | None, typer.Option(help="Written by this gate version.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """What is remembered."""
    settings = settings_for(user)
    with opened_ledger(settings) as ledger:
        facts = ledger.live_facts(
            settings.bmo_user_id,
            categories=None if category is None else [category],
            domains=None if domain is None else [domain],
            agent_id=agent,
            visibility=visibility,
            at=as_of,
            include_past=past,
            extraction_version=extraction_version,
        )
        if settings.mem0_setting == "NORMAL":
            from bmo.memory.normal import stored_turns  # loads the service: only here

            said = stored_turns(ledger.raw_turns(settings.bmo_user_id))
            typer.echo(f"bmo: {said}", err=True)
            as_json = as_json or not facts  # no table of nothing
    if domain is not None and not facts:
        _check_domain(domain, settings)
    put_facts(facts, as_json)


def _check_domain(domain: str, settings: Settings) -> None:
    """Refuses a topic that is neither one of the tables' nor a custom rule's own category."""
    from bmo.gate.custom_rules import load_custom_rules
    from bmo.language.domains import topics

    file = settings.gatekeeper_custom_rules_path
    own = {rule.label for rule in load_custom_rules(file).keep} if file is not None else set()
    known = sorted(topics() | own)
    if domain not in known:
        raise CommandError(f"--domain {domain[:40]!r} is unknown: use one of {', '.join(known)}.")


@app.command("show")
def show_command(
    memory_id: IdArgument, user: UserOption = None, as_json: JsonOption = False
) -> None:
    """One memory, with everything that is written about it."""
    settings = settings_for(user)
    with opened_ledger(settings) as ledger:
        fact = the_fact(ledger, settings.bmo_user_id, memory_id)
    if as_json:
        write_line(fact_row(fact))
        return
    console = screen()
    console.print(f"[bold]{quoted(fact)}[/bold]")
    show_pairs(console, _everything(fact))


@app.command("why")
def why_command(
    memory_id: IdArgument, user: UserOption = None, as_json: JsonOption = False
) -> None:
    """Why something is known: the date, the words, what they answer, the rule, what it replaced."""
    settings = settings_for(user)
    with opened_ledger(settings) as ledger:
        fact = the_fact(ledger, settings.bmo_user_id, memory_id)
        why = ledger.why(settings.bmo_user_id, fact.id)
    if why is None:
        raise CommandError(f"the memory {fact.id[:8]} was erased meanwhile.", 1)
    if as_json:
        write_line(why_row(why))
        return
    console = screen()
    console.print(f"[bold]{quoted(fact)}[/bold]")
    show_pairs(console, _why(why))


@app.command("history")
def history_command(
    memory_id: IdArgument, user: UserOption = None, as_json: JsonOption = False
) -> None:
    """A memory and everything it replaced or was replaced by, oldest first."""
    settings = settings_for(user)
    with opened_ledger(settings) as ledger:
        fact = the_fact(ledger, settings.bmo_user_id, memory_id)
        facts = ledger.history(settings.bmo_user_id, fact.id)
    put_facts(facts, as_json)


@app.command("conflicts")
def conflicts_command(user: UserOption = None, as_json: JsonOption = False) -> None:
    """Memories that contradict each other and cannot be ordered."""
    settings = settings_for(user)
    with opened_ledger(settings) as ledger:
        groups = ledger.conflicts(settings.bmo_user_id)
    console = screen()
    if not groups and not as_json:
        console.print("No conflicts.")
    for number, group in enumerate(groups):
        subject, slot = group[0].subject, group[0].slot
        if as_json:
            rows = [fact_row(fact) for fact in group]
            write_line({"subject": subject, "slot": slot, "memories": rows})
            continue
        about = " ".join(filter(None, (subject, slot)))
        console.print("\n" * bool(number) + f"[dim]{shown(about)}[/dim]")
        show_facts(console, group)


def why_row(why: Why) -> dict[str, Any]:
    """Where a memory comes from, as the documented JSON object."""
    return {
        **fact_row(why.fact),
        **row_of(why.fact, "rule_id extraction_method extraction_version confidence"),
        "said": [
            {"turn_id": turn.id, **row_of(turn, "at text"), "asked": turn.assistant_before}
            for turn in why.said
        ],
        "replaced": [fact_row(older) for older in why.replaced],
        "replaced_by": None if why.replaced_by is None else fact_row(why.replaced_by),
    }


def _why(why: Why) -> Iterator[tuple[str, str]]:
    """Where a memory comes from, for people."""
    fact = why.fact
    for turn in why.said:
        if turn.assistant_before:
            yield "asked", f'"{turn.assistant_before}"'
        words = f'"{turn.text}"' if turn.text else "(the words were dropped)"
        yield f"{turn.at:%Y-%m-%d %H:%M}", f"you said: {words}"
    if not why.said:
        yield f"{fact.valid_from:%Y-%m-%d %H:%M}", f"from: {fact.source_type}"
    rule = fact.extraction_method or fact.rule_id or fact.source_type
    version = f"{fact.extraction_version}, " if fact.extraction_version else ""
    yield "kept by", f"{rule} ({version}confidence {fact.confidence:.2f})"
    for older in why.replaced:
        yield "replaced", f"{quotation(older)} (since {older.valid_from:%Y-%m-%d})"
    if why.replaced_by is not None:
        yield "replaced by", quotation(why.replaced_by)
    elif fact.valid_until is not None:
        yield "ended", f"{fact.valid_until:%Y-%m-%d} ({fact.end_reason})"


def _everything(fact: StoredFact) -> list[tuple[str, str]]:
    until = "-"
    if fact.valid_until is not None:
        until = f"{fact.valid_until:%Y-%m-%d %H:%M} ({fact.end_reason or 'ended'})"
    return [
        ("id", fact.id),
        ("said", fact.said or "-"),
        ("asked", fact.asked or "-"),
        ("subject", fact.subject),
        ("slot", fact.slot or "-"),
        ("value", fact.value or "-"),
        ("category", f"{fact.category}, {fact.kind}"),
        ("topic", fact.domain or "-"),
        ("visible to", " ".join(filter(None, (fact.visibility, fact.agent_id)))),
        ("since", f"{fact.valid_from:%Y-%m-%d %H:%M}"),
        ("until", until),
        ("replaced by", fact.superseded_by or "-"),
        ("source", ", ".join(filter(None, (fact.source_type, fact.extraction_method)))),
        ("confidence", f"{fact.confidence:.2f}"),
        ("conflict", "yes: see bmo memories conflicts" if fact.conflict else "no"),
        ("used", f"{fact.use_count} times"),
        ("indexed", "yes" if fact.index_id else "not yet"),
    ]
