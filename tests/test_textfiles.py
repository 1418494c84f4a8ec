"""Reading text files: no thread outlives its reader, and packed files unpack within bounds."""

import gc
import gzip
import os
import subprocess
import sys
import threading
import time
import weakref

import pyarrow as pa
import pytest

from sfumato.errors import InputError
from sfumato.files import textfiles
from sfumato.files.textfiles import ParsedText, open_bytes
from sfumato.tables import open_table
from sfumato.verifier.counting import count, open_source


def read(path, columns):
    return open_table(path).count(columns)


def read_again(path, columns):
    return count(open_source(path), columns)


READERS = pytest.mark.parametrize("reader", [read, read_again], ids=["engine", "verifier"])


def run(script, *arguments, folder):
    """Run a script, and return its exit code and what it wrote to stderr."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stderr


# A run that went well ends well, whenever the threads of Arrow are scheduled.


LATE = """
import atexit, ctypes, sys, weakref

# The last thing before the interpreter ends: whoever asks for it now waits, until it has ended.
atexit.register(ctypes.PyDLL(None).usleep, 500_000)

import pyarrow.csv
from sfumato.tables import open_table
from sfumato.verifier.counting import count, open_source

sys.setswitchinterval(0.1)
lent = []
real = pyarrow.csv.open_csv

def open_csv(stream, **options):
    lent[:] = [weakref.ref(stream)]
    return real(stream, **options)

pyarrow.csv.open_csv = open_csv
for _ in range(150):
    if sys.argv[1] == "engine":
        open_table("people.csv").count(["age"])
    else:
        count(open_source("people.csv"), ["age"])
    if lent[0]() is not None:
        break  # Arrow holds on to it: end now
"""


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(os.name != "posix", reason="holds the interpreter with usleep")
@pytest.mark.parametrize("reader", ["engine", "verifier"])
def test_no_thread_needs_the_interpreter_after_the_last_row(reader, tmp_path):
    (tmp_path / "people.csv").write_text("age,ill\n30,flu\n31,cold\n")
    assert run(LATE, reader, folder=tmp_path) == (0, "")


ABANDONED = """
import sys, time
from pathlib import Path
from sfumato.files.reading import Reading
from sfumato.tables.arrow import delimited

real = delimited._Utf8Stream.read

def read(self, size):
    time.sleep(0.05)
    return real(self, min(size, 1000))

delimited._Utf8Stream.read = read
delimited._BLOCK = 4000
source = delimited.CsvSource(Path("people.csv"), Reading(numbers={}))
batches = source.batches(["age"])
next(batches)
if sys.argv[1] == "dropped":
    del batches
if sys.argv[1] == "failed":
    for batch in batches:
        raise SystemExit(7)
