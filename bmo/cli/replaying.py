"""``bmo replay``: annotated conversations through a real AgentSession."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("replay")(replay)


def replay(
    paths: Annotated[list[Path], typer.Argument(help="Scenario files or folders.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a turn.")] = False,
) -> None:
    """Replay annotated conversations and report where behaviour differs."""
    from bmo.replay import run_replay

    raise typer.Exit(run_replay(paths, as_json=as_json))
