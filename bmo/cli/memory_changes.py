"""``bmo memories`` that change: edit, forget, wipe, export, import."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import read_lines, write_line
from bmo.cli.opening import (
    IdArgument,
    JsonOption,
    Stores,
    UserOption,
    VisibilityOption,
    category_option,
    check_words,
    opened_ledger,
    opened_stores,
    settings_for,
    the_fact,
    the_only,
    visibility_option,
)
from bmo.cli.tables import fact_row, put_facts, quoted, screen, show_facts, show_pairs
from bmo.ids import as_user_id, identity_of
from bmo.quotation import quotation
from bmo.settings import Settings, checked_user_id

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


def register(memories: typer.Typer) -> None:
    """Adds the commands to the group."""
    memories.command("edit")(edit_command)
    memories.command("forget")(forget_command)
    memories.command("wipe")(wipe_command)
    memories.command("pending")(pending_command)
    memories.command("export")(export_command)
    memories.command("import")(import_command)


def edit_command(
    memory_id: IdArgument,
    text: Annotated[str | None, typer.Option("--text", help="What it should say.")] = None,
    value: Annotated[str | None, typer.Option("--value", help="New value of its slot.")] = None,
    category: Annotated[str | None, typer.Option("--category", help="New category.")] = None,
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
    wanted, seen_by = category_option(category), visibility_option(visibility)
    check_words(settings, text, value)
    with opened_stores(settings) as stores:
        old = the_fact(stores.ledger, settings.bmo_user_id, memory_id)
        if old.valid_until is not None:
            raise CommandError(
                f"the memory {old.id[:8]} ended on {old.valid_until:%Y-%m-%d} and cannot be edited."
            )
        new = stores.recorder.call(
            stores.ledger.edit,
            settings.bmo_user_id,
            old.id,
            text=None if text is None else " ".join(text.split()),
            value=value,
            category=wanted,
            visibility=seen_by,
        ).result()
        stores.finish()
    if not as_json:
        screen().print(f"[dim]was[/dim] {quoted(old)}")
    put_facts([new], as_json)


def forget_command(
    memory_ids: Annotated[
        list[str] | None, typer.Argument(help="Ids, or the start of each.")
    ] = None,
    again: Annotated[
        str | None,
        typer.Option(
            "--again", help="Receipts that --json printed: do it again, in a restored backup."
        ),
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
    memory_ids = memory_ids or []
    with opened_stores(settings) as stores:
        # Every id is looked up before anything is erased.
        facts = [the_fact(stores.ledger, settings.bmo_user_id, one) for one in memory_ids]
        receipt = stores.recorder.call(
            stores.ledger.erase, settings.bmo_user_id, [fact.id for fact in facts]
        ).result()
        receipt = _completed(stores, receipt)
    _show_receipt(receipt, list(dict.fromkeys(quotation(fact) for fact in facts)), as_json)


def _erase_again(settings: Settings, file: str, as_json: bool) -> None:
    """Carries out what receipts say, unless this ledger has them."""
    wanted = [_read_receipt(number, line) for number, line in read_lines(file)]
    if not wanted:
        raise CommandError(f"{file!r} is empty; forget and wipe print receipts with --json.")
    with opened_stores(settings) as stores:
        ledger, done = stores.ledger, []
        for old in wanted:
            if ledger.receipt(old.user_id, old.id) is not None:
                continue
            if old.scope == "all":
                call = partial(ledger.erase_user, old.user_id)
            else:
                call = partial(ledger.erase, old.user_id, old.fact_ids, scope=old.scope)
            erased = stores.recorder.call(partial(call, at=old.at, erasure_id=old.id))
            done.append(erased.result())
        receipts = [_completed(stores, receipt) for receipt in done]
    for receipt in receipts:
        _show_receipt(receipt, [], as_json)
    if not as_json:
        print(f"{len(done)} erasures done again, {len(wanted) - len(done)} known already")


def _read_receipt(number: int, line: str) -> Receipt:
    from bmo.ledger import Receipt

    try:
        row = json.loads(line)
        ids = tuple(map(str, row["fact_ids"]))
        moment = datetime.fromisoformat(row["at"])
        owner = checked_user_id(row["user_id"])
        return Receipt(str(row["id"])[:64], owner, str(row["scope"])[:16], moment, {}, False, ids)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CommandError(
            f"line {number} is no receipt as forget and wipe print it with --json: {line[:60]!r}."
        ) from None


def wipe_command(
    user: UserOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Erase everything that is remembered of a user."""
    settings = settings_for(user)
    if not yes:
        who = identity_of(settings.bmo_user_id)
        question = f"Erase everything remembered of {who!r}?"
        if not sys.stdin.isatty():
            raise CommandError(f"this erases everything of {who!r}: add --yes to confirm.")
        if not typer.confirm(question):
            raise CommandError("nothing was erased.", 1)
    with opened_stores(settings) as stores:
        receipt = stores.recorder.call(stores.ledger.erase_user, settings.bmo_user_id).result()
        receipt = _completed(stores, receipt)
    _show_receipt(receipt, [], as_json)


