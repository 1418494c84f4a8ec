"""Damaged and forged ledgers: refused as such or harmless, never an error of the program."""

import shutil
import sqlite3

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError, OutputError, SfumatoError, VerificationError
from tests.ledger.test_tampering import cells, edit, given, reseal, written  # noqa: F401

NEW = given([("24", "cold", "high"), ("25", "hiv", "low"), ("26", "flu", "low")])


def ask_everything(path, folder):
    """Ask a ledger for everything; return the answers, the same for the same ledger."""
    found = sf.Ledger(path)
    verified = found.verify()
    done = found.publish(NEW, dry_run=True, again=True, seed=1)
    room = found.headroom([{"ill": "flu"}])
    shutil.rmtree(folder, ignore_errors=True)
    answers = (str(done), str(room), str(found.contents()), str(found.history), str(found.policy))
    found.publish(NEW, output=folder / "out", again=True, seed=1)
    return verified, answers


def outcome(path, folder):
    """Return the answers of a ledger, or why it was refused; any other error is a fault."""
    try:
        return ask_everything(path, folder)
    except SfumatoError as error:
        return error


def mutate(data, rng):
    """Return a copy of a file with bits flipped, bytes or pages overwritten, or the end cut off."""
    data = bytearray(data)
    at = int(rng.integers(len(data)))
    match rng.integers(6):
        case 0:
            for place in rng.integers(len(data), size=int(rng.integers(1, 4))):
                data[place] ^= 1 << int(rng.integers(8))
        case 1:
            data[at : at + 8] = rng.bytes(8)
        case 2:
            del data[at:]
        case 3:
            page = at // 4096 * 4096
            data[page : page + 4096] = bytes(4096)
        case 4:
            data[at : at + 64] = bytes([255]) * 64
        case _:
            # The header, and that of the first page, are few bytes of many.
            data[int(rng.integers(128))] = int(rng.integers(256))
    return bytes(data)


@pytest.mark.usefixtures("patience")
def test_a_damaged_file_is_refused_or_harmless(written, tmp_path, some):  # noqa: F811
    original, path = written.read_bytes(), tmp_path / "x.ledger"
    shutil.copy(written, path)
    _, expected = ask_everything(path, tmp_path / "released")
    refused = 0
    tries = some(60, of=300)
    for seed in range(tries):
        path.write_bytes(mutate(original, np.random.default_rng(seed)))
        found = outcome(path, tmp_path / "released")
        if isinstance(found, InputError | OutputError):
            refused += 1
        else:
            # Bytes that nothing is in: every answer is what it was.
            assert found == ([], expected), seed
    assert refused > tries / 3


STRANGE = [
    None, 0, -1, 1, 2**53, 2**62, 1e300, 0.5, "", "x", "null", "[]", "{}", "[1]", '["x"]', '"x"',
    "1e999", "9" * 400, '"\\ud800"', '["\\ud800"]', '["a","b"]', "table:", 'table:["a"]',
    "table:[1]", "\x00", "[" * 2000, b"", b"\xff\xfe", b"1234", "true", "NaN", '{"sequence": 1}',
]  # fmt: skip


@pytest.mark.usefixtures("patience")
def test_a_forged_ledger_is_refused_or_works(written, tmp_path, some):  # noqa: F811
    """A cell is replaced and all hashes are computed again: what is read must still be checked."""
    original, path = written.read_bytes(), tmp_path / "x.ledger"
    every = [cell for cell in cells(written) if cell[0] != "releases"]
    for seed in range(some(60, of=1500)):
        rng = np.random.default_rng(seed)
        table, column, _, where, key = every[rng.integers(len(every))]
        value = STRANGE[rng.integers(len(STRANGE))]
        path.write_bytes(original)
        try:
            edit(path, (f"UPDATE {table} SET {column} = ? WHERE {where}", value, *key))
            reseal(path)
        except (sqlite3.Error, UnicodeEncodeError):
            continue
        try:
            found = outcome(path, tmp_path / "released")
        except Exception as error:  # noqa: BLE001 - any other is the fault that is looked for
            pytest.fail(f"{seed}: {table}.{column} = {value!r}: {error!r}")
        assert not isinstance(found, VerificationError), (seed, table, column, value)
