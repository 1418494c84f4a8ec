"""Nothing can be done to a signed release that is not found, and nothing ends in a traceback."""

import json
import os
import random
import re
import shutil

import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.evidence import parse_evidence
from sfumato.evidence.document import canonical
from tests.evidence import literal


def broken(folder, key=None):
    """Name the checks that do not hold."""
    found = sf.check_evidence(folder, key)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["holds"] is found.holds
    assert str(found)
    return [check.name for check in found.checks if check.status != "holds"]


def files_of(folder):
    return sorted(path for path in folder.iterdir() if path.is_file())


@pytest.mark.parametrize("kind", ["anonymized", "decoupled"])
def test_an_untouched_release_holds(request, kind, key):
    folder = request.getfixturevalue(kind)
    found = sf.check_evidence(folder, key.public)
    assert found.holds, str(found)
    assert found.signed_by == str(key.public)
    assert [c.name for c in found.checks] == ["evidence", "files", "sha256", "claims", "signature"]
    assert found["files"].found == len(files_of(folder)) - 1


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("kind", ["anonymized", "decoupled"])
def test_the_signature_is_what_the_textbook_says(request, kind, key):
    """No code of the package reads the file here, and none of the library checks it."""
    data = (request.getfixturevalue(kind) / "evidence.json").read_bytes()
    whole = json.loads(data)
    signature = whole.pop("signature")
    start = data.index(b',"signature":')
    message = data[:start] + b"}"
    assert json.loads(message) == whole
    public, value = bytes.fromhex(signature["public_key"]), bytes.fromhex(signature["value"])
    assert public == key.public.raw
    assert literal.verifies(public, value, message)
    assert not literal.verifies(public, value, message + b"\n")


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(("flips", "with_key"), [(1000, True), (200, False)])
def test_a_thousand_flips_are_all_found(decoupled, key, flips, with_key, some):
    """Every file is hit; without the key the signature still belongs to the bytes."""
    known = key.public if with_key else None
    rng = random.Random(20)
    paths = files_of(decoupled)
    hit = set()
    for _ in range(some(flips // 5, of=flips)):
        path = rng.choice(paths)
        data = path.read_bytes()
        at = rng.randrange(len(data))
        change = rng.choice([1 << rng.randrange(8), rng.randrange(1, 256)])
        path.write_bytes(data[:at] + bytes([data[at] ^ change]) + data[at + 1 :])
        assert not sf.check_evidence(decoupled, known).holds, (path.name, at, change)
        path.write_bytes(data)
        hit.add(path.name)
    assert hit == {path.name for path in paths}
    assert not broken(decoupled, key.public)


@pytest.mark.usefixtures("patience")
def test_a_flip_of_any_bit_of_the_evidence_is_refused_or_not_what_was_signed(anonymized, key):
    data = (anonymized / "evidence.json").read_bytes()
    read = 0
    for at, byte in enumerate(data):
        changed = data[:at] + bytes([byte ^ (1 << at % 8)]) + data[at + 1 :]
        try:
            evidence = parse_evidence(changed)
        except InputError:
            continue
        read += 1
        signature = evidence.signature
        same = signature.public_key == key.public.raw
        assert not (same and key.public.verifies(signature.value, evidence.message())), at
    assert read  # some are evidence still, of something else


@pytest.mark.usefixtures("patience")
def test_every_truncation_and_every_addition_is_found(decoupled, key):
    rng = random.Random(22)
    for path in files_of(decoupled):
        data = path.read_bytes()
        lengths = {0, 1, len(data) - 1, *(rng.randrange(len(data)) for _ in range(20))}
        for changed in (
            *(data[:length] for length in lengths),
            *(data + more for more in (b"\n", b" ", b"\0", b"}", data)),
            b"\n" + data,
        ):
            path.write_bytes(changed)
            assert broken(decoupled, key.public), (path.name, len(changed))
        path.write_bytes(data)


@pytest.mark.usefixtures("patience")
def test_every_removed_renamed_or_swapped_file_is_found(decoupled, key):
    paths = files_of(decoupled)
    aside = decoupled.parent / "aside"
    for path in paths:
        path.rename(aside)
        assert broken(decoupled, key.public), path
        aside.rename(path)
        path.rename(decoupled / f"{path.name}.bak")
        assert broken(decoupled, key.public), path
        (decoupled / f"{path.name}.bak").rename(path)
    for one in paths:
        for other in paths:
            if one == other or one.read_bytes() == other.read_bytes():
                continue
            one.rename(aside)
            other.rename(one)
            aside.rename(other)
            assert broken(decoupled, key.public), (one, other)
            one.rename(aside)
            other.rename(one)
            aside.rename(other)
    assert not broken(decoupled, key.public)


@pytest.mark.parametrize("name", ["original.csv", ".hidden", "evidence.json.bak", "DATA.CSV"])
def test_an_added_file_is_found(anonymized, key, name):
    (anonymized / name).write_text("name\nJessica\n")
    assert broken(anonymized, key.public) == ["files"]
    assert repr(name) in sf.check_evidence(anonymized)["files"].detail


def test_a_folder_a_link_and_a_pipe_are_found_and_not_entered(anonymized, key):
    (anonymized / "more").mkdir()
    assert broken(anonymized, key.public) == ["files"]
    (anonymized / "more").rmdir()
    os.mkfifo(anonymized / "pipe")
    assert broken(anonymized, key.public) == ["files"]
    (anonymized / "pipe").unlink()
    (anonymized / "a\\b").write_text("?")
    assert broken(anonymized, key.public) == ["files"]


@pytest.mark.parametrize("name", ["data.csv", "manifest.json", "evidence.json"])
def test_a_link_to_the_very_same_bytes_is_not_followed(anonymized, tmp_path, key, name):
    (anonymized / name).rename(tmp_path / "elsewhere")
    (anonymized / name).symlink_to(tmp_path / "elsewhere")
    assert broken(anonymized, key.public)
    (anonymized / name).unlink()
    os.mkfifo(anonymized / name)
    assert broken(anonymized, key.public)


def test_a_link_that_comes_after_the_folder_was_listed_is_not_followed(
    anonymized, tmp_path, monkeypatch
):
    from sfumato.evidence import document as checking

    listed = checking.files_in(anonymized)
    (anonymized / "data.csv").rename(tmp_path / "elsewhere")
    (anonymized / "data.csv").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setattr(checking, "files_in", lambda _: listed)
    assert broken(anonymized) == ["sha256"]
    (anonymized / "data.csv").unlink()
    os.mkfifo(anonymized / "data.csv")
    assert broken(anonymized) == ["sha256"]


def test_a_file_of_another_size_is_not_even_read(anonymized, monkeypatch):
    from sfumato.evidence import document as hashes

    with (anonymized / "data.csv").open("r+b") as file:
        file.truncate(10**12)  # sparse: reading it would take minutes
    read = []
    real = hashes.sha256
    monkeypatch.setattr(hashes, "sha256", lambda *data: read.append(1) or real(*data))
    assert broken(anonymized) == ["sha256"]
    # The manifest, and once more for its claims; a README and two codebooks.
    assert len(read) == 5


def test_files_of_another_signed_release_do_not_fit(anonymized, decoupled, key):
    shutil.copy(decoupled / "evidence.json", anonymized / "evidence.json")
    assert "signature" not in broken(anonymized, key.public)
    assert "sha256" in broken(anonymized, key.public)


def test_a_forger_who_signs_anew_has_another_key(anonymized, key):
    forger = sf.evidence.SigningKey.generate()
    data = anonymized / "data.csv"
    data.write_text(data.read_text().replace("gout", "hiv", 1))
    resign(anonymized, forger)
    found = sf.check_evidence(anonymized, key.public)
    assert found["signature"].status == "broken"
    assert found["signature"].detail == "it is signed by another key"
    assert found["signature"].found == str(forger.public)
    # And whoever names the publisher's key instead cannot make its signature.
    rewrite(anonymized, lambda plain: plain["signature"].update(public_key=key.public.raw.hex()))
    assert sf.check_evidence(anonymized, key.public)["signature"].detail == (
        "the signature is not of this evidence"
    )


def test_evidence_whose_signature_was_cut_off_is_found(anonymized, key):
    rewrite(anonymized, lambda plain: plain.pop("signature"))
    found = sf.check_evidence(anonymized, key.public)
    assert (found.holds, found["signature"].detail) == (False, "it is not signed")
    assert sf.check_evidence(anonymized).note.startswith("Not signed")


def rewrite(folder, change):
    """Change evidence as a forger would who knows the format."""
    path = folder / "evidence.json"
    plain = json.loads(path.read_bytes())
    change(plain)
    path.write_bytes(canonical(plain))


def resign(folder, key):
    from hashlib import sha256

    def hashed(plain):
        del plain["signature"]
        for file in plain["files"]:
            data = (folder / file["name"]).read_bytes()
            file.update(sha256=sha256(data).hexdigest(), size=len(data))
        value = key.sign(canonical(plain)).hex()
        signature = {"algorithm": "ed25519", "public_key": key.public.raw.hex(), "value": value}
        plain["signature"] = signature

    rewrite(folder, hashed)


def edit_manifest(folder, change):
    path = folder / "manifest.json"
    plain = json.loads(path.read_bytes())
    change(plain)
    path.write_text(json.dumps(plain))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m["models"][0].update(k=3), "the manifest claims something else"),
        (lambda m: m["models"].pop(), "the manifest claims something else"),
        (lambda m: m["rows"].update(published=9), "the manifest claims something else"),
        (lambda m: m["rows"].update(published=True), "the manifest claims something else"),
        (lambda m: m.update(sfumato="9.9"), "the manifest claims something else"),
        (lambda m: m.update(increment={"sequence": 2}), "the manifest claims something else"),
        (lambda m: m["files"][0].update(sha256="0" * 64), "another hash of 'data.csv'"),
        (lambda m: m["files"][0].update(name=["data.csv"]), "another hash of"),
        (lambda m: m["models"][0].update(k=10**30), "the manifest claims something else"),
    ],
)
def test_claims_are_those_of_the_manifest_even_if_all_is_signed(anonymized, key, change, words):
    edit_manifest(anonymized, change)
    resign(anonymized, key)
    assert broken(anonymized, key.public) == ["claims"]
    assert words in sf.check_evidence(anonymized)["claims"].detail


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"a":1,"a":1}', '{"models":NaN}', '{"models":' * 50_000, '{"rows":1e999}'],
)
def test_a_manifest_that_is_none_is_found_even_if_it_is_signed(anonymized, key, text):
    (anonymized / "manifest.json").write_text(text)
    resign(anonymized, key)
    assert broken(anonymized, key.public) == ["claims"]


