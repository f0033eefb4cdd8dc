"""The command line's root: registers the command groups and turns errors into sentences."""

from __future__ import annotations

import io
import os
import sys
import warnings

import typer

from bmo.cli import (
    benchmarking,
    checking,
    evaluate,
    exporting,
    gates,
    held,
    memories,
    memory_changes,
    recalling,
    replaying,
    talking,
    upkeep,
)
from bmo.cli.errors import CommandError
from bmo.memory import MemoryUnavailable
from bmo.settings import MemorySettingWarning, SettingsError

app = typer.Typer(
    name="bmo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="BMO: a voice agent that remembers what matters, and nothing else.",
)

gates.register(app)
talking.register(app)
replaying.register(app)
exporting.register(app)
memories.register(app)
memory_changes.register(memories.memories)
held.register(app)
recalling.register(app)
upkeep.register(app)
checking.register(app)
benchmarking.register(app)
app.add_typer(evaluate.app, name="eval")


def main() -> None:
    """Runs the command line; wrong input and unavailable memory end in one sentence each."""
    # The standard library says to replace it; its type is a plain function's.
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What somebody said may hold letters that this terminal's encoding has not.
            stream.reconfigure(errors="replace")
    try:
        app(prog_name="bmo")
    except SettingsError as error:
        _fail(str(error), 2)
    except CommandError as error:
        _fail(str(error), error.code)
    except MemoryUnavailable as error:
        _fail(str(error), 1)
    except ValueError as error:
        # Not at the top: the gate is imported when it is first needed.
        from bmo.gate import PackError

        if not isinstance(error, PackError):
            raise
        _fail(f"the rules of the package are damaged ({error}); reinstall bmo-voice.", 1)
    except BrokenPipeError:
        # The reader of our output left (``bmo ... | head``): nothing more to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _fail(sentence: str, code: int) -> None:
    print(f"bmo: {sentence}", file=sys.stderr)
    sys.exit(code)


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    """Shows BMO's own warnings as a sentence; third parties' warnings are not for its users."""
    if issubclass(category, MemorySettingWarning):
        print(f"bmo: {message}", file=sys.stderr)
