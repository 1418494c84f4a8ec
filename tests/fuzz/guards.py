"""What all guards share: cases drawn from a seed, a budget, faults made small and kept.

A guard draws cases and tries them. A case is plain JSON, so that it can be kept and tried again
when the guard has long learned to draw others. What is wrong is raised as a `Fault`; any other
exception is an internal error, and so a fault of its own kind.
"""

import hashlib
import json
import random
import shutil
import signal
import tempfile
import threading
import time
import traceback
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from sfumato.errors import SfumatoError, VerificationError

CORPUS = Path(__file__).parent / "corpus"
"""Cases that were found, by guard; each is tried first, in every lane."""

Case = dict[str, Any]


class Fault(AssertionError):  # noqa: N818 - what is looked for, not an error of the search
    """Something that must never happen. Its kind tells it from other faults of the same guard."""

    def __init__(self, kind: str, text: str = "") -> None:
        super().__init__(f"{kind}: {text}" if text else kind)
        self.kind = kind


class Guard(ABC):
    """Draws cases and tries them."""

    name: ClassVar[str]
    weight: ClassVar[float] = 1.0
    """Its share of a budget of seconds, against that of others."""

    few: ClassVar[int] = 20
    """Cases in the full lane."""

    patience: ClassVar[int] = 120
    """Seconds after which a case hangs."""

    needs: ClassVar[str | None] = None
    """A server it cannot do without."""

    @abstractmethod
    def draw(self, rng: random.Random) -> Case:
        """Draw a case."""

    @abstractmethod
    def attempt(self, case: Case, folder: Path) -> None:
        """Try a case in an empty folder; raise a `Fault` if something is wrong."""

    def smaller(self, case: Case) -> Iterator[Case]:
        """Yield cases that are a little smaller, boldest first."""
        for key in ("rows", "edits", "increments"):
            items = case.get(key)
            step = len(items) // 2 if items else 0
            while step:
                for at in range(0, len(items), step):
                    rest = items[:at] + items[at + step :]
                    if rest:
                        yield {**case, key: rest}
                step //= 2

    def close(self) -> None:  # noqa: B027 - most have nothing to give back
        """Give back what was kept for all cases."""


@contextmanager
def refusals() -> Iterator[None]:
    """Let an answer to a wrong request pass, and nothing else."""
    try:
        yield
    except VerificationError as error:
        raise Fault("maker and verifier disagree", str(error)) from error
    except SfumatoError as error:
        if "fault of Sfumato" in str(error):
            raise Fault("fault of Sfumato", str(error)) from error


@contextmanager
def patience(seconds: int) -> Iterator[None]:
    """Find what never ends, where the system and the thread allow it."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() != threading.main_thread():
        yield
        return

    def give_up(_number: int, _frame: object) -> None:
        raise Fault("no end", f"not after {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def try_case(guard: Guard, case: Case) -> Fault | None:
    """Try a case in a folder of its own, and return what is wrong."""
    folder = Path(tempfile.mkdtemp(prefix="sfumato-fuzz-"))
    try:
        with warnings.catch_warnings(), patience(guard.patience):
            warnings.simplefilter("ignore")
            guard.attempt(case, folder)
    except Fault as fault:
        return fault
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "/sfumato/" in frame.filename] or frames
        place = f"{Path(ours[-1].filename).name}:{ours[-1].name}"
        text = "".join(traceback.format_exception(error))
        return Fault(f"internal error {type(error).__name__} in {place}", text[-3000:])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return None


def minimize(guard: Guard, case: Case, fault: Fault, *, seconds: float = 20) -> tuple[Case, Fault]:
    """Return the smallest case found that has the same fault."""
    end = time.monotonic() + seconds
    shrunk = True
    while shrunk and time.monotonic() < end:
        shrunk = False
        for candidate in guard.smaller(case):
            if time.monotonic() > end:
                break
            found = try_case(guard, candidate)
            if found is not None and found.kind == fault.kind:
                case, fault, shrunk = candidate, found, True
                break
    return case, fault


def keep(guard: Guard, case: Case, corpus: Path = CORPUS) -> Path:
    """Write a case to the corpus and return its file."""
    text = json.dumps(case, indent=1)
    name = hashlib.sha256(text.encode()).hexdigest()[:12]
    path = corpus / guard.name / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def command_for(path: Path) -> str:
    """Return the command that tries a kept case again."""
    return f"python -m tests.fuzz --replay {path}"


@dataclass
class Outcome:
    """What became of the cases of a guard."""

    guard: str
    runs: int = 0
    faults: dict[str, str] = field(default_factory=dict)
    """By kind: the text, and how to try it again."""

    seconds: float = 0.0
    tally: int = 0
    """How many cases had a fault, of whatever kind."""


def hunt(
    guard: Guard,
    seed: int,
    *,
    cases: int | None = None,
    seconds: float | None = None,
    corpus: Path = CORPUS,
) -> Outcome:
    """Try cases until the budget is spent; keep the smallest case of each kind of fault."""
    outcome = Outcome(guard.name)
    begun = time.monotonic()
    while outcome.runs != cases:
        if seconds is not None and time.monotonic() - begun > seconds:
            break
        # Each case has a generator of its own, so that one can be drawn again without the others.
        case = guard.draw(random.Random(f"{guard.name}/{seed}/{outcome.runs}"))
        outcome.runs += 1
        fault = try_case(guard, case)
        if fault is None:
            continue
        outcome.tally += 1
        if fault.kind not in outcome.faults:
            small, smallest = minimize(guard, case, fault)
            path = keep(guard, small, corpus)
            outcome.faults[fault.kind] = f"{smallest}\n  {command_for(path)}"
    outcome.seconds = time.monotonic() - begun
    return outcome