"""


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(("how", "code"), [("kept", 0), ("dropped", 0), ("failed", 7)])
def test_a_reader_that_is_given_up_ends_before_the_interpreter(how, code, tmp_path):
    (tmp_path / "people.csv").write_text("age\n" + "30\n" * 40_000)
    assert run(ABANDONED, how, folder=tmp_path) == (code, "")


# The reader itself.


def parsed(read, block=1000, **parse):
    convert = {"column_types": {"age": pa.string()}, "include_columns": ["age"]}
    return ParsedText(read, block=block, parse=parse, convert=convert)


class Text:
    """A text that is read in pieces, and tells when it is read."""

    def __init__(self, text, *, pause=0.0, fails_at=None):
        self.text, self.pause, self.fails_at = text, pause, fails_at
        self.at = self.reads = self.reading = 0

    def read(self, size):
        self.reads += 1
        self.reading += 1
        try:
            time.sleep(self.pause)
            if self.fails_at is not None and self.at >= self.fails_at:
                raise LookupError("the disk is gone")
            found = self.text[self.at : self.at + min(size, 300)]
            self.at += len(found)
            return found
        finally:
            self.reading -= 1


AGES = b"age\n" + b"".join(b"%d\n" % (i % 90) for i in range(5_000))


def test_all_rows_arrive_in_their_order():
    with parsed(Text(AGES).read) as text:
        ages = [age for batch in text for age in batch["age"].to_pylist()]
    assert ages == [str(i % 90) for i in range(5_000)]


def test_nothing_is_lent_any_more_when_the_block_is_left(monkeypatch):
    lent = []
    real = textfiles._Loan._lend

    def lend(self, what):
        lent.append(weakref.ref(what))
        return real(self, what)

    monkeypatch.setattr(textfiles._Loan, "_lend", lend)
    gc.disable()
    try:
        for stop in (0, 1, 3, 10**6) * 5:
            with parsed(Text(AGES, pause=0.0005).read) as text:
                for n, _ in enumerate(text):
                    if n >= stop:
                        break
            assert not [each for each in lent if each() is not None]
    finally:
        gc.enable()
    assert len(lent) > 100


def test_nothing_is_read_after_the_block_is_left():
    source = Text(AGES, pause=0.01)
    with parsed(source.read) as text:
        next(iter(text))
    assert not source.reading
    reads = source.reads
    time.sleep(0.1)
    assert source.reads == reads < 70


def test_an_error_of_the_stream_arrives_as_it_is():
    with parsed(Text(AGES, fails_at=2_000).read) as text, pytest.raises(LookupError, match="gone"):
        list(text)


def test_an_error_of_the_stream_comes_before_what_arrow_says_of_its_broken_end():
    with (
        parsed(Text(b'age\n"30\n' * 200, fails_at=700).read, newlines_in_values=True) as text,
        pytest.raises(LookupError, match="gone"),
    ):
        list(text)


def test_an_uneven_row_is_kept_for_the_message():
    with parsed(Text(b"age\n30\n31,32\n").read) as text:
        with pytest.raises(pa.ArrowInvalid):
            list(text)
        assert [(row.number, row.actual_columns) for row in text.uneven] == [(3, 2)]


def test_an_empty_text_is_an_error_and_leaves_nothing():
    with parsed(Text(b"").read) as text, pytest.raises(pa.ArrowInvalid):
        list(text)
    assert not text._loan.is_out()


def test_another_thread_may_close_it():
    with parsed(Text(AGES, pause=0.005).read) as text:
        batches = iter(text)
        next(batches)
        closer = threading.Thread(target=text.close)
        closer.start()
        closer.join()
        assert list(batches) == []


# Packed files.


ROWS = "age,ill\n" + "30,flu\n31,cold\n" * 100_000


@READERS
def test_a_packed_file_that_unpacks_to_too_much_is_refused(reader, tmp_path, monkeypatch):
    monkeypatch.setattr(textfiles, "LARGE", 1 << 20)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(ROWS.encode()))
    with pytest.raises(InputError, match=r"unpacks from \d+ kB to more than \d+ MB.* unpack it"):
        reader(path, ["age"])


@READERS
def test_what_packs_many_bytes_into_few_is_refused_at_its_real_size(reader, tmp_path, thorough):
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=6) as file:
        file.write(b"age,ill\n")
        for _ in range(120):
            file.write(b"30,flu\n" * (1 << 17))
    assert path.stat().st_size < 1 << 20
    with pytest.raises(InputError, match="which no table of people does"):
        reader(path, ["age"])


@READERS
@pytest.mark.parametrize("encoding", ["utf-16", "windows-1252"])
def test_a_packed_file_in_another_encoding_is_bounded_too(reader, encoding, tmp_path, monkeypatch):
    from sfumato.files.reading import Reading, TextFile

    monkeypatch.setattr(textfiles, "LARGE", 1 << 20)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(ROWS.encode(encoding)))
    said = TextFile(path, Reading(delimiter=",", encoding=encoding, quote='"', numbers={}))
    with pytest.raises(InputError, match="unpack it yourself"):
        reader(said, ["age"])


@pytest.mark.usefixtures("patience")
@READERS
@pytest.mark.parametrize("packed", ["gz", "bz2", "zst", "lz4"])
def test_every_way_of_packing_is_bounded(reader, packed, tmp_path, monkeypatch):
    from sfumato.files.reading import Reading, TextFile

    monkeypatch.setattr(textfiles, "LARGE", 1 << 16)
    path = tmp_path / f"bomb.csv.{packed}"
    with pa.output_stream(str(path), compression="detect") as stream:
        stream.write(ROWS.encode())
    said = TextFile(path, Reading(delimiter=",", encoding="utf-8", quote='"', numbers={}))
    monkeypatch.setattr(textfiles, "DENSEST", 20)
    with pytest.raises(InputError, match="unpack it yourself"):
        reader(said, ["age"])


@pytest.mark.usefixtures("patience")
@READERS
def test_a_large_packed_file_is_read_however_large(reader, tmp_path, monkeypatch):
    monkeypatch.setattr(textfiles, "LARGE", 1 << 16)
    path = tmp_path / "people.csv.gz"
    rows = "".join(f"{i % 90},{i * 7919 % 100_003}\n" for i in range(100_000))
    path.write_bytes(gzip.compress(("age,pay\n" + rows).encode()))
    found = reader(path, ["age"])
    assert getattr(found, "total", None) in (100_000, None)


@READERS
def test_a_packed_file_of_two_parts_is_read_to_its_end(reader, tmp_path):
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(b"age,ill\n30,flu\n") + gzip.compress(b"31,cold\n"))
    assert len(list(open_table(path).count(["age"]).rows)) == 2
    reader(path, ["age"])


def test_an_unpacked_file_is_a_file_of_python_too(tmp_path):
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(b"age,ill\n30,flu\n"))
    with open_bytes(path) as file:
        piece = bytearray(4)
        assert file.readable()
        assert file.readinto(piece) == 4
        assert bytes(piece) + file.read(-1) == b"age,ill\n30,flu\n"
    assert file.closed
