"""``bmo replay``: annotated conversations through a real AgentSession."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("replay")(replay)


def replay(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Scenario files or folders; a recording (.json) is read as it is."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a turn.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show every turn.")] = False,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", help="What --json wrote before: show what changed."),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on", help="Changes that end in exit code 1: stored,recall-,verdict,any ..."
        ),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Write the diff for a pull request.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Draw the conversations as one HTML page.")
    ] = None,
) -> None:
    """Replay annotated conversations and report where behaviour differs."""
    from bmo.replay import ReplayOutput, run_replay

    output = ReplayOutput(
        as_json=as_json,
        verbose=verbose,
        baseline=baseline,
        fail_on=fail_on,
        markdown=markdown,
        report=report,
    )
    raise typer.Exit(run_replay(paths, output=output))
