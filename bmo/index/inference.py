"""Whether Mem0 extracts memories itself (MEM0_SETTING=NORMAL), and with which model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bmo.settings import Settings


@dataclass(frozen=True, slots=True)
class Inference:
    """The model of Mem0's own extraction.

    Attributes:
        model: A Gemini model.
        api_key: Google API key.
    """

    model: str
    api_key: str = field(repr=False)


def inference_of(settings: Settings) -> Inference | None:
    """The model that the settings give Mem0: in NORMAL with a key one, otherwise none."""
    if settings.mem0_setting != "NORMAL" or settings.google_api_key is None:
        return None
    return Inference(settings.gemini_model, settings.google_api_key.get_secret_value())
