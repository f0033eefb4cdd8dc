"""Settling: what the gate held goes to a model, off the voice path, when nobody speaks.

One thread, started in the modes ``hybrid`` and ``llm``. Nothing waits for it. A turn that waits
is a row in the ledger, so a process that ends in the middle leaves the rest to the next one, and
what a model fails at is tried again later, each time twice as late.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, ParamSpec

from bmo import telemetry
from bmo.turn import Decision, Turn, utc_now

if TYPE_CHECKING:
    from bmo.extract import Known, Orchestrator, Settlement, TurnOutcome
    from bmo.ledger import Aim, Ledger, Recorded, WaitingTurn
    from bmo.recorder import Recorder
    from bmo.settings import GatekeeperMode, ModelSees, Settings
    from bmo.turn import StoredFact

ALONE_AFTER = 2
"""Failures after which a turn goes alone, so that one bad turn does not hold up its neighbours."""

BEFORE, AFTER = 4, 2
"""Neighbours of the visit that are shown with each turn: context, never a source."""

AIMS: dict[GatekeeperMode, tuple[Aim, ...]] = {
    "hybrid": ("held", "polish"),
    "llm": ("held", "polish", "every"),
}
"""What a model is asked by itself, by mode; in other modes nothing."""

SEEN: dict[ModelSees, tuple[Aim, ...]] = {
    "memories": ("polish",),
    "words": ("held", "polish", "every"),
}
"""What a model may be asked at all, by BMO_MODEL_SEES."""

KNOWN_FACTS = 300
"""Live memories that an answer may only echo, newest first."""

LOOK_S = 30.0
"""How often the thread looks for turns whose next try is due, in seconds."""

PAUSE_S = 1.0
"""Least time between two looks at the ledger, in seconds."""

DISAGREES = 0.5
"""The encoder's P(allow) from which a model's "nothing to keep" does not discard a held turn."""

CANDIDATES = 200
"""Waiting turns of a user that are ranked for the next call."""

LEASE = timedelta(minutes=5)
"""How long a batch is one process's where several share a ledger; a crash gives it back then."""

WRITE_S = 60.0
"""Longest wait for the recorder, in seconds."""

CLOSE_S = 0.5
"""How long closing waits for the thread, in seconds; a call under way is given up."""

logger = logging.getLogger("bmo.memory")

_P = ParamSpec("_P")


@dataclass(slots=True)
class Settled:
    """What settling came to: turns that were asked about and what became of them, and the calls.

    Attributes:
        held: Turns whose facts were refused, or about which encoder and model disagree; a person
            may decide on them.
        restated: Memories that got a canonical text, or went into one.
        unchanged: Allowed turns whose words stay.
        passing: Of these, turns in which a model finds nothing that lasts.
        failed: Turns without a usable answer; they are tried again.
        cost: US dollars of all calls.
        why_stopped: Why no further call can be made now, or "".
        refused: Why facts were refused -> how many.
    """

    asked: int = 0
    allowed: int = 0
    discarded: int = 0
    held: int = 0
    restated: int = 0
    unchanged: int = 0
    passing: int = 0
    failed: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: list[float] = field(default_factory=list)
    why_stopped: str = ""
    refused: dict[str, int] = field(default_factory=dict)


