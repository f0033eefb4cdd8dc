"""``bmo replay`` and ``bmo export-turns``: annotated conversations, played and made."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import write_private
from bmo.cli.opening import opened_ledger, settings_for
from bmo.cli.options import UserOption

app = typer.Typer()


@app.command("replay")
def replay(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Scenario files or folders; a recording (.json) is read as it is."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a turn.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show every turn.")] = False,
    baseline: Annotated[
        Path | None, typer.Option(help="What --json wrote before: show what changed.")
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(help="Changes that end in exit code 1: stored,recall-,verdict,any ..."),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the diff for a pull request.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Draw the conversations as one HTML page.")
    ] = None,
) -> None:
    """Replay annotated conversations and report where behaviour differs."""
    from bmo.replay.command import ReplayOutput, run_replay

    output = ReplayOutput(
        as_json=as_json,
        verbose=verbose,
        baseline=baseline,
        fail_on=fail_on,
        markdown=markdown,
        report=report,
    )
    raise typer.Exit(run_replay(paths, output))


@app.command("export-turns")
def export_turns_command(
    file: Annotated[
        Path | None, typer.Argument(help="NAME.turns.yaml; default standard output.")
    ] = None,
    session: Annotated[str | None, typer.Option(help="This session; default the newest.")] = None,
    last: Annotated[int | None, typer.Option(min=1, help="So many newest sessions.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every session.")] = False,
    keep_sensitive: Annotated[
        bool, typer.Option("--keep-sensitive", help="Leave health and the like in the words.")
    ] = False,
    user: UserOption = None,
) -> None:
    """Write what was said and decided as a scenario; secrets and identifiers are masked."""
    from bmo.replay.from_ledger import NothingToExport, export_turns

    settings = settings_for(user)
    if sum((session is not None, last is not None, every)) > 1:
        raise CommandError("--session, --last and --all are one at a time.")
    name = _scenario_name(file) if file is not None else "exported"
    with opened_ledger(settings) as ledger:
        try:
            made = export_turns(
                ledger,
                settings.bmo_user_id,
                name=name,
                session=session,
                last=None if every else last or 1,
                keep_sensitive=keep_sensitive,
            )
        except NothingToExport as error:
            raise CommandError(f"nothing was exported: {error}.", 1) from None
    if file is None:
        sys.stdout.write(made.text)
    else:
        write_private(file, made.text.removesuffix("\n").split("\n"), fresh=True)
    left = f", {made.left_out} without words left out" if made.left_out else ""
    print(
        f"{made.turns} turns exported, {made.masked} sensitive places masked{left}",
        file=sys.stderr,
    )


def _scenario_name(file: Path) -> str:
    """The scenario's name, for a new file under which it can be played again."""
    from bmo.replay.scenario import SUFFIX

    name = file.name.removesuffix(SUFFIX)
    if not file.name.endswith(SUFFIX) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise CommandError(
            f"{file.name[:60]!r} cannot be replayed under that name: "
            f"use letters and digits and end it with {SUFFIX}."
        )
    if file.exists():
        raise CommandError(f"{str(file)!r} exists already; name another file.")
    return name
