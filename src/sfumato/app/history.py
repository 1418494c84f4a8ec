"""The history of a policy: every state it had, on disk as soon as it is one, with undo and redo."""

import json
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import monotonic

from sfumato.dataclasses import dataclass
from sfumato.errors import SfumatoError
from sfumato.files import read_small, write_file

_MOST = 500
"""States that are kept; the oldest go first."""

_JOINS = 10.0
"""Seconds within which the positions of a slider that is being moved are one change."""

_WHAT = "the history of a policy"
_LARGEST = 64 << 20


@dataclass(frozen=True)
class State:
    """A policy as it was after one change."""

    number: int
    step: str
    """The step that made it."""

    what: str
    """What was changed, in a few words."""


class History:
    """The states of one policy in a private folder, and which of them is the present one.

    Example:
        >>> import tempfile
        >>> history = History(Path(tempfile.mkdtemp()))
        >>> for text in ("a: 1", "a: 2"): history.add(text, "roles", "role of a")
        >>> history.undo()
        'a: 1'
        >>> history.redo()
        'a: 2'
        >>> History(history.folder).text  # after a crash
        'a: 2'
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Pages are made while others change it: what one asks for is of one moment.
        self._lock = threading.RLock()
        self._states: list[State] = []
        self._at = -1
        self._texts: dict[int, str] = {}
        self._added = -_JOINS
        self._load()

    @property
    def _index(self) -> Path:
        return self.folder / "history.json"

    def _file(self, state: State) -> Path:
        return self.folder / f"policy-{state.number:06}.yaml"

    def _load(self) -> None:
        if not self._index.is_file():
            return
        try:
            found = json.loads(read_small(self._index, "a history", _LARGEST))
            states = [
                State(int(s["number"]), str(s["step"]), str(s["what"])) for s in found["states"]
            ]
            at = int(found["at"])
        except (SfumatoError, OSError, ValueError, LookupError, TypeError):
            # What cannot be read is no history, and no reason to open nothing.
            return
        # A state whose file did not reach the disk never was one.
        self._states = [state for state in states if self._file(state).is_file()]
        self._at = min(max(at, 0), len(self._states) - 1)

    def _save(self) -> None:
        told = {"at": self._at, "states": [asdict(state) for state in self._states]}
        write_file(self._index, json.dumps(told), private=_WHAT)

    @property
    def states(self) -> Sequence[State]:
        """All states, the oldest first."""
        with self._lock:
            return tuple(self._states)

    @property
    def present(self) -> State | None:
        """The state that holds now; None before the first."""
        with self._lock:
            return self._states[self._at] if self._at >= 0 else None

    @property
    def text(self) -> str | None:
        """The policy as it is now."""
        with self._lock:
            present = self.present
            return None if present is None else self.text_of(present)

    @property
    def before(self) -> str | None:
        """The policy before the last change."""
        with self._lock:
            return self.text_of(self._states[self._at - 1]) if self._at >= 1 else None

    @property
    def can_undo(self) -> bool:
        """Whether there is a state before this one."""
        return self._at >= 1

    @property
    def can_redo(self) -> bool:
        """Whether a state was undone."""
        with self._lock:
            return self._at + 1 < len(self._states)

    @property
    def files(self) -> list[Path]:
        """The files that it consists of."""
        with self._lock:
            return [self._index, *map(self._file, self._states)]

    def text_of(self, state: State) -> str:
        """Return the policy of a state."""
        with self._lock:
            if state.number not in self._texts:
                read = read_small(self._file(state), "a policy", _LARGEST)
                self._texts[state.number] = read.decode()
            return self._texts[state.number]

    def clear(self) -> None:
        """Forget every state."""
        with self._lock:
            gone, self._states, self._at = self._states, [], -1
            self._texts, self._added = {}, -_JOINS
            self._index.unlink(missing_ok=True)
            for state in gone:
                self._file(state).unlink(missing_ok=True)

    def add(self, text: str, step: str, what: str, *, joins: bool = False) -> None:
        """Make a policy the present state; what was undone is forgotten.

        Args:
            text: The policy.
            step: The step that made it.
            what: What was changed.
            joins: Whether it takes the place of the state before if that was the same change a
                moment ago: a slider on its way would be many states to undo.
        """
        with self._lock:
            number = max((state.number for state in self._states), default=0) + 1
            state = State(number, step, what)
            write_file(self._file(state), text, private=_WHAT)
            self._texts[number] = text
            kept = self._at + 1
            if joins and self._continues(state):
                kept -= 1
            self._added = monotonic()
            gone = self._states[kept:]
            self._states = [*self._states[:kept], state]
            gone += self._states[:-_MOST]
            self._states = self._states[-_MOST:]
            self._at = len(self._states) - 1
            self._save()
            for each in gone:
                self._file(each).unlink(missing_ok=True)
                self._texts.pop(each.number, None)

    def _continues(self, state: State) -> bool:
        """Return whether the present state is the same change, made a moment ago."""
        present = self.present
        return (
            present is not None
            and self._at >= 1
            and (present.step, present.what) == (state.step, state.what)
            and monotonic() - self._added < _JOINS
        )

    def undo(self) -> str | None:
        """Return the policy of the state before, which holds now; None if there is none."""
        return self._go(-1)

    def redo(self) -> str | None:
        """Return the policy that was undone last, which holds now; None if there is none."""
        return self._go(1)

    def _go(self, step: int) -> str | None:
        with self._lock:
            place = self._at + step
            if not 0 <= place < len(self._states):
                return None
            self._at = place
            self._added = -_JOINS
            self._save()
            return self.text
