"""A process to be killed while a model is asked: holds a turn and waits.

Usage: ``python -m tests.integration.settling_process HOME OLLAMA_HOST MODEL WORDS [dies]``. Prints
"recorded" when the turn is on disk. With "dies" it ends at once, as if killed, when the answer is
there and before anything of it is written.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import NoReturn

from bmo.memory import MemoryService
from bmo.recorder import Recorder
from bmo.settings import load_settings
from bmo.turn import Turn


def die(*_: object, **__: object) -> NoReturn:
    """Ends the process without any of its endings."""
    os._exit(9)


async def main(home: str, host: str, model: str, words: str, dies: str = "") -> None:
    """Says one turn and stays until it is killed."""
    if dies:
        setattr(Recorder, "settle", die)  # noqa: B010 - mypy forbids the plain assignment
    settings = load_settings(
        bmo_home=Path(home),
        gatekeeper_mode="hybrid",
        gatekeeper_llm_model=f"ollama/{model}",
        ollama_host=host,
        gatekeeper_llm_idle_s=0.0,
        bmo_judge_allow=1.0,
        bmo_judge_discard=1.0,
    )
    service = await MemoryService.open(settings)
    session = service.session(user_id="ana")
    turn = Turn(text=words)
    await session.on_turn(turn)
    await session.recorded(turn.id)
    print("recorded", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:6]))
