"""``bmo held``: the turns the gate neither kept nor dropped, for a person to decide on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Column

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import row_of, write_line
from bmo.cli.opening import (
    FLUSH_S,
    check_words,
    opened_ledger,
    opened_service,
    opened_stores,
    settings_for,
    the_only,
)
from bmo.cli.options import CategoryOption, JsonOption, UserOption
from bmo.cli.tables import identity_shown, narrow_table, put_facts, screen, shown
from bmo.settings import Settings
from bmo.turn import Category, Fact

if TYPE_CHECKING:
    from bmo.ledger import Ledger, LoggedTurn, WaitingTurn


app = typer.Typer()


@app.command("held")
def held_command(
    allow: Annotated[str | None, typer.Option(help="Store this turn.")] = None,
    discard: Annotated[str | None, typer.Option(help="Drop this turn.")] = None,
    text: Annotated[
        str | None, typer.Option("--as", help="With --allow: what the memory should say.")
    ] = None,
    category: CategoryOption = None,
    settle: Annotated[
        bool, typer.Option("--settle", help="Ask the model of GATEKEEPER_LLM_MODEL about them now.")
    ] = False,
    limit: Annotated[
        int, typer.Option(min=1, max=100_000, help="Turns shown, or settled, at most.")
    ] = 50,
    user: UserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Turns that are held: never recalled, until somebody allows them."""
    settings = settings_for(user)
    if sum((allow is not None, discard is not None, settle)) > 1:
        raise CommandError("--allow, --discard and --settle are one at a time.")
    if allow is None and (text is not None or category is not None):
        raise CommandError("--as and --category belong to --allow.")
    if text is not None and not text.strip():
        raise CommandError("--as is empty; say what the memory should say.")
    check_words(settings, text)
    if allow is not None:
        _allow(settings, allow, text, category, as_json)
    elif discard is not None:
        _discard(settings, discard)
    elif settle:
        _settle(settings, limit, as_json)
    else:
        _list(settings, limit, as_json)


def held_row(turn: LoggedTurn) -> dict[str, Any]:
    """A held turn as the documented JSON object."""
    names = "id user_id at text assistant_before reason signals gate_version mode fallback"
    confidence = turn.decision_confidence
    return {**row_of(turn, names), "confidence": confidence, **identity_shown(turn.user_id)}


def _waiting_row(waiting: WaitingTurn | None) -> dict[str, Any]:
    """How far a model has come with a held turn; None: none will be asked."""
    if waiting is None:
        nothing = {"promise": None, "attempts": 0, "last_error": "", "next_try": None}
        return {"waits_for_model": False, **nothing}
    tried = row_of(waiting, "promise attempts last_error")
    return {"waits_for_model": True, **tried, "next_try": waiting.next_at}


def show_held(
    console: Console, turns: Iterable[LoggedTurn], waiting: Mapping[str, WaitingTurn]
) -> None:
    """Held turns as a table; ``waiting``: turn id -> how far a model has come with it."""
    table = narrow_table(
        Column("id", no_wrap=True, style="dim"),
        Column("said", overflow="fold", ratio=1),
        Column("why held", overflow="fold", style="dim", max_width=18),
        Column("on", no_wrap=True, style="dim"),
    )
    for turn in turns:
        said, why = shown(turn.text) or "(the words were dropped)", turn.reason
        tried = waiting.get(turn.id)
        if tried is not None and tried.attempts:
            why = f"{why}; asked {tried.attempts}x: {tried.last_error}"
        table.add_row(turn.id[:8], said, shown(why), f"{turn.at:%Y-%m-%d}")
    console.print(table)


def _list(settings: Settings, limit: int, as_json: bool) -> None:
    with opened_ledger(settings) as ledger:
        turns = ledger.held(settings.bmo_user_id, limit=None if as_json else limit + 1)
        waiting = {one.turn.id: one for one in ledger.waiting(settings.bmo_user_id)}
    if as_json:
        for turn in turns:
            write_line({**held_row(turn), **_waiting_row(waiting.get(turn.id))})
        return
    console = screen()
    if not turns:
        console.print("Nothing is held.")
        return
    show_held(console, turns[:limit], waiting)
    if len(turns) > limit:
        console.print(f"[dim]... and more: --limit {limit * 2}[/dim]")


def _allow(
    settings: Settings, prefix: str, text: str | None, category: Category | None, as_json: bool
) -> None:
    user_id = settings.bmo_user_id
    with opened_stores(settings) as stores:
        ledger = stores.ledger
        turn = _the_held(ledger, user_id, prefix)
        if text is None and not turn.text:
            raise CommandError(f"the words of {turn.id[:8]} were dropped: say them with --as.")
        if text is None and "injection" in turn.signals:
            raise CommandError(
                f"the turn {turn.id[:8]} would steer the assistant: say what is so with --as."
            )
        fact = Fact(
            text=" ".join((text or turn.text).split()),
            category=category or "personal_facts",
            said="" if text else turn.text,
            asked="" if text else _context_kept(settings, turn),
            confidence=1.0,
            extraction_method="manual",
        )
        recorded = stores.write(ledger.allow_held, user_id, turn.id, [fact])
    stored = [*recorded.added, *recorded.confirmed]
    if not stored and not as_json:
        screen().print("Nothing was stored: it was forgotten once and stays so.")
        return
    put_facts(stored, as_json)


def _context_kept(settings: Settings, turn: LoggedTurn) -> str:
    """The assistant's words before a held turn, unless they would steer whoever reads them."""
    from bmo.gate import WriteGate

    gate = WriteGate.from_settings(settings)
    return gate.kept_context(gate.masked(turn.assistant_before))


def _settle(settings: Settings, limit: int, as_json: bool) -> None:
    user_id = settings.bmo_user_id
    if settings.bmo_model_sees == "memories":
        raise CommandError(
            "BMO_MODEL_SEES=memories keeps held turns here: set BMO_MODEL_SEES=words to have a "
            "model look at them."
        )
    # The mode is for the background; by hand a model is asked in every mode.
    with opened_service(settings.model_copy(update={"gatekeeper_mode": "local"})) as service:
        before = len(service.ledger.waiting(user_id, aims=["held"]))
        done = service.settling().settle_now(user_id, aims=["held"], limit=limit)
        service.recorder.flush(FLUSH_S)
        left = len(service.ledger.held(user_id))
    if before and not done.asked:
        raise CommandError(done.why_stopped or "no held turn could be settled.")
    if as_json:
        write_line({**asdict(done), "left_held": left})
        return
    console = screen()
    if not before:
        console.print("No held turn waits for a model.")
        return
    console.print(f"Asked about {done.asked}: {done.calls} calls, ${done.cost:.4f}.")
    for what, count in (
        ("became memories", done.allowed),
        ("hold nothing", done.discarded),
        ("stay held: what the model said was refused", done.held),
        ("stay held: no usable answer, tried again later", done.failed),
    ):
        if count:
            console.print(f"{count:4} {what}")
    if done.why_stopped:
        console.print(f"[dim]{shown(done.why_stopped)}[/dim]")


def _discard(settings: Settings, prefix: str) -> None:
    with opened_ledger(settings) as ledger:
        turn = _the_held(ledger, settings.bmo_user_id, prefix)
        ledger.discard_held(settings.bmo_user_id, turn.id)
    screen().print(f"discarded {turn.id[:8]}  {shown(turn.text)}")


def _the_held(ledger: Ledger, user_id: str, prefix: str) -> LoggedTurn:
    return the_only(ledger.held(user_id), prefix, user_id, "held turn", "bmo held")
