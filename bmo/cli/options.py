"""Options that several commands have, and how their values are read."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated

import typer

from bmo.ids import as_user_id
from bmo.settings import GatekeeperMode
from bmo.turn import Category, Visibility

_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")


def moment(text: str) -> datetime:
    """ISO 8601, as UTC; without a zone it is read as UTC."""
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text[:40]!r} must be ISO 8601 such as 2026-03-01 or 2026-03-01T09:00:00Z"
        ) from None


def _user(name: str) -> str:
    try:
        return as_user_id(name)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _language(text: str) -> str:
    if _LANGUAGE_TAG.fullmatch(text) is None:
        raise typer.BadParameter(
            f"{text[:40]!r} is no language code; use one such as en, de or pt-BR"
        )
    return text


def user_option(help_text: str) -> typer.models.OptionInfo:
    """``--user``, read as a user id or as the identity that one is made from."""
    option: typer.models.OptionInfo = typer.Option("--user", parser=_user, help=help_text)
    return option


UserOption = Annotated[str | None, user_option("Whose memory; default BMO_USER_ID.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
ObjectOption = Annotated[bool, typer.Option("--json", help="One JSON object.")]
VisibilityOption = Annotated[
    Visibility | None, typer.Option("--visibility", help="shared, agent or private.")
]
CategoryOption = Annotated[Category | None, typer.Option("--category", help="Where it belongs.")]
AskedOption = Annotated[
    str, typer.Option("--asked", "--before", help="The assistant's words before the turn.")
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--language",
        parser=_language,
        help='What the recogniser says it is: "en", "pt-BR", ...',
    ),
]
ModeOption = Annotated[
    GatekeeperMode | None, typer.Option("--mode", help="Instead of GATEKEEPER_MODE.")
]
IdArgument = Annotated[str, typer.Argument(help="The memory's id, or the start of it.")]