def pending_command(
    confirm: Annotated[
        str | None, typer.Option("--confirm", help="Erase what this request asked for.")
    ] = None,
    cancel: Annotated[
        str | None, typer.Option("--cancel", help="Put back what this request took out.")
    ] = None,
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
        request = _the_pending(stores, user_id, confirm or cancel or "")
        if confirm is not None:
            asked = stores.recorder.call(stores.ledger.confirm_erasure, user_id, request.id)
            receipt = _completed(stores, asked.result())
        else:
            back = stores.recorder.call(stores.ledger.cancel_erasure, user_id, request.id).result()
            stores.finish()
    if confirm is not None:
        _show_receipt(receipt, [quotation(fact) for fact in request.facts], as_json)
    else:
        put_facts(back, as_json)


def _show_pending(requests: Sequence[PendingErasure], as_json: bool) -> None:
    console = screen()
    if not requests and not as_json:
        console.print("Nothing waits to be forgotten.")
    for one in requests:
        if as_json:
            row = {"id": one.id, "user_id": one.user_id, "scope": one.scope}
            rows = [fact_row(fact) for fact in one.facts]
            write_line({**row, "at": one.asked_at.isoformat(), "memories": rows})
            continue
        when = f"{one.asked_at:%Y-%m-%d %H:%M}"
        console.print(f"{one.id[:8]}  asked {when}, scope {one.scope}")
        show_facts(console, one.facts)


def _the_pending(stores: Stores, user_id: str, prefix: str) -> PendingErasure:
    wanted = prefix.strip().lower()
    waiting = stores.ledger.pending_erasures(user_id)
    found = [one for one in waiting if wanted and one.id.startswith(wanted)]
    who = identity_of(user_id)
    return the_only(found, prefix, f"request of {who!r}", "requests", "bmo memories pending")


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
        try:
            count = _write_private(file, lines)
        except OSError as error:
            raise CommandError(f"{str(file)!r} cannot be written: {error.strerror}.", 1) from None
    # The first line is the header.
    who = identity_of(settings.bmo_user_id)
    print(f"{count - 1} rows of {who!r} in {file}", file=sys.stderr)


def import_command(
    file: Annotated[str | None, typer.Argument(help="An export, or - for standard input.")] = None,
    from_mem0: Annotated[
        str | None,
        typer.Option("--from-mem0", help="Collection of an existing Mem0 store (QDRANT_URL)."),
    ] = None,
    path: Annotated[
        Path | None, typer.Option("--path", help="Folder of a local Qdrant store of Mem0's.")
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", help="Whose memory it becomes; default as in the file.")
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
    from bmo.gate import inspected
    from bmo.ledger import ExchangeError

    named = as_user_id(user) if user else None
    with opened_stores(settings) as stores:
        try:
            done = stores.recorder.call(
                stores.ledger.import_export,
                (line for _, line in read_lines(file)),
                user_id=named,
                inspect=lambda text, asked: inspected(text, settings.bmo_sensitive, asked),
            ).result()
        except (ExchangeError, ValueError) as error:
            raise CommandError(f"nothing was imported: {str(error).rstrip('.')}.") from None
        stores.finish()
    print(f"{done.added} rows added, {done.known} known already, {done.suppressed} stay forgotten")
    for memory_id in done.refused:
        print(f"bmo: memory {memory_id} was not taken: it steers the assistant.", file=sys.stderr)
    if done.refused:
        raise typer.Exit(1)


def _import_mem0(settings: Settings, collection: str, path: Path | None, user: str | None) -> None:
    from bmo.index import IndexUnavailable, read_mem0_collection
    from bmo.recorder import import_mem0

    with opened_stores(settings) as stores:
        try:
            found = list(read_mem0_collection(settings, collection, path=path))
        except IndexUnavailable as error:
            raise CommandError(f"nothing was imported: {error}", 1) from None
        named = as_user_id(user) if user else None
        done = stores.recorder.call(
            import_mem0,
            stores.ledger,
            found,
            policy=settings.bmo_sensitive,
            user_id=named,
            near=stores.near,
        ).result()
        stores.finish()
    print(f"{done.read} memories read, {done.added} added, {done.known} known already")
    for memory_id, why in done.refused:
        print(f"bmo: memory {memory_id} was not taken: {why.rstrip('.')}.", file=sys.stderr)
    if done.refused:
        raise typer.Exit(1)


def _write_private(file: Path, lines: Iterator[str]) -> int:
    """Writes lines to a file that only its owner may read; returns how many."""
    count = 0
    with file.open("w", encoding="utf-8") as out:
        file.chmod(0o600)
        for line in lines:
            out.write(line + "\n")
            count += 1
    return count


def _completed(stores: Stores, receipt: Receipt) -> Receipt:
    """The receipt after the index had its part."""
    stores.finish()
    return stores.ledger.receipt(receipt.user_id, receipt.id) or receipt


def _show_receipt(receipt: Receipt, texts: Sequence[str], as_json: bool) -> None:
    """What was erased from where; counts only. Exit 1 while something is left to do."""
    if as_json:
        write_line(
            {
                "id": receipt.id,
                "user_id": receipt.user_id,
                "scope": receipt.scope,
                "at": receipt.at.isoformat(),
                "places": dict(receipt.places),
                "complete": receipt.complete,
                "stays": {where: STAYS[where] for where in receipt.stays},
                "fact_ids": list(receipt.fact_ids),
            }
        )
    else:
        rows = [("erased", text) for text in texts]
        rows.append(("from", _places_line(receipt.places)))
        rows += [("stays", STAYS[where]) for where in receipt.stays]
        if receipt.scope == "all":
            rows.append(("stays", WIPE_LEAVES))
        if not receipt.complete:
            rows.append(("left to do", "the index; it follows when it can be reached"))
        show_pairs(screen(), rows)
    if not receipt.complete:
        raise typer.Exit(1)


def _places_line(places: Mapping[str, int]) -> str:
    """Places and counts on one line."""
    listed = ", ".join(
        f"{place.replace('_', ' ')} {count}" for place, count in sorted(places.items()) if count
    )
    return listed or "nowhere: nothing was there"
