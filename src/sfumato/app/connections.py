"""Connections: how many there may be, and how long each may take to say what it wants.

The server answers one person, so it needs few. Who opens many and says nothing on them must
neither fill the list of open files nor keep that person out.
"""

import asyncio
import socket
import threading
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from sfumato.dataclasses import dataclass

MOST = 512
"""Connections that are open at the same time."""

BACKLOG = 128
"""Connections that wait to be accepted. Fewer than `MOST`: who is accepted is heard before the
next ones can take its place."""


@dataclass(frozen=True)
class Patience:
    """Seconds that a connection may take."""

    header: float = 15.0
    """Until the header of a request is there, from its first byte to its last."""

    pause: float = 30.0
    """Between two parts of a body, or of an answer that is not fetched."""

    rate: float = 64.0
    """Bytes of a body in each second, on the average of all so far, once a pause is over."""


class Doing(IntEnum):
    """What a connection is about; the lower, the sooner it goes when there are too many."""

    WAITING = 0
    """It has not said what it wants, or was answered."""

    SENDING = 1
    """It sends the body of a request."""

    SERVED = 2
    """It has asked, and waits for the answer."""


class Listener(socket.socket):
    """A listening socket that keeps count of what it accepted.

    When there are too many connections, the oldest that waits for nothing makes room for the new
    one; a client that asks at once is served.
    """

    def __init__(self, family: int = socket.AF_INET, most: int = MOST) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self.most = most
        self._guard = threading.Lock()
        self._open: dict[int, _Connection] = {}

    @property
    def open_connections(self) -> int:
        """The number of connections."""
        with self._guard:
            return len(self._open)

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection; raise `ConnectionAbortedError` if there is no room for it."""
        found, address = super().accept()
        accepted = _Connection(self, found)
        with self._guard:
            crowded = len(self._open) >= self.most
            victim = None if not crowded else min(self._open.values(), key=_order, default=None)
            if victim is not None and victim.doing < Doing.SERVED:
                del self._open[victim.number]
                crowded = False
            else:
                victim = None
            if not crowded:
                self._open[accepted.number] = accepted
        if victim is not None:
            victim.hang_up()
        if crowded:
            accepted.close()
            raise ConnectionAbortedError
        return accepted, address

    def note(self, number: int, doing: Doing) -> None:
        """Note what a connection is about, by the number of its file."""
        with self._guard:
            found = self._open.get(number)
            if found is not None:
                found.doing = doing

    def forget(self, accepted: "_Connection") -> None:
        """Note that a connection is closed."""
        with self._guard:
            if self._open.get(accepted.number) is accepted:
                del self._open[accepted.number]


class _Connection(socket.socket):
    """A connection that tells its listener when it is closed."""

    def __init__(self, listener: Listener, found: socket.socket) -> None:
        kind = (found.family, found.type, found.proto)
        super().__init__(*kind, fileno=found.detach())
        self.number = self.fileno()
        self.doing = Doing.WAITING
        self._listener = listener

    def close(self) -> None:
        self._listener.forget(self)
        super().close()

    def hang_up(self) -> None:
        """End it from outside: its reader finds the end, and closes it."""
        try:
            self.shutdown(socket.SHUT_RDWR)
        except OSError:
            # It is closed already.
            return


def _order(accepted: _Connection) -> int:
    # Dictionaries keep their order, and the first of equal ones is the oldest.
    return accepted.doing


class TimedProtocol(H11Protocol):
    """HTTP on a connection that ends when its client does not go on."""

    patience: ClassVar[Patience] = Patience()
    listener: ClassVar[Listener | None] = None

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - the server's own
        super().__init__(*args, **options)
        self._number = -1
        self._doing: Doing | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._began, self._received = 0.0, 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a header."""
        super().connection_made(transport)
        found = transport.get_extra_info("socket")
        self._number = -1 if found is None else found.fileno()
        self._look()

    def data_received(self, data: bytes) -> None:
        """Read a part of a header or of a body."""
        super().data_received(data)
        self._received += len(data)
        self._look(heard=True)

    def on_response_complete(self) -> None:
        """Note that the answer is out: until the next request it waits for nothing."""
        super().on_response_complete()
        # What it has sent of a body that is not wanted is still to come, and still timed.
        if self.conn.their_state is not h11.SEND_BODY:
            self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        for timer in (self._timer, self._stalled):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begin to wait until a part of the answer is fetched."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self.patience.pause, self.transport.abort)

    def resume_writing(self) -> None:
        """Write on."""
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        super().resume_writing()

    def _look(self, *, heard: bool = False) -> None:
        """Time what the connection is about now."""
        if self.transport.is_closing():
            return
        doing = self._find_doing()
        begins = doing is not self._doing
        self._doing = doing
        if self.listener is not None:
            self.listener.note(self._number, doing)
        if begins:
            self._began, self._received = self.loop.time(), 0
        if doing is Doing.SERVED:
            self._set(None)
        elif doing is Doing.SENDING:
            if begins or heard:
                self._set(self.patience.pause)
        elif begins or (heard and self._timer is None):
            # Bytes that trickle in do not make it longer.
            self._set(self.patience.header)

    def _find_doing(self) -> Doing:
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            return Doing.SENDING
        answered = self.cycle is None or self.cycle.response_complete
        return Doing.WAITING if state is h11.IDLE or answered else Doing.SERVED

    def _set(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if seconds is not None:
            if self._doing is Doing.SENDING and self._is_slow():
                seconds = 0.0
            self._timer = self.loop.call_later(seconds, self._end)

    def _is_slow(self) -> bool:
        taken = self.loop.time() - self._began
        return taken > self.patience.pause and self._received < self.patience.rate * taken

    def _end(self) -> None:
        self._timer = None
        if self.flow.read_paused:
            # It is we who do not go on.
            self._set(self.patience.pause)
            return
        self.transport.abort()


def timed_protocol(listener: Listener, patience: Patience | None = None) -> type[TimedProtocol]:
    """Return the protocol for the connections of a listener.

    Args:
        listener: The listener, which is told what each connection is about.
        patience: How long each may take.
    """
    own: Mapping[str, object] = {"listener": listener, "patience": patience or Patience()}
    return type("ListenerProtocol", (TimedProtocol,), dict(own))
