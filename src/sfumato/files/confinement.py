"""The folder that work is confined to, where names come from elsewhere: from a browser, a policy.

`Confinement.path` is the only place that decides whether a name leads out of a folder. It does so
last, of the file that would be opened: after addresses were decoded and links followed. The readers
and writers of this package ask `require_inside` before they open anything. Where nothing is
confined, as on the command line, that costs nothing and refuses nothing.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from pathlib import Path

from sfumato.errors import InputError, SfumatoError


class Confinement:
    """A folder, and what else may be read although it lies outside of it.

    Args:
        folder: The folder; everything that is opened or written lies in it.
        private: A folder in it that only the program itself uses: no name leads there.
        servers: Whether tables of database servers may be opened by their address.

    Example:
        >>> import tempfile
        >>> limits = Confinement(Path(tempfile.mkdtemp()))
        >>> limits.path("people.csv").name
        'people.csv'
        >>> limits.path("../people.csv")
        Traceback (most recent call last):
        sfumato.errors.InputError: '../people.csv' lies outside of the folder ...
    """

    def __init__(self, folder: Path, *, private: Path | None = None, servers: bool = False) -> None:
        self.folder = folder.resolve()
        self.private = private
        self.servers = servers
        self._named: frozenset[str] = frozenset()

    @property
    def named(self) -> frozenset[str]:
        """Paths and addresses elsewhere that were named by who started the program."""
        return self._named

    def allow(self, source: str) -> None:
        """Allow to read what who started the program has named: a whole path, or an address."""
        self._named |= {source}

    def path(
        self,
        name: str | PathLike[str],
        *,
        own: bool = False,
        error: Callable[[str], SfumatoError] = InputError,
    ) -> Path:
        """Return where a name leads to, with all links followed; raise if that is elsewhere.

        Args:
            name: Relative to the folder, or a whole path.
            own: Whether the program itself chose it: then it may lie in its private folder.
            error: The kind of error.
        """
        text = os.fspath(name)
        if not text or "\0" in text:
            raise error(f"{text!r} is not the name of a file in the folder {self.folder.name!r}")
        try:
            found = (self.folder / text).resolve()
        except (OSError, RuntimeError, ValueError):
            # Links that lead in a circle, or a name that is too long.
            raise error(f"{text[:200]!r} is not the name of a file that can be opened") from None
        inside = found.is_relative_to(self.folder)
        if str(found) in self._named or (inside and (own or not self._is_private(found))):
            return found
        raise error(
            f"{text!r} lies outside of the folder {self.folder.name!r} that the app works in. "
            "Move it there, or start the app with --folder."
        )

    def _is_private(self, path: Path) -> bool:
        """Return whether a path leads into the private folder, in whatever letters it is written.

        Names that differ only in the case of letters are one file on some disks.
        """
        if self.private is None:
            return False
        for each in (path, *path.parents):
            if each == self.private:
                return True
            try:
                if each.name.casefold() == self.private.name.casefold() and each.samefile(
                    self.private
                ):
                    return True
            except OSError:
                continue
        return False

    @contextmanager
    def active(self) -> Iterator[None]:
        """Confine everything that the block does, also in threads that are given its context."""
        before = _BLOCK.set((self,))
        try:
            yield
        finally:
            _BLOCK.reset(before)

    @contextmanager
    def of_process(self) -> Iterator[None]:
        """Confine the whole process while the block runs, in all of its threads."""
        before = _PROCESS[:]
        _PROCESS[:] = [self]
        try:
            yield
        finally:
            _PROCESS[:] = before


_BLOCK: ContextVar[tuple[Confinement | None, ...]] = ContextVar("confinement", default=())
_PROCESS: list[Confinement] = []


def current() -> Confinement | None:
    """Return what is confined now; None if nothing is."""
    block = _BLOCK.get()
    if block:
        return block[0]
    return _PROCESS[0] if _PROCESS else None


@contextmanager
def without_limits() -> Iterator[None]:
    """Open something that was allowed as a whole, such as an address: nothing is confined."""
    before = _BLOCK.set((None,))
    try:
        yield
    finally:
        _BLOCK.reset(before)


def require_inside(
    path: str | PathLike[str], error: Callable[[str], SfumatoError] = InputError
) -> None:
    """Raise before a file is opened or written if it lies outside of where work is confined to.

    Args:
        path: The file, as it will be opened.
        error: The kind of error.
    """
    limits = current()
    if limits is not None:
        # As it would be opened: a name that is not whole is one of the present folder. Its dots
        # are left to `path`, because what is above a link is above the place that it leads to.
        limits.path(Path(path).absolute(), own=True, error=error)
