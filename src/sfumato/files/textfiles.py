"""Text files as Arrow reads them: unpacked within bounds, and closed when they are over.

Arrow parses a text in threads of its own. They read ahead, and they hold on to what Python lent
them: the stream, the blocks it returned, the function that is asked about uneven rows. A thread
drops these when it is scheduled the next time, which on a busy machine is well after the last batch
arrived. If the interpreter ends in the meantime, Python (before 3.14) ends the thread where it asks
for the interpreter. That is inside a destructor of C++, which ends the whole process: exit code 134
after a run in which everything went well. `ParsedText` is therefore over only when everything that
it lent has come back.
"""

import atexit
import io
import os
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Self, TypeVar

import pyarrow as pa

from sfumato.errors import InputError

T = TypeVar("T")

# Bytes.


LARGE = 100 << 20
DENSEST = 200
"""Bytes that a packed text may unpack to, in all and for each of its own, before it is refused.

Tables of people are packed to a fifth or a tenth of their size, seldom to a fiftieth. There is no
bound on the size alone, because texts are read block by block, and large ones are welcome.
"""


def open_bytes(path: Path) -> "pa.NativeFile | UnpackedFile":
    """Open a file for reading; one that is packed is unpacked on the way, as far as it may."""
    with path.open("rb") as file:
        gzipped = file.read(2) == b"\x1f\x8b"
    stream = pa.input_stream(str(path), compression="gzip" if gzipped else "detect")
    return UnpackedFile(stream, path) if isinstance(stream, pa.CompressedInputStream) else stream


class UnpackedFile(io.RawIOBase):
    """The bytes of a packed file, which is refused when it unpacks to very much more than it has.

    Args:
        stream: What unpacks it.
        path: The file.
    """

    def __init__(self, stream: pa.NativeFile, path: Path) -> None:
        self._stream = stream
        self._path = path
        self._packed = path.stat().st_size
        self._unpacked = 0

    def readable(self) -> bool:
        """Return True: that is all it is for."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read on, at most `size` bytes; none at the end."""
        data: bytes = self._stream.read(size if size >= 0 else None)
        self._unpacked += len(data)
        if self._unpacked > LARGE and self._unpacked > DENSEST * self._packed:
            raise InputError(
                f"{self._path} unpacks from {self._packed >> 10} kB to more than "
                f"{self._unpacked >> 20} MB, which no table of people does: a text may have "
                f"{DENSEST} times as many bytes as the packed file. If you trust it, unpack it "
                "yourself, and give the file that comes out."
            )
        return data

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - whatever can be written into
        """Read on into a buffer; return how many bytes there are."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file; once is enough."""
        if not self.closed:
            self._stream.close()
        super().close()


# Rows.


_PATIENCE = 60.0
"""Seconds to wait for Arrow's threads: they need a moment on any machine that is not stuck."""

_OPEN: "weakref.WeakSet[ParsedText]" = weakref.WeakSet()


