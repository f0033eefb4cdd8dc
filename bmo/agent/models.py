"""Which models speak, hear and think, from the settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from livekit.agents import llm, stt, tts

from bmo.settings import Settings

Family = Literal["google", "google-live", "inference"]

_T = TypeVar("_T")

CLOUD = ".livekit.cloud"
"""What the host of a server in LiveKit's cloud ends with."""

INFERENCE_LLM = "google/gemini-2.5-flash"
INFERENCE_STT = "deepgram/nova-3"
INFERENCE_TTS = "cartesia/sonic-3"
"""Defaults of the inference family, as LiveKit model strings."""


class ModelsUnavailable(ValueError):
    """Models cannot be had with these settings; the message names the variable to set."""


@dataclass(frozen=True, slots=True)
class VoiceModels:
    """What an ``AgentSession`` is made of: with a realtime model that one alone."""

    family: Family
    llm: llm.LLM[Any] | llm.RealtimeModel | str
    stt: stt.STT[Any] | str | None
    tts: tts.TTS[Any] | str | None

    @property
    def realtime(self) -> bool:
        """Whether one realtime model does it all."""
        return isinstance(self.llm, llm.RealtimeModel)


def model_family(settings: Settings) -> Family:
    """The family BMO_MODELS selects; ``auto`` takes what there is a key for.

    Raises:
        ModelsUnavailable: Its key is missing.
    """
    livekit = settings.livekit_api_key is not None and settings.livekit_api_secret is not None
    google = settings.google_api_key is not None
    url, chosen = settings.livekit_url, settings.bmo_models
    if chosen == "auto" and not google and livekit and url is not None and not _is_cloud(url):
        raise ModelsUnavailable(
            f"No models: LIVEKIT_URL={url} is a server of your own, and LiveKit's inference is in "
            "its cloud: set GOOGLE_API_KEY for Gemini, or BMO_MODELS=inference if the keys are of "
            "a project in the cloud."
        )
    if chosen == "auto" and not google and not livekit:
        raise ModelsUnavailable(
            "No models: set GOOGLE_API_KEY for Gemini, or LIVEKIT_API_KEY and LIVEKIT_API_SECRET "
            "for LiveKit's inference; `bmo chat` needs neither."
        )
    if chosen == "auto":
        return "google" if google else "inference"
    if chosen == "inference" and not livekit:
        raise ModelsUnavailable(
            "BMO_MODELS=inference needs LIVEKIT_API_KEY and LIVEKIT_API_SECRET: set both."
        )
    if chosen != "inference" and not google:
        raise ModelsUnavailable(f"BMO_MODELS={chosen} needs GOOGLE_API_KEY: set it.")
    return chosen


def _is_cloud(url: str) -> bool:
    return (urlsplit(url).hostname or "").endswith(CLOUD)


def voice_models(settings: Settings) -> VoiceModels:
    """Makes the models of a voice conversation.

    Raises:
        ModelsUnavailable: A key is missing.
    """
    family = model_family(settings)
    if family == "inference":
        # Without a language the recogniser takes everything for English; ``multi`` detects it.
        spoken = "multi" if settings.bmo_language == "auto" else settings.bmo_language
        return VoiceModels(
            family,
            settings.bmo_llm or INFERENCE_LLM,
            settings.bmo_stt or f"{INFERENCE_STT}:{spoken}",
            settings.bmo_tts or INFERENCE_TTS,
        )
    if family == "google-live":
        return VoiceModels(family, _live(settings), None, None)
    from livekit.plugins import google

    key = _google_key(settings)
    # Without a language Gemini detects it; one that is named is a hint that it keeps to.
    language = None if settings.bmo_language == "auto" else settings.bmo_language
    ears = _made(google.beta.GeminiSTT, settings.bmo_stt, api_key=key, language=language)
    voice = _made(google.beta.GeminiTTS, settings.bmo_tts, api_key=key)
    return VoiceModels(family, google_llm(settings), ears, voice)


def _made(make: Callable[..., _T], model: str | None, **options: Any) -> _T:
    """One of the plugin's models; the plugin's own default where none is named."""
    return make(**options, **({"model": model} if model else {}))


def google_llm(settings: Settings) -> llm.LLM[Any]:
    """Gemini as the model of replies.

    Raises:
        ModelsUnavailable: GOOGLE_API_KEY is missing.
    """
    from livekit.plugins import google

    return _made(google.LLM, settings.bmo_llm, api_key=_google_key(settings))


def _live(settings: Settings) -> llm.RealtimeModel:
    """Gemini Live as memory needs it."""
    from google.genai import types
    from livekit.plugins.google import realtime

    return _made(
        realtime.RealtimeModel,
        settings.bmo_llm,
        api_key=_google_key(settings),
        # What memory is made from; LiveKit's default, but nothing would be stored without it.
        input_audio_transcription=types.AudioTranscriptionConfig(),
        # Without it Gemini ends a conversation after 15 minutes. The instructions, and with them
        # the profile, stay when old turns are dropped.
        context_window_compression=types.ContextWindowCompressionConfig(
            sliding_window=types.SlidingWindow()
        ),
    )


def _google_key(settings: Settings) -> str:
    if settings.google_api_key is None:
        raise ModelsUnavailable("Gemini needs GOOGLE_API_KEY: set it.")
    return settings.google_api_key.get_secret_value()