def test_a_check_that_did_not_hold_or_was_not_made_is_found(anonymized, key):
    def fail(plain):
        plain["claims"]["checks"][-1]["status"] = "unchecked"

    rewrite(anonymized, fail)
    resign(anonymized, key)
    assert "did not hold" in sf.check_evidence(anonymized, key.public)["claims"].detail
    rewrite(anonymized, lambda plain: plain["claims"].update(checks=[]))
    resign(anonymized, key)
    assert "'k-anonymity' was promised and not checked" in (
        sf.check_evidence(anonymized, key.public)["claims"].detail
    )


HOSTILE = {
    "a way up": (lambda p: p["files"][0].update(name="../data.csv"), "not a name"),
    "an absolute way": (lambda p: p["files"][0].update(name="/etc/passwd"), "not a name"),
    "a drive": (lambda p: p["files"][0].update(name="C:data.csv"), "not a name"),
    "no name": (lambda p: p["files"][0].update(name=""), "not a name"),
    "a null": (lambda p: p["files"][0].update(name="a\0b"), "not a name"),
    "a number as name": (lambda p: p["files"][0].update(name=3), "not a name"),
    "itself": (lambda p: p["files"][0].update(name="evidence.json"), "order of|must have"),
    "a file twice": (lambda p: p["files"].append(p["files"][-1]), "each file once"),
    "another order": (lambda p: p["files"].reverse(), "order of names"),
    "no manifest": (lambda p: p["files"].pop(), "must have 'manifest.json'"),
    "no files": (lambda p: p.update(files={}), "must be a list"),
    "a file that is a text": (lambda p: p.update(files=["data.csv"]), "not a name"),
    "a negative size": (lambda p: p["files"][0].update(size=-1), "number of bytes"),
    "a size that is true": (lambda p: p["files"][0].update(size=True), "number of bytes"),
    "large digits": (lambda p: p["files"][0].update(sha256="A" * 64), "hexadecimal"),
    "a short hash": (lambda p: p["files"][0].update(sha256="a" * 62), "hexadecimal"),
    "a file with more": (lambda p: p["files"][0].update(note="hi"), "besides"),
    "more": (lambda p: p.update(note="hi"), "keys must be"),
    "less": (lambda p: p.pop("claims"), "keys must be"),
    "no claims": (lambda p: p.update(claims=[]), "list of checks"),
    "no checks": (lambda p: p["claims"].update(checks=[1]), "list of checks"),
    "another format": (lambda p: p.update(format=2), "only format 1"),
    "a format that is true": (lambda p: p.update(format=True), "only format 1"),
    "something else": (lambda p: p.update(evidence_of="a sale"), "not evidence of"),
    "another algorithm": (lambda p: p["signature"].update(algorithm="none"), "algorithm"),
    "a signature that is none": (lambda p: p.update(signature=None), "algorithm"),
    "a short signature": (lambda p: p["signature"].update(value="ab"), "64 bytes"),
    "a short key": (lambda p: p["signature"].update(public_key=""), "32 bytes"),
    "a signature with more": (lambda p: p["signature"].update(by="me"), "besides"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_evidence_of_another_shape_is_refused(anonymized, key, what):
    change, words = HOSTILE[what]
    rewrite(anonymized, change)
    assert broken(anonymized, key.public) == ["evidence"]
    assert re.search(words, sf.check_evidence(anonymized)["evidence"].detail)


def test_evidence_that_is_too_large_is_not_read(anonymized, key):
    with (anonymized / "evidence.json").open("r+b") as file:
        file.truncate(10**12)
    assert broken(anonymized, key.public) == ["evidence"]
    assert "larger than 16 MB" in sf.check_evidence(anonymized)["evidence"].detail


def test_a_key_that_is_no_point_verifies_nothing(anonymized):
    rewrite(anonymized, lambda p: p["signature"].update(public_key="ff" * 32))
    assert broken(anonymized) == ["signature"]


def test_what_is_parsed_is_written_again_to_the_byte(decoupled):
    data = (decoupled / "evidence.json").read_bytes()
    assert parse_evidence(data).to_bytes() == data