class ParsedText:
    """The rows of a CSV text that Python reads and Arrow parses. Use it in a `with` block.

    Promises: when the block is left, no thread of Arrow's refers to anything of Python's, however
    it is left. What is still open when the interpreter ends is closed before.

    Args:
        read: Returns the next bytes of the text, at most as many as it is asked for; none at its
            end. An error that it raises comes out of the iteration.
        block: Bytes that are read at a time; a row must fit into it.
        skip: Lines that are left out at the start.
        parse: Arguments of `pyarrow.csv.ParseOptions`.
        convert: Arguments of `pyarrow.csv.ConvertOptions`.
    """

    def __init__(
        self,
        read: Callable[[int], bytes],
        *,
        block: int,
        parse: Mapping[str, Any],
        convert: Mapping[str, Any],
        skip: int = 0,
    ) -> None:
        self._loan = _Loan(read)
        self._options = (block, skip, parse, convert)
        self._reader: Any = None
        self._waiting = True
        _OPEN.add(self)

    @property
    def uneven(self) -> list[Any]:
        """The first row with more or fewer cells than the header, if that ended the reading."""
        return self._loan.uneven

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        loan = self._loan
        try:
            self._reader = self._open()
            while (batch := self._next()) is not None:
                yield batch
        except (OSError, pa.ArrowException):
            # A text that breaks off because it cannot be read leads to errors of Arrow's, too.
            if loan.failure is None:
                raise
        if loan.failure is not None:
            raise loan.failure

    def _next(self) -> pa.RecordBatch | None:
        # Nothing else keeps the reader, so that it goes when this object is closed.
        try:
            return None if self._reader is None else self._reader.read_next_batch()
        except StopIteration:
            return None

    def _open(self) -> Any:  # noqa: ANN401 - pyarrow is not typed
        from pyarrow import csv

        block, skip, parse, convert = self._options
        return csv.open_csv(
            self._loan.stream(),
            # One thread: the reader streams, so a second one only waits for the first.
            read_options=csv.ReadOptions(block_size=block, use_threads=False, skip_rows=skip),
            parse_options=csv.ParseOptions(**parse, invalid_row_handler=self._loan.handler()),
            convert_options=csv.ConvertOptions(**convert),
        )

    def close(self) -> None:
        """End the reading, and wait until Arrow has given back what was lent to it."""
        self._loan.over = True
        # Waits, without holding the interpreter, until a block that is being read has come.
        self._reader = None
        end = monotonic() + _PATIENCE
        pause = 1e-5
        while self._waiting and self._loan.is_out() and monotonic() < end:
            sleep(pause)
            pause = min(2 * pause, 0.01)
        self._waiting = False
        _OPEN.discard(self)


@atexit.register
def _close_all() -> None:
    """Close what is still open: readers that a caught error or a debugger keeps alive."""
    for text in list(_OPEN):
        text.close()


if hasattr(os, "register_at_fork"):
    # A child does not have the threads that hold the loans: it would wait for nothing.
    os.register_at_fork(after_in_child=_OPEN.clear)


class _Loan:
    """What Arrow's threads hold of Python's, by weak references.

    The objects that are lent do nothing when they go. So a thread that drops one keeps the
    interpreter from beginning to end. When it is gone, the thread needs the interpreter no more.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._lent: list[weakref.ref[Any]] = []
        self.uneven: list[Any] = []
        self.failure: BaseException | None = None
        self.over = False

    def stream(self) -> "_Stream":
        """Lend a stream."""
        return self._lend(_Stream(self))

    def handler(self) -> "_Handler":
        """Lend a function that is asked about uneven rows."""
        return self._lend(_Handler(self.uneven))

    def _lend(self, what: T) -> T:
        self._lent = [each for each in self._lent if each() is not None]
        self._lent.append(weakref.ref(what))
        return what

    def is_out(self) -> bool:
        """Return whether something has not come back."""
        return any(each() is not None for each in self._lent)

    def read_on(self, size: int) -> memoryview:
        """Read on, and lend what was read."""
        # Bytes have no weak references, and a view of them has.
        return self._lend(memoryview(self._read_or_end(size)))

    def _read_or_end(self, size: int) -> bytes:
        """Read on; if that fails, the text ends here, and the error is kept.

        No error passes through Arrow: one of its threads would hold on to it, too.
        """
        if self.over:
            return b""
        try:
            return self._read(size)
        except BaseException as error:  # noqa: BLE001 - raised again by who reads the rows
            self.failure, self.over = error, True
            return b""


class _Stream:
    """A stream as Arrow takes one.

    Its `read` is a method of the loan: an error keeps the variables of all functions that were
    running when it was raised, and this object must not be among them.
    """

    __slots__ = ("__weakref__", "read")

    closed = False

    def __init__(self, loan: _Loan) -> None:
        self.read = loan.read_on


class _Handler:
    """Keeps the first uneven row, and ends the reading."""

    __slots__ = ("__weakref__", "_uneven")

    def __init__(self, uneven: list[Any]) -> None:
        self._uneven = uneven

    def __call__(self, row: Any) -> str:  # noqa: ANN401 - pyarrow is not typed
        self._uneven.append(row)
        return "error"
