"""The command line's root: collects the command groups and turns errors into sentences."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
import warnings
from importlib import metadata
from typing import Annotated

import typer

from bmo.cli import (
    benchmarking,
    checking,
    evaluate,
    gates,
    held,
    memories,
    memory_changes,
    recalling,
    scenarios,
    talking,
    upkeep,
)
from bmo.cli.errors import CommandError
from bmo.cli.usage import UsageError, usage_sentence
from bmo.memory import MemoryUnavailable
from bmo.settings import MemorySettingWarning, SettingsError

app = typer.Typer(
    name="bmo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="BMO: a voice agent that remembers what matters, and nothing else.",
    context_settings={"help_option_names": ["--help", "-h"]},
)
memories.app.add_typer(memory_changes.app)
app.add_typer(talking.app)
app.add_typer(memories.app, name="memories")
for group in (recalling, held, gates, scenarios, upkeep, checking, benchmarking):
    app.add_typer(group.app)
app.add_typer(evaluate.app, name="eval")


def _print_version(asked: bool) -> None:
    if asked:
        print(f"bmo {metadata.version('bmo-voice')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Runs the command line; wrong input and unavailable memory end in one sentence each."""
    # The standard library says to replace it; its type is a plain function's.
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What somebody said may hold letters that this terminal's encoding has not.
            stream.reconfigure(errors="replace")
    # What was imported stays to the end: no collection need look through it.
    gc.freeze()
    try:
        code = app(prog_name="bmo", standalone_mode=False)
        gc.freeze()  # at exit Python looks at every object once more for cycles
        sys.exit(code)
    except UsageError as error:
        _fail(usage_sentence(error, sys.argv[1:]), 2)
    except typer.Abort:
        _fail("stopped; nothing was changed.", 1)
    except SettingsError as error:
        _fail(str(error), 2)
    except CommandError as error:
        _fail(str(error), error.code)
    except MemoryUnavailable as error:
        # A BMO_HOME that cannot be made is a wrong value; all else is a fault.
        _fail(str(error), 2 if isinstance(error.__cause__, OSError) else 1)
    except BrokenPipeError:
        # The reader of our output left (``bmo ... | head``): nothing more to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        _fail(f"{str(error.filename)[:60]!r}... is too long for the name of a file: shorten it.", 2)


def _fail(sentence: str, code: int) -> None:
    if sentence:
        print(f"bmo: {sentence}", file=sys.stderr)
    sys.exit(code)


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    """Shows BMO's own warnings as a sentence; third parties' warnings are not for its users."""
    if issubclass(category, MemorySettingWarning):
        print(f"bmo: {message}", file=sys.stderr)
