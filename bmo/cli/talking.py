"""``bmo chat`` and the worker's ``console``, ``dev`` and ``start``."""

from __future__ import annotations

import asyncio

import typer

from bmo.cli.opening import settings_for
from bmo.cli.options import UserOption
from bmo.settings import load_settings
from bmo.telemetry import share_metrics_of_processes

app = typer.Typer()

WORKER_HELP = {
    "console": "Talk by microphone and speaker, on this machine.",
    "dev": "Run the LiveKit worker with reload, for development.",
    "start": "Run the LiveKit worker.",
}


@app.command("chat")
def chat(user: UserOption = None) -> None:
    """Talk to BMO in the terminal."""
    settings = settings_for(user)  # what is wrong is said before seconds of loading
    from bmo.chat import run_chat

    raise typer.Exit(asyncio.run(run_chat(settings)))


def _worker_command(name: str):  # type: ignore[no-untyped-def]  # typer reads the inner signature
    def command(context: typer.Context) -> None:
        settings = load_settings()
        if settings.bmo_metrics_port is not None and settings.qdrant_url is not None:
            share_metrics_of_processes()  # before livekit is imported
        from bmo.worker import run_worker

        raise typer.Exit(run_worker(name, context.args, settings))

    return command


for name, help_text in WORKER_HELP.items():
    app.command(
        name,
        help=help_text,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(_worker_command(name))