class Settler:
    """Sends waiting turns to a model and writes what comes back.

    Attributes:
        orchestrator: Asks the models, cheapest first.
        aims: What it asks by itself in this mode; empty in the modes without a model.
    """

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        recorder: Recorder,
        orchestrator: Orchestrator,
        *,
        candidates: Callable[[Turn], Sequence[StoredFact]] = lambda turn: (),
        wrote: Callable[[str], None] = lambda user_id: None,
    ) -> None:
        """Puts the parts together; ``start`` starts the thread.

        The orchestrator is closed with it; ``wrote`` is told whose memory changed.
        """
        self.orchestrator = orchestrator
        self._seen = SEEN[settings.bmo_model_sees]
        wanted = AIMS.get(settings.effective_mode, ())
        self.aims: tuple[Aim, ...] = tuple(aim for aim in wanted if aim in self._seen)
        self._settings = settings
        self._ledger = ledger
        self._recorder = recorder
        self._candidates = candidates
        self._wrote = wrote
        self._shared = not settings.ledger_url.startswith("sqlite")
        self._idle_s = settings.gatekeeper_llm_idle_s
        self._spoke: dict[str, float] = {}
        self._opened = time.monotonic()
        self._news = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    # -- from any thread -----------------------------------------------------------------------

    def start(self) -> None:
        """Starts the thread where the mode wants a model."""
        if self.aims and self._thread is None:
            self.orchestrator.warm_up()
            self._thread = threading.Thread(target=self._run, name="bmo-settling", daemon=True)
            self._thread.start()

    def spoke(self, user_id: str) -> None:
        """A user said something: his turns wait until he has been silent for a while."""
        self._spoke[user_id] = time.monotonic()
        self._news.set()

    def visit_ended(self, user_id: str) -> None:
        """A visit is over: its turns need not wait for silence."""
        self._spoke.pop(user_id, None)
        self._opened = min(self._opened, time.monotonic() - self._idle_s)
        self._news.set()

    def settle_now(
        self, user_id: str, *, aims: Collection[Aim] = (), limit: int | None = None
    ) -> Settled:
        """Settles a user's waiting turns, due or not, each once. Blocking; for the CLI.

        Args:
            user_id: Whose turns.
            aims: What to ask; () asks about held turns and what the mode asks by itself.
            limit: Turns at most.
        """
        asked = tuple(aims) or tuple(dict.fromkeys(("held", *self.aims)))
        wanted = [aim for aim in asked if aim in self._seen]
        done = Settled()
        tried: set[str] = set()
        while limit is None or done.asked < limit:
            waiting = [
                one
                for one in self._ledger.waiting(user_id, aims=wanted)
                if one.turn.id not in tried
            ]
            batch = next_batch(waiting, self._settings.gatekeeper_llm_batch)
            batch = batch if limit is None else batch[: limit - done.asked]
            if not batch or not self._settle(user_id, batch, done):
                break
            tried.update(one.turn.id for one in batch)
        return done

    def close(self) -> None:
        """Stops the thread; what it has not written waits for the next start. Safe to call twice.

        A call under way is given up: its answer is thrown away and the turns wait on.
        """
        self._stop.set()
        self._news.set()
        self.orchestrator.close()
        if self._thread is not None:
            self._thread.join(CLOSE_S)

    # -- on the thread -------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                wait_s = self._round()
            except Exception as error:  # the thread must live as long as the process
                if not self._stop.is_set():
                    logger.error("settling failed", extra={"error": repr(error)})
                wait_s = LOOK_S
            if wait_s > 0:
                self._news.wait(wait_s)
                self._news.clear()
                # Every turn is news: the ledger is not asked more often than this.
                self._stop.wait(min(PAUSE_S, self._idle_s))

    def _round(self) -> float:
        """Settles one batch of one user; returns how long there is nothing to do, in seconds."""
        ready_in = self.orchestrator.ready_in()
        if ready_in != 0.0:
            return LOOK_S if ready_in is None else min(ready_in, LOOK_S)
        now = utc_now()
        looks = [LOOK_S, *self._silent_in()]
        for user_id in self._ledger.users_waiting(now, self.aims):
            if user_id in self._spoke:
                continue
            if time.monotonic() - self._opened < self._idle_s:
                looks.append(self._idle_s)
                break
            self._settle_due(user_id, now)
            return 0.0
        due = self._ledger.next_try(now, self.aims)
        if due is not None:
            looks.append((due - now).total_seconds())
        return max(min(looks), 0.01)

    def _silent_in(self) -> list[float]:
        """How long until each user who spoke lately has been silent for long enough, in seconds."""
        if self._settings.gatekeeper_llm_when == "end":
            return []  # his visit's end lets his turns go
        now = time.monotonic()
        found = []
        for user_id, spoke in tuple(self._spoke.items()):
            left = self._idle_s - (now - spoke)
            if left > 0:
                found.append(left)
            elif self._spoke.get(user_id) == spoke:
                self._spoke.pop(user_id, None)
                found.append(PAUSE_S)  # the turn may be on its way to the disk still
        return found

    def _settle_due(self, user_id: str, now: datetime) -> None:
        waiting = self._ledger.waiting(user_id, due_at=now, aims=self.aims, limit=CANDIDATES)
        batch = next_batch(waiting, self._settings.gatekeeper_llm_batch)
        if batch and self._shared:
            ids = [one.turn.id for one in batch]
            got = self._ledger.lease_waiting(user_id, ids, now, now + LEASE)
            batch = [one for one in batch if one.turn.id in got]
        if not batch:
            return
        try:
            self._settle(user_id, batch, Settled())
        except Exception as error:  # a bug or a full disk: the turns wait on, and others go first
            if not self._stop.is_set():
                logger.exception("a batch could not be settled")
                self._put_off(user_id, batch, f"settling failed: {type(error).__name__}")

    # -- one batch -----------------------------------------------------------------------------

    def _settle(self, user_id: str, batch: Sequence[WaitingTurn], done: Settled) -> bool:
        """Asks about some turns of one visit and writes the answer.

        Returns:
            Whether a model could be asked at all.
        """
        if self.orchestrator.ready_in() != 0.0:
            done.why_stopped = self.orchestrator.why_not()
            return False
        budget = DayBudget(self._settings, self._ledger, self._recorder, user_id)
        if budget.is_spent():
            self._rest(user_id, budget, done)
            return False
        turns = [one.turn for one in batch]
        settlement = self.orchestrator.extract(turns, self._known(user_id, turns), budget)
        if self._stop.is_set():
            return False  # what is not written waits for the next start
        self._count(settlement, done)
        if not settlement.calls:
            done.why_stopped = self.orchestrator.why_not()
        failed: list[WaitingTurn] = []
        why_failed = ""
        written = False
        for waiting, outcome in zip(batch, settlement.outcomes, strict=True):
            if outcome.status == "failed":
                failed.append(waiting)
                why_failed = outcome.decision.reason
                continue
            done.asked += 1
            written |= self._write(user_id, waiting, outcome, done)
        if failed and settlement.calls:
            done.asked += len(failed)
            done.failed += len(failed)
            self._put_off(user_id, failed, why_failed)
        if failed and budget.is_spent():
            self._rest(user_id, budget, done)
        if written:
            self._wrote(user_id)
        return bool(settlement.calls) or len(failed) < len(batch)

    def _known(self, user_id: str, turns: Sequence[Turn]) -> Known:
        from bmo.extract import Known

        shown = (turns[0], turns[-1]) if "held" in self._seen else ()
        around = {
            said.id: said
            for turn in shown
            for said in self._ledger.around(turn, before=BEFORE, after=AFTER)
        }
        asked = {turn.id for turn in turns}
        recalled = self._ledger.outcomes(user_id, [*asked, *around]).values()
        # The profile is in no log of recalls: whatever was known then may have been in it.
        known_then = self._ledger.live_facts(user_id, at=turns[0].at, limit=KNOWN_FACTS)
        given = [*(fact for one in recalled for fact in one.given), *known_then]
        return Known(
            subjects=self._ledger.known_subjects(user_id),
            neighbours=tuple(turn for turn in around.values() if turn.id not in asked),
            # What a turn told itself is no echo in it, though it was recalled later in the visit.
            injected=tuple(dict.fromkeys(f.text for f in given if f.turn_id not in asked)),
            candidates={turn.id: self._older(turn) for turn in turns},
        )

    def _older(self, turn: Turn) -> tuple[StoredFact, ...]:
        """Live memories that a turn may end."""
        found = self._candidates(turn)
        return tuple(f for f in found if f.turn_id != turn.id and f.valid_from < turn.at)

    def _write(
        self, user_id: str, waiting: WaitingTurn, outcome: TurnOutcome, done: Settled
    ) -> bool:
        """Writes one outcome; returns whether memories changed."""
        turn_id, decision = waiting.turn.id, _weighed(waiting, outcome.decision)
        adds = decision.verdict == "allow" or waiting.aim == "held"
        recorded: Recorded | None = None
        if adds:
            handed_over = self._recorder.settle(user_id, turn_id, decision, whole=outcome.whole)
            recorded = handed_over.result(WRITE_S)
        else:
            self._called(self._ledger.forget_waiting, user_id, turn_id)
        for refusal in outcome.refused:
            done.refused[refusal.why] = done.refused.get(refusal.why, 0) + 1
        self._count_written(waiting, decision, recorded, done, adds)
        changed = recorded is not None and (
            recorded.added or recorded.confirmed or recorded.restated or recorded.ended
        )
        return bool(changed)

    @staticmethod
    def _count_written(
        waiting: WaitingTurn,
        decision: Decision,
        recorded: Recorded | None,
        done: Settled,
        adds: bool,
    ) -> None:
        merged = recorded and any(one.why == "merged" for one in recorded.ended)
        if recorded is not None and (recorded.restated or merged):
            done.restated += 1
        elif waiting.aim == "polish" and not (recorded and recorded.added):
            adds = False
            done.passing += decision.verdict == "discard"
        if not adds:
            done.unchanged += 1
        elif decision.verdict == "allow":
            done.allowed += 1
        elif decision.verdict == "discard":
            done.discarded += 1
        else:
            done.held += 1
        outcome = decision.verdict if adds else "unchanged"
        telemetry.note("bmo_settled_turns", aim=waiting.aim, outcome=outcome)

    def _rest(self, user_id: str, budget: DayBudget, done: Settled) -> None:
        """The user's budget is spent: what waits of him is not tried before the next day."""
        from bmo.extract import SPENT

        done.why_stopped = f"No model is asked before {budget.renewed_at:%H:%M} UTC: {SPENT}."
        self._called(self._ledger.rest_waiting, user_id, budget.renewed_at, SPENT)

    def _put_off(self, user_id: str, failed: Sequence[WaitingTurn], why: str) -> None:
        ids = [waiting.turn.id for waiting in failed]
        self._called(self._ledger.put_off_settling, user_id, ids, why, utc_now())
        for waiting in failed:
            telemetry.note("bmo_settled_turns", aim=waiting.aim, outcome="failed")

    def _called(self, change: Callable[_P, None], *args: _P.args, **kwargs: _P.kwargs) -> None:
        """Has the recorder change the queue, and waits for it."""
        self._recorder.call(change, *args, **kwargs).result(WRITE_S)

    @staticmethod
    def _count(settlement: Settlement, done: Settled) -> None:
        done.calls += len(settlement.calls)
        done.tokens += sum(call.input_tokens + call.output_tokens for call in settlement.calls)
        done.cost += settlement.cost
        done.seconds += [call.seconds for call in settlement.calls]
        for call in settlement.calls:
            failed = str(bool(call.error)).lower()
            telemetry.note("bmo_model_calls", extractor=call.extractor, failed=failed)
            telemetry.note("bmo_model_duration_seconds", call.seconds)
            telemetry.note("bmo_model_cost_dollars", call.cost)


