"""The state of the whole, on every page: people at risk, loss, hidden cells, the answer."""

from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Literal

from sfumato.app.desk import Desk
from sfumato.app.jobs import Job
from sfumato.dataclasses import dataclass
from sfumato.typing import Progress

if TYPE_CHECKING:
    from sfumato.attacks.adversary.trial import Trial

_SOON = 0.03
"""Seconds in which exact figures are worth waiting for when an estimate is there."""

_PATIENCE = 30.0
"""Seconds that a browser waits for figures before it asks again."""


ONLY_THE_RELEASE = (
    "Only attacks were tried that need nothing but the release, and promises were not recomputed. "
    "The answer is known after sf.verify."
)
"""Why what is said while choosing is never *yes*."""


@dataclass(frozen=True)
class Status:
    """What is known of the present policy."""

    state: Literal["empty", "reading", "looking", "ready", "failed"]
    key: str = ""
    """The fingerprint of what it is about: a page fetches it again when this changes."""

    trial: "Trial | None" = None
    """The figures; those of the policy before while new ones are computed."""

    old: bool = False
    """Whether they are of the policy before."""

    problem: str = ""
    job: Job | None = None
    tried: str = ONLY_THE_RELEASE
    """A sentence about what the figures go by."""

    answer: str = ""
    """The answer of the verdict on this policy: yes, with care, no; nothing if it was not asked."""

    before: int | None = None
    """The people at risk if the table were published as it is; None if that is not known."""


def status_of(desk: Desk, *, wait: bool = False) -> Status:
    """Return what is known; with `wait`, compute what is not, and stop what is of no use now."""
    if desk.source is None or (desk.text is None and not desk.jobs.running):
        return Status("empty")
    key = desk.fingerprint
    reading = desk.jobs.get("open")
    if reading is not None and reading.error is not None:
        return Status("failed", key, problem=reading.error)
    if reading is None or not reading.ready:
        return Status("reading", key, job=reading)
    return _look(desk, key, wait=wait)


def _look(desk: Desk, key: str, *, wait: bool) -> Status:
    look = desk.jobs.get("trial")
    if wait and (look is None or look.key != key or look.stopped):
        look = _begin(desk, look)
    if look is None:
        return Status("looking", key)
    if wait:
        _wait_for_something(look)
    if look.key == key and look.error is not None:
        return Status("failed", key, problem=look.error)
    if look.key == key and look.ready and look.result.reason is not None:
        return Status("failed", key, problem=look.result.reason)
    if look.key == key and look.ready:
        return Status("ready", key, look.result, answer=_answer(desk), before=_before(desk))
    if look.key == key and look.partial is not None:
        return Status("looking", key, look.partial, job=look)
    return Status("looking", key, look.result or look.before, old=True, job=look)


def _begin(desk: Desk, before: Job | None) -> Job:
    """Begin to compute the figures of the present policy; those of the one before stay in sight."""
    live, policy = desk.require_live(), desk.task_policy
    begun = Event()

    def work(report: Progress) -> "Trial":
        begun.wait()
        quick = live.look(policy, quick=True, progress=report)
        if quick.exact:
            return quick
        look.partial = quick
        return live.look(policy, progress=report)

    look = desk.start("trial", work)
    look.before = None if before is None else before.result or before.partial or before.before
    begun.set()
    return look


def _wait_for_something(look: Job) -> None:
    """Wait for the figures, or for an estimate if they take long."""
    if look.partial is not None:
        # The estimate was shown before: only the figures themselves are news.
        look.wait(_PATIENCE)
        return
    end = monotonic() + _PATIENCE
    while look.running and look.partial is None and monotonic() < end:
        look.wait(0.01)
    if look.running:
        look.wait(_SOON)


def _before(desk: Desk) -> int | None:
    """Return the people at risk in the table as it is, which the verdict has counted."""
    verdict = desk.jobs.get("verdict")
    if verdict is None or not verdict.ready or desk.is_old(verdict):
        return None
    lines = [line for line in verdict.result.original if line.counts]
    return max((line.people for line in lines), default=None)


def _answer(desk: Desk) -> str:
    verdict = desk.jobs.get("verdict")
    if verdict is None or not verdict.ready or desk.is_old(verdict):
        return ""
    return str(getattr(verdict.result, "answer", "") or "")
