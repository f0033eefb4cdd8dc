"""``bmo memories`` that change: edit, forget, wipe, export, import."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, get_args

import typer

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import read_lines, row_of, write_line, write_private
from bmo.cli.opening import (
    Stores,
    check_words,
    opened_ledger,
    opened_stores,
    settings_for,
    the_fact,
    the_only,
)
from bmo.cli.options import (
    CategoryOption,
    IdArgument,
    JsonOption,
    UserOption,
    VisibilityOption,
    moment,
    user_option,
)
from bmo.cli.tables import fact_row, put_facts, quoted, screen, show_facts, show_pairs
from bmo.ids import identity_of
from bmo.quotation import quotation
from bmo.settings import Settings, checked_user_id
from bmo.turn import RetractScope

if TYPE_CHECKING:
    from bmo.ledger import PendingErasure, Receipt


STAYS: Mapping[str, str] = {
    "postgresql": "free pages and log of PostgreSQL, until it uses that room again, or VACUUM FULL",
    "qdrant": "segments and log of the Qdrant server, until it rewrites them, or bmo reindex",
}
"""What a server keeps of deleted bytes, and until when (docs/operating.md, deletion requests)."""

WIPE_LEAVES = (
    "this receipt, and a keyed hash in place of the user's id; backups, exports and logs of yours "
    "are not touched"
)
"""What a wipe leaves behind."""


_REWRITTEN = ("index_files", "ledger_files", "tombstones", "tombstones_replaced")
"""Counts of a receipt that say of no memory that it was there."""

_WIPED = re.compile(r"#[0-9a-f]{48}")
"""How a receipt names a user who was wiped."""

_P = ParamSpec("_P")

app = typer.Typer()


@app.command("edit")
def edit_command(
    memory_id: IdArgument,
    text: Annotated[str | None, typer.Option(help="What it should say.")] = None,
    value: Annotated[str | None, typer.Option(help="New value of its slot.")] = None,
    category: CategoryOption = None,
    visibility: VisibilityOption = None,
    user: UserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Correct a memory by hand; the old one stays in its history."""
    settings = settings_for(user)
    if not any(given is not None for given in (text, value, category, visibility)):
        raise CommandError("say what to change: --text, --value, --category or --visibility.")
    if text is not None and not text.strip():
        raise CommandError("--text is empty; bmo memories forget removes a memory.")
    check_words(settings, text, value)
    with opened_stores(settings) as stores:
        old = the_fact(stores.ledger, settings.bmo_user_id, memory_id)
        if old.valid_until is not None:
            raise CommandError(
                f"the memory {old.id[:8]} ended on {old.valid_until:%Y-%m-%d} and cannot be edited."
            )
        new = stores.write(
            stores.ledger.edit,
            settings.bmo_user_id,
            old.id,
            text=None if text is None else " ".join(text.split()),
            value=value,
            category=category,
            visibility=visibility,
        )
    if not as_json:
        screen().print(f"[dim]was[/dim] {quoted(old)}")
    put_facts([new], as_json)


