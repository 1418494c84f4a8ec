"""What a ledger's file tells of people who were withdrawn or erased: every byte is searched."""

import datetime as dt
import json
import sqlite3
from contextlib import closing
from hashlib import blake2b, sha256
from itertools import product

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.ledger import chain
from sfumato.ledger.identity import Identity
from sfumato.ledger.increment import Ask, increment_fingerprint
from sfumato.ledger.repeats import hash_texts
from sfumato.ledger.store import Settings, key_of

NAMES = ("patient", "born", "ill")
POLICY = {
    "version": 1,
    "columns": {
        "patient": "identifier",
        "born": {"role": "quasi-identifier", "hierarchy": {"kind": "dates"}},
        "ill": "sensitive",
    },
    "models": [{"model": "k-anonymity", "k": 4}],
}
ILLS = ("flu", "gout", "asthma", "ulcer")
FIRST = [(f"p{i}", dt.date(1980, 1 + i, 3 + i), ILLS[i % 4]) for i in range(8)]
ZORRO = ("zorro-77", dt.date(1951, 7, 14), "hiv")


def table(rows):
    return pa.table(dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True)))


@pytest.fixture
def ledger(tmp_path):
    made = sf.decouple(sf.anonymize(table(FIRST), POLICY, seed=1), "break-merge", seed=1)
    return sf.Ledger.start(
        made, tmp_path / "x.ledger", alpha=0.5, policy=POLICY, source=table(FIRST)
    )


def written_forms(person):
    """Return every way in which a person's identifier, exact value and illness are written."""
    name, born, ill = person
    texts = {name, name.upper(), name.replace("-", ""), born.isoformat(), f"{born:%d.%m.%Y}", ill}
    for text in texts:
        for form in (text, json.dumps(text), json.dumps([text])):
            yield from (form.encode("utf-8"), form.encode("utf-16-le"))


def hashes_of(path, person, groups, ills=("hiv", "flu", "mumps")):
    """Return the hashes that a thief can compute who knows a person, with the ledger's salt."""
    with closing(sqlite3.connect(path)) as db:
        settings = Settings.load(db)
    identity = Identity(("patient",), settings.salt)
    name, born, _ = person
    marks = [identity.marks([(name,)])[0], *identity.likenesses([name])[0]]
    texts = [name, born.isoformat(), key_of(name), key_of(born)]
    for group, ill in product(groups, ills):
        for kind, who in product(("add", "remove"), ("", marks[0])):
            ask = Ask(kind, f"[{group}]", f'["{ill}"]', person=who)
            yield bytes.fromhex(increment_fingerprint(settings.salt, {ask: 1}))
            for since, number in product(range(1, 5), range(1, 4)):
                # The table of those who wait, if this was the only row in it.
                row = (number, *ask, 1, since)
                yield sha256(f"{row!a}\n".encode()).digest()
    for text in texts:
        yield from (sha256(text.encode()).digest(), blake2b(text.encode()).digest())
        yield hash_texts(settings.salt, [text]).tobytes()
    yield from map(bytes.fromhex, marks)


def found_in(path, person, groups):
    """Return what of a person is in the bytes of a ledger."""
    raw = path.read_bytes()
    found = {form for form in written_forms(person) if form in raw}
    found |= {
        each
        for each in hashes_of(path, person, groups)
        if each in raw or each.hex().encode() in raw
    }
    return found


def labels_of(path):
    with closing(sqlite3.connect(path)) as db:
        paths = [json.loads(path) for [path] in db.execute("SELECT path FROM paths")]
    return sorted({json.dumps(rung[0]) for path in paths for rung in path})


@pytest.mark.usefixtures("patience")
def test_of_who_was_withdrawn_nothing_is_left(ledger):
    ledger.publish(table([ZORRO]))
    groups = labels_of(ledger.path)
    # While the person waits, all of it is there: what is searched for can be found.
    assert len(found_in(ledger.path, ZORRO, groups)) > 3
    ledger.delete(table([ZORRO]))
    assert found_in(ledger.path, ZORRO, groups) == set()
    # Exact values of the others stay until they are removed, too.
    assert b"1980-" in ledger.path.read_bytes()
    assert ledger.compact() == 8
    assert b"1980-" not in ledger.path.read_bytes()
    assert ledger.verify() == []
    # Who comes again gets the same label, and the others can still be generalised.
    assert ledger.publish(table([FIRST[0], ZORRO]), dry_run=True).refused_rows == 1
    ledger.generalise({"born": 4})
    assert ledger.verify() == []


def test_of_who_was_erased_a_fingerprint_is_left(ledger):
    """The page on increments says why: who left must not be published again."""
    gone = FIRST[0]
    ledger.delete(table([gone]), at_once=True)
    groups = labels_of(ledger.path)
    left = {
        each
        for each in found_in(ledger.path, gone, groups)
        # The values that are public anyway, and names that are part of other words.
        if each not in {b"flu", b'"flu"', b'["flu"]', b"p0", b"P0"}
    }
    with closing(sqlite3.connect(ledger.path)) as db:
        salt = Settings.load(db).salt
    assert left == {bytes.fromhex(Identity(("patient",), salt).marks([("p0",)])[0])}


def test_a_hash_of_who_waited_is_blinded(ledger, monkeypatch):
    """Without it, the entry that was written meanwhile confirms name and illness."""
    monkeypatch.setattr(chain, "token_hex", lambda _: "")
    ledger.publish(table([ZORRO]))
    groups = labels_of(ledger.path)
    ledger.delete(table([ZORRO]))
    ledger.compact()
    assert any(len(each) == 32 for each in found_in(ledger.path, ZORRO, groups))


def test_compacting_keeps_what_cannot_be_derived(tmp_path):
    """Codes are padded to the longest: alone a short one has other labels."""
    policy = {
        "columns": {"zip": {"role": "quasi-identifier", "hierarchy": {"kind": "masking"}},
                    "ill": "sensitive"},
        "models": [{"model": "k-anonymity", "k": 2}],
    }  # fmt: skip
    rows = pa.table({"zip": ["123", "12345", "12346", "124"], "ill": list("abcd")})
    made = sf.decouple(sf.anonymize(rows, policy, seed=1), "break-merge", seed=1)
    ledger = sf.Ledger.start(made, tmp_path / "x", alpha=0.5, policy=policy, source=rows)
    before = ledger.current.group_at(0)
    ledger.compact()
    assert ledger.verify() == []
    done = ledger.publish(rows, again=True)
    assert (done.admitted, done.current.group_at(0)) == (4, before)
