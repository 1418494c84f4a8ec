"""Waits for those who guess the password: each client for itself, and all strangers together.

A guess is admitted before it is compared, and counts as wrong until it was right. So guesses that
come at the same time are as slow as those that come one after the other.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from time import monotonic

from sfumato.dataclasses import dataclass

FREE, FREE_OVER_ALL = 5, 20
"""Wrong passwords without a delay: of one client, and of all strangers together."""

LONGEST, LONGEST_OVER_ALL = 300.0, 30.0
"""Seconds that the delay grows to, doubled by each wrong password. None lasts for good."""

_FORGOTTEN = 3600.0
"""Seconds without a guess after which a delay starts from the beginning."""

_MOST = 4096
"""Clients that are remembered; the one that was not heard of for longest is forgotten first."""


@dataclass
class _WrongTries:
    """The wrong passwords of a client, or of all."""

    free: int
    longest: float
    wrong: int = 0
    until: float = float("-inf")
    last: float = float("-inf")

    def wait(self, now: float) -> float:
        return max(self.until - now, 0.0)

    def count(self, now: float) -> None:
        if now - self.last > _FORGOTTEN:
            self.wrong = 0
        self.wrong += 1
        self.last = now
        beyond = self.wrong - self.free
        if beyond >= 0:
            # 2.0**60 is more than any delay, and no power of it is too large for a number.
            self.until = now + min(2.0 ** min(beyond, 60), self.longest)

    def take_back(self) -> None:
        self.wrong = max(self.wrong - 1, 0)
        self.until = float("-inf")


class WrongPasswords:
    """What was guessed, by whom, and how long each has to wait.

    Who came in once is no stranger: the guesses of others do not delay that client.

    Args:
        clock: Returns seconds that only grow.

    Example:
        >>> attempts = WrongPasswords(clock=lambda: 0.0)
        >>> [attempts.admit("192.0.2.7") for _ in range(7)]
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
        >>> attempts.admit("198.51.100.1")
        0.0
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._clients: OrderedDict[str, _WrongTries] = OrderedDict()
        self._all = _WrongTries(FREE_OVER_ALL, LONGEST_OVER_ALL)
        self._known: OrderedDict[str, None] = OrderedDict()

    def admit(self, client: str) -> float:
        """Return 0 if a password may be compared now, else the seconds until one may.

        Args:
            client: The address that the guess comes from.
        """
        name = network_of(client)
        with self._lock:
            now = self._clock()
            own = self._clients.setdefault(name, _WrongTries(FREE, LONGEST))
            self._clients.move_to_end(name)
            if len(self._clients) > _MOST:
                self._clients.popitem(last=False)
            over_all = None if name in self._known else self._all
            wait = max(own.wait(now), 0.0 if over_all is None else over_all.wait(now))
            if wait > 0:
                # A guess that is not compared does not make the delay longer.
                return wait
            own.count(now)
            if over_all is not None:
                over_all.count(now)
            return 0.0

    def note_success(self, client: str) -> None:
        """Note that what was admitted last from a client was right."""
        name = network_of(client)
        with self._lock:
            self._clients.pop(name, None)
            if name not in self._known:
                self._all.take_back()
            self._known[name] = None
            self._known.move_to_end(name)
            if len(self._known) > _MOST:
                self._known.popitem(last=False)


def network_of(client: str) -> str:
    """Return what counts as one client: an address, or the network of one customer with IPv6.

    >>> network_of("192.0.2.7"), network_of("2001:db8::1"), network_of("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::', '192.0.2.7')
    """
    try:
        address = ip_address(client.partition("%")[0])
    except ValueError:
        return client
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Address(int(address) >> 64 << 64))