def _weighed(waiting: WaitingTurn, decision: Decision) -> Decision:
    """Lets a turn stay held, for a person, where encoder and model contradict each other."""
    doubted = waiting.promise is not None and waiting.promise >= DISAGREES
    if decision.verdict != "discard" or not doubted:
        return decision
    why = f"{decision.reason}, but the encoder finds it durable"
    return replace(decision, verdict="hold", reason=why, confidence=0.5)


def next_batch(waiting: Sequence[WaitingTurn], most: int) -> list[WaitingTurn]:
    """The most promising turn and those of its visit that wait too, oldest first."""
    ranked = sorted(
        waiting, key=lambda one: (*rank_of(one.aim, one.promise), one.turn.at, one.turn.id)
    )
    if not ranked:
        return []
    best = ranked[0]
    if best.attempts >= ALONE_AFTER:
        return [best]
    beside = [
        one
        for one in ranked
        if one.turn.session_id == best.turn.session_id and one.attempts < ALONE_AFTER
    ]
    return sorted(beside[:most], key=lambda one: (one.turn.at, one.turn.id))


def rank_of(aim: Aim, promise: float | None) -> tuple[bool, float]:
    """Where a turn stands in line; lower goes first.

    Held turns first, for theirs are the facts that are missing; among them, and among the rest,
    the more probable ones by the encoder's P(allow).
    """
    return aim != "held", -(promise if promise is not None else 0.0)


