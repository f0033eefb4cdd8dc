"""The ``bmo`` command: typer commands, one file a command group; prints with rich; no logic."""

from bmo.cli.application import app, main

__all__ = ["app", "main"]