@app.command("forget")
def forget_command(
    memory_ids: Annotated[
        list[str] | None, typer.Argument(help="Ids, or the start of each.")
    ] = None,
    again: Annotated[
        str | None,
        typer.Option(help="Receipts that --json printed: do it again, in a restored backup."),
    ] = None,
    user: UserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Erase memories everywhere, with the words they came from."""
    settings = settings_for(user)
    if (again is None) == (not memory_ids):
        raise CommandError("name memories by their ids, or receipts by --again.")
    if again is not None:
        _erase_again(settings, again, as_json)
        return
    with opened_stores(settings) as stores:
        # Every id is looked up before anything is erased.
        facts = [the_fact(stores.ledger, settings.bmo_user_id, one) for one in memory_ids or ()]
        ids = [fact.id for fact in facts]
        receipt = _erased(stores, stores.ledger.erase, settings.bmo_user_id, ids)
    _show_receipt(receipt, list(dict.fromkeys(quotation(fact) for fact in facts)), as_json)


def _erase_again(settings: Settings, file: str, as_json: bool) -> None:
    """Carries out what receipts say, unless this ledger has them."""
    with closing(read_lines(file)) as lines:
        wanted = [_read_receipt(number, line) for number, line in lines]
    with opened_stores(settings) as stores:
        ledger, done, unknown = stores.ledger, [], 0
        for old in wanted:
            user_id = ledger.user_of(old)
            if user_id is None:
                unknown += 1
                continue
            if ledger.receipt(user_id, old.id) is not None:
                continue
            if old.scope == "all":
                call = partial(ledger.erase_user, user_id)
            else:
                erase = partial(ledger.erase, user_id, old.fact_ids, scope=old.scope)
                call = partial(erase, days=old.days, turn_ids=old.turn_ids)
            done.append(_erased(stores, call, at=old.at, erasure_id=old.id))
    for receipt in done:
        _show_receipt(receipt, [], as_json)
    if not as_json:
        known = len(wanted) - len(done) - unknown
        of_nobody = f", {unknown} of users of whom nothing is here" if unknown else ""
        print(f"{len(done)} erasures done again, {known} known already{of_nobody}")


def _read_receipt(number: int, line: str) -> Receipt:
    from bmo.ledger import Receipt

    try:
        row = json.loads(line)
        ids = tuple(map(str, row["fact_ids"]))
        turn_ids = tuple(map(str, row.get("turn_ids", ())))  # none before it was written
        at, owner = moment(row["at"]), str(row["user_id"])
        if not _WIPED.fullmatch(owner):
            checked_user_id(owner)
        days = tuple(map(moment, row.get("days", ())))
        if row["scope"] not in ("fact", *get_args(RetractScope)) or len(days) not in (0, 2):
            raise ValueError(row["scope"])
        return Receipt(
            id=str(row["id"])[:64],
            user_id=owner,
            scope=row["scope"],
            at=at,
            places={},
            complete=False,
            fact_ids=ids,
            days=days,
            turn_ids=turn_ids,
        )
    except (ValueError, KeyError, TypeError, RecursionError, typer.BadParameter):
        raise CommandError(
            f"line {number} is no receipt as forget and wipe print it with --json: {line[:60]!r}."
        ) from None


@app.command("receipts")
def receipts_command(as_json: JsonOption = False) -> None:
    """What was erased of anybody, by command or in a conversation: for ``forget --again``."""
    with opened_ledger(settings_for(None)) as ledger:
        receipts = ledger.receipts()
    if as_json:
        for receipt in receipts:
            write_line(_receipt_row(receipt))
        return
    for receipt in receipts:
        counts = _counts(receipt) or "nothing was there"
        left = "" if receipt.complete else "  (the index follows)"
        line = f"{receipt.id[:8]}  {receipt.at:%Y-%m-%d %H:%M}  {identity_of(receipt.user_id)}"
        print(f"{line}  {receipt.scope}: {counts}{left}")
    if not receipts:
        print("Nothing was erased yet.")


@app.command("wipe")
def wipe_command(
    user: UserOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Erase everything that is remembered of a user."""
    settings = settings_for(user)
    if not yes:
        who = identity_of(settings.bmo_user_id)
        if not sys.stdin.isatty():
            raise CommandError(f"this erases everything of {who!r}: add --yes to confirm.")
        typer.confirm(f"Erase everything remembered of {who!r}?", abort=True)
    with opened_stores(settings) as stores:
        receipt = _erased(stores, stores.ledger.erase_user, settings.bmo_user_id)
    _show_receipt(receipt, [], as_json)


@app.command("pending")
def pending_command(
    confirm: Annotated[str | None, typer.Option(help="Erase what this request asked for.")] = None,
    cancel: Annotated[str | None, typer.Option(help="Put back what this request took out.")] = None,
    user: UserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Wide requests to forget that nobody confirmed yet; their memories are out of recall."""
    settings = settings_for(user)
    user_id = settings.bmo_user_id
    if confirm is not None and cancel is not None:
        raise CommandError("--confirm and --cancel are one at a time.")
    if confirm is None and cancel is None:
        with opened_ledger(settings) as ledger:
            _show_pending(ledger.pending_erasures(user_id), as_json)
        return
    with opened_stores(settings) as stores:
        waiting, typed = stores.ledger.pending_erasures(user_id), confirm or cancel or ""
        request = the_only(waiting, typed, user_id, "request", "bmo memories pending")
        if confirm is None:
            put_facts(stores.write(stores.ledger.cancel_erasure, user_id, request.id), as_json)
            return
        receipt = _erased(stores, stores.ledger.confirm_erasure, user_id, request.id)
    _show_receipt(receipt, [quotation(fact) for fact in request.facts], as_json)


def _show_pending(requests: Sequence[PendingErasure], as_json: bool) -> None:
    console = screen()
    if not requests and not as_json:
        console.print("Nothing waits to be forgotten.")
    for one in requests:
        if as_json:
            rows = [fact_row(fact) for fact in one.facts]
            write_line({**row_of(one, "id user_id scope"), "at": one.asked_at, "memories": rows})
            continue
        console.print(f"{one.id[:8]}  asked {one.asked_at:%Y-%m-%d %H:%M}, scope {one.scope}")
        show_facts(console, one.facts)


@app.command("export")
def export_command(
    file: Annotated[
        Path | None, typer.Argument(help="Where to write; default standard output.")
    ] = None,
    user: UserOption = None,
) -> None:
    """Write a user's memory as JSON lines that import reads back without loss."""
    settings = settings_for(user)
    with opened_ledger(settings) as ledger:
        lines = ledger.export(settings.bmo_user_id)
        if file is None:
            for line in lines:
                sys.stdout.write(line + "\n")
            return
        if file.is_file() and file.stat().st_size:
            raise CommandError(f"{str(file)!r} exists already; name another file.")
        count = write_private(file, lines)
    # The first line is the header, the last one has the counts.
    who = identity_of(settings.bmo_user_id)
    print(f"{count - 2} rows of {who!r} in {file}", file=sys.stderr)


@app.command("import")
def import_command(
    file: Annotated[str | None, typer.Argument(help="An export, or - for standard input.")] = None,
    from_mem0: Annotated[
        str | None, typer.Option(help="Collection of an existing Mem0 store (QDRANT_URL).")
    ] = None,
    path: Annotated[
        Path | None, typer.Option(help="Folder of a local Qdrant store of Mem0's.")
    ] = None,
    user: Annotated[
        str | None, user_option("Whose memory it becomes; default as in the file.")
    ] = None,
) -> None:
    """Read an export back, or take over the memories of a Mem0 collection."""
    if (file is None) == (from_mem0 is None):
        raise CommandError("name an export file, or a collection by --from-mem0.")
    if path is not None and from_mem0 is None:
        raise CommandError("--path belongs to --from-mem0.")
    settings = settings_for(user)
    if from_mem0 is not None:
        _import_mem0(settings, from_mem0, path, user)
    elif file is not None:
        _import_export(settings, file, user)


def _import_export(settings: Settings, file: str, user: str | None) -> None:
    from bmo.gate import WriteGate
    from bmo.ledger import ExchangeError

    with opened_stores(settings) as stores, closing(read_lines(file)) as lines:
        try:
            done = stores.write(
                stores.ledger.import_export,
                (line for _, line in lines),
                user_id=user,
                guard=WriteGate.from_settings(settings),
            )
        except (ExchangeError, ValueError, CommandError) as error:
            raise CommandError(f"nothing was imported: {str(error).rstrip('.')}.") from None
    masked = f", {done.masked} with words masked or left out" if done.masked else ""
    print(
        f"{done.added} rows added{masked}, {done.known} known already, "
        f"{done.suppressed} stay forgotten"
    )
    _show_refused((memory_id, "it steers the assistant") for memory_id in done.refused)


def _import_mem0(settings: Settings, collection: str, path: Path | None, user: str | None) -> None:
    from bmo.gate import WriteGate
    from bmo.index import IndexUnavailable, read_mem0_collection
    from bmo.recorder import import_mem0

    with opened_stores(settings) as stores:
        try:
            found = list(read_mem0_collection(settings, collection, path=path))
        except IndexUnavailable as error:
            raise CommandError(f"nothing was imported: {error}", 1) from None
        done = stores.write(
            import_mem0,
            stores.ledger,
            found,
            gate=WriteGate.from_settings(settings),
            user_id=user,
            near=stores.recorder.near,
        )
    print(f"{done.read} memories read, {done.added} added, {done.known} known already")
    _show_refused(done.refused)


def _show_refused(refused: Iterable[tuple[str, str]]) -> None:
    """Names what was not taken and why; exit 1 when something was not."""
    code = 0
    for one, why in refused:
        code = 1
        print(f"bmo: memory {one} was not taken: {why.rstrip('.')}.", file=sys.stderr)
    raise typer.Exit(code)


def _erased(
    stores: Stores, erase: Callable[_P, Receipt], *args: _P.args, **kwargs: _P.kwargs
) -> Receipt:
    """Erases; the receipt is that after the index had its part."""
    receipt = stores.write(erase, *args, **kwargs)
    return stores.ledger.receipt(receipt.user_id, receipt.id) or receipt


def _show_receipt(receipt: Receipt, texts: Sequence[str], as_json: bool) -> None:
    """What was erased from where; counts only. Exit 1 while something is left to do."""
    if as_json:
        write_line(_receipt_row(receipt))
    else:
        rows = [("erased", text) for text in texts]
        rows.append(("from", _counts(receipt) or "nowhere: nothing was there"))
        rows += [("stays", STAYS[where]) for where in receipt.stays]
        if receipt.scope == "all":
            rows.append(("stays", WIPE_LEAVES))
        if not receipt.complete:
            rows.append(("left to do", "the index; it follows when it can be reached"))
        show_pairs(screen(), rows)
    if not receipt.complete:
        raise typer.Exit(1)


def _receipt_row(receipt: Receipt) -> dict[str, Any]:
    """A receipt as the documented JSON object."""
    return {
        **row_of(receipt, "id user_id scope at complete fact_ids turn_ids days"),
        "places": dict(receipt.places),
        "stays": {where: STAYS[where] for where in receipt.stays},
    }


def _counts(receipt: Receipt) -> str:
    """From where how much was removed; "" where nothing was."""
    counted = sorted(receipt.places.items())
    if not any(count for place, count in counted if place not in _REWRITTEN):
        return ""
    return ", ".join(f"{place.replace('_', ' ')} {count}" for place, count in counted if count)