class DayBudget:
    """A user's calls and tokens of a day (UTC); see ``bmo.extract.Budget``.

    It is in the ledger: a start anew does not fill it, and workers that share a ledger share it.
    """

    def __init__(
        self, settings: Settings, ledger: Ledger, recorder: Recorder, user_id: str
    ) -> None:
        """The budget of a user by GATEKEEPER_LLM_BUDGET and GATEKEEPER_LLM_TOKEN_BUDGET."""
        self._calls = settings.gatekeeper_llm_budget
        self._tokens = settings.gatekeeper_llm_token_budget
        self._ledger = ledger
        self._recorder = recorder
        self._user_id = user_id

    def is_spent(self) -> bool:
        """Whether no further call is allowed today."""
        calls, tokens = self._ledger.model_day(self._user_id, utc_now())
        return calls >= self._calls or tokens >= self._tokens

    @property
    def renewed_at(self) -> datetime:
        """When the next day begins."""
        return datetime.combine(utc_now().date() + timedelta(days=1), datetime.min.time(), UTC)

    def take(self) -> bool:
        """Counts a call that is about to begin, if one is allowed; returns whether it is."""
        asked = (self._user_id, utc_now(), self._calls, self._tokens)
        return self._recorder.call(self._ledger.take_model_call, *asked).result(WRITE_S)

    def spend(self, tokens: int) -> None:
        """Counts the tokens of a call, both ways."""
        noted = (self._user_id, utc_now(), tokens)
        self._recorder.call(self._ledger.note_model_tokens, *noted).result(WRITE_S)
