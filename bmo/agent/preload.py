"""What every call needs, loaded once in LiveKit's fork server: the processes of calls share it.

A process of its own for each call (``QDRANT_URL``) would load libraries and rules anew: 130 MB and
a second or two. Of what is imported here a call keeps the pages it writes to. Nothing here may
start a thread or open a connection or a model: a fork has none of the threads it was made beside,
and that is why onnxruntime is left to the calls.

LiveKit imports this module by its name (``AgentServer(preload_modules=[...])``).
"""

from __future__ import annotations

from importlib import import_module

from bmo.settings import SettingsError, load_settings, quiet_third_parties

MODULES = (
    "bmo.worker",
    "bmo.index.mem0_parts",
    "bmo.index.qdrant_store",
    "bmo.ledger",
    "bmo.memory.warming",
    "bmo.recorder",
)
POSTGRESQL = ("psycopg", "sqlalchemy.dialects.postgresql.psycopg")


def load() -> None:
    """Imports the modules, and reads and compiles the rules. Does nothing with wrong settings."""
    try:
        settings = load_settings()
    except SettingsError:
        return  # each call says it
    quiet_third_parties(settings.bmo_home)
    for name in MODULES:
        import_module(name)
    _rules()
    if settings.ledger_url.startswith("postgresql"):
        for name in POSTGRESQL:  # if they are missing each call says it
            import_module(name)


def _rules() -> None:
    from bmo.gate import WriteGate
    from bmo.memory.warming import rehearse_gates
    from bmo.recall import ReadGate

    settings = load_settings(gatekeeper_mode="pattern", gatekeeper_debug=False)
    write = WriteGate.from_settings(settings, load_encoder=False)
    rehearse_gates(write, ReadGate.from_settings(settings, load_encoder=False))


load()
