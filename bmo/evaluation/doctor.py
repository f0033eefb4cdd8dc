"""What ``bmo doctor`` looks at: one check a part, each with what was found and the fix.

Nothing is changed: no ledger is made or migrated, no store is created, no key is printed.
"""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

from dotenv import dotenv_values

from bmo.evaluation.checks import Check
from bmo.evaluation.doctor_services import check_keys, check_livekit, check_models_behind
from bmo.evaluation.doctor_stores import check_disk, check_home, check_ledger, check_qdrant
from bmo.memory.opening import ModeChoice, choose_mode
from bmo.settings import (
    MemorySettingWarning,
    Settings,
    SettingsError,
    load_settings,
    quiet_third_parties,
)
from bmo.turn import Turn

REINSTALL = "install BMO again from its repository: pip install --force-reinstall PATH_OR_URL"
SPOKEN = "my brother sam lives in leeds"


def examine(settings: Settings | None = None) -> Iterator[Check]:
    """Looks at everything, one check after the other.

    Args:
        settings: Settings of this process; None reads environment and ``.env``, and reports what
            is wrong with them.
    """
    if settings is None:
        settings, checks = read_settings()
        yield from checks
    models = check_models()  # not run to its end: the model stays open for who asks it below
    yield next(models)
    if settings is None:
        return
    chosen = choose_mode(settings)
    yield check_mode(settings, chosen)
    settings = settings.model_copy(update={"gatekeeper_mode": chosen.mode})
    for look in (
        check_rules,
        check_home,
        check_disk,
        check_ledger,
        check_qdrant,
        check_encoder,
        check_keys,
        check_models_behind,
        check_livekit,
        check_audio,
    ):
        yield from _safely(look, settings)


def _safely(look: Callable[[Settings], Iterator[Check]], settings: Settings) -> Iterator[Check]:
    """A check that breaks is a failed check: the others still run."""
    try:
        yield from look(settings)
    except Exception as error:  # whatever a third party raises is what the doctor is there to say
        name = look.__name__.removeprefix("check_")
        yield Check(name, "fail", f"the check broke: {type(error).__name__}: {error}"[:300])


OWN_PREFIXES = ("BMO_", "GATEKEEPER_", "GATEKEPER_", "MEM0_SETTING")
"""How names of settings begin, and a slip that is often made."""


def read_settings() -> tuple[Settings | None, list[Check]]:
    """Reads the settings and says what is wrong with them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            settings = load_settings()
        except SettingsError as error:
            return None, [Check("settings", "fail", str(error), "correct it in .env or unset it.")]
    said = [str(one.message) for one in caught if issubclass(one.category, MemorySettingWarning)]
    if said:
        return settings, [Check("settings", "warn", said[0], "set it to GATED or NORMAL.")]
    unknown = _unknown_variables()
    if unknown:
        return settings, [Check("settings", "warn", *unknown)]
    return settings, [Check("settings", "ok", settings.mem0_setting)]


def check_mode(settings: Settings, chosen: ModeChoice) -> Check:
    """Which mode the write gate works in, and why where nobody set it."""
    if settings.mem0_setting == "NORMAL":
        return Check("gate mode", "ok", "no gates (MEM0_SETTING=NORMAL)")
    why = f" (GATEKEEPER_MODE is not set: {chosen.why})" if chosen.why else ""
    return Check("gate mode", "ok", f"{chosen.mode}{why}")


def _unknown_variables() -> tuple[str, str] | None:
    """Variables that look like settings and are none, and what may be meant by the first."""
    known = {name.upper() for name in Settings.model_fields}
    set_here = {*os.environ, *dotenv_values(".env")}
    unknown = sorted(
        name
        for name in (name.upper() for name in set_here)
        if name.startswith(OWN_PREFIXES) and name not in known
    )
    if not unknown:
        return None
    near = difflib.get_close_matches(unknown[0], known, n=1)
    meant = f"{unknown[0]}: {near[0]} may be meant" if near else f"unset {unknown[0]}"
    return f"nothing reads {', '.join(unknown)}", f"{meant}; .env.example lists all."


def check_models() -> Iterator[Check]:
    """Whether the model file is the one its manifest names, and can be run."""
    from bmo.encoder import MODEL, EncoderUnavailable, open_model, read_manifest

    try:
        manifest = read_manifest(MODEL)
        model = open_model(MODEL, manifest)
    except EncoderUnavailable as error:
        yield Check("model", "fail", str(error), REINSTALL)
        return
    size = (MODEL / manifest["file"]).stat().st_size
    yield Check("model", "ok", f"sha256 {manifest['sha256'][:12]}, {size / 1e6:.1f} MB")
    del model


def check_rules(settings: Settings) -> Iterator[Check]:
    """Whether the write gate's rules load, the person's own included."""
    from bmo.gate import WriteGate

    gate = WriteGate.from_settings(settings, load_encoder=False)
    gate.decide_by_rules(Turn("my brother is sam"))
    yield Check("rules", "ok", gate.version)
    if settings.gatekeeper_custom_rules_path is not None:
        for problem in gate.custom_rules.problems:
            yield Check("custom rules", "fail", str(problem), "the other rules work; correct it.")
        if not gate.custom_rules.problems:
            yield Check("custom rules", "ok", str(settings.gatekeeper_custom_rules_path))


def check_encoder(settings: Settings) -> Iterator[Check]:
    """Whether embedder and local model of the gates work (``bmo bench`` says how fast)."""
    from bmo.index import EmbedderUnavailable, open_embedder

    quiet_third_parties(settings.bmo_home)
    with ExitStack() as stack:
        try:
            # Open until the end: where it is the encoder, that is opened once.
            embedder = stack.enter_context(closing(open_embedder(settings)))
            embedder.embed([SPOKEN])
        except EmbedderUnavailable as error:
            local = settings.bmo_embedder == "local"
            fix = REINSTALL if local else "set BMO_EMBEDDER=local, or correct the key."
            yield Check("embedder", "fail", str(error), fix)
        else:
            yield Check("embedder", "ok", f"{embedder.name}, {embedder.dims} dims")
        yield _judge_check(settings)


def _judge_check(settings: Settings) -> Check:
    if settings.effective_mode in ("pattern", "disabled") or settings.mem0_setting == "NORMAL":
        return Check("judge", "ok", f"not used (GATEKEEPER_MODE={settings.effective_mode})")
    from bmo.encoder import Encoder, EncoderUnavailable

    try:
        with closing(Encoder.open()) as encoder:
            encoder.assess([("", SPOKEN)])
            return Check("judge", "ok", encoder.version)
    except EncoderUnavailable as error:
        return Check("judge", "fail", str(error), REINSTALL)


def check_audio(_settings: Settings) -> Iterator[Check]:
    """Whether there are a microphone and a speaker for ``bmo console``."""
    fix = "bmo console needs them; bmo chat, dev and start do not."
    try:
        import sounddevice

        devices = list(sounddevice.query_devices())
    except (ImportError, OSError) as error:
        yield Check("audio", "warn", f"no audio system ({error})", f"install libportaudio2: {fix}")
        return
    ears = sum(device["max_input_channels"] > 0 for device in devices)
    mouths = sum(device["max_output_channels"] > 0 for device in devices)
    found = f"{ears} microphones, {mouths} speakers"
    yield Check("audio", "ok" if ears and mouths else "warn", found, "" if ears and mouths else fix)
