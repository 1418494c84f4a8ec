"""keygen, sign and check-evidence: exit codes, words, and what they leave behind."""

import json
import os

import pytest

import sfumato as sf
from tests.cli.conftest import everything_in

ANONYMIZE = ("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "release", "-q")
CHECK = ("check-evidence", "release", "--public-key", "publisher.pub")


@pytest.fixture
def signed(patients, run):
    """A release and the keys of its publisher."""
    assert run("keygen", "-o", "publisher").exit_code == 0
    assert run(*ANONYMIZE, "--key", "publisher.key").exit_code == 0
    return patients


def ends(run, *args, code, words):
    result = run(*args)
    assert result.exit_code == code, result.output
    assert words in " ".join(result.output.split())
    assert "Traceback" not in result.output
    return result


def test_keygen_writes_a_pair_and_shows_the_public_key(folder, run):
    result = run("keygen", "-o", "publisher")
    assert (result.exit_code, everything_in(folder)) == (0, {"publisher.key", "publisher.pub"})
    assert result.stdout.strip() == str(sf.evidence.SigningKey.load("publisher.key").public)
    assert "Keep publisher.key to yourself" in result.stderr
    ends(run, "keygen", "-o", "publisher", code=2, words="'publisher.key' exists")
    ends(run, "keygen", "-o", "no/folder/x", code=2, words="cannot write")


def test_an_untouched_release_ends_with_0(signed, run):
    result = ends(run, *CHECK, code=0, words="Holds: all 5 checks.")
    assert "by the key that was given: ed25519:" in " ".join(result.stdout.split())
    assert result.stderr == ""
    ends(run, *CHECK[:2], code=0, words="a key that was compared with none")


@pytest.mark.usefixtures("patience")
def test_a_changed_release_ends_with_1(signed, run):
    (signed / "release" / "data.csv").write_text("age\n")
    ends(run, *CHECK, code=1, words="changed: 'data.csv'")
    result = ends(run, *CHECK, "--json", code=1, words="")
    plain = json.loads(result.stdout)
    assert plain == json.loads(json.dumps(sf.check_evidence("release", "publisher.pub").to_dict()))
    assert [c["status"] for c in plain["checks"]].count("broken") == 1
    ends(run, "sign", "release", "--key", "publisher.key", code=1, words="was not signed")


@pytest.mark.usefixtures("patience")
def test_a_release_that_is_not_signed_ends_with_1_only_if_a_key_is_given(signed, run):
    assert run(*ANONYMIZE, "--force").exit_code == 0
    ends(run, *CHECK[:2], code=0, words="Not signed: a person")
    ends(run, *CHECK, code=1, words="it is not signed")
    result = ends(run, "sign", "release", "--key", "publisher.key", code=0, words="Signed by")
    assert result.stderr == ""
    ends(run, *CHECK, code=0, words="Holds")


@pytest.mark.usefixtures("patience")
def test_a_release_that_another_signed_ends_with_1(signed, run):
    run("keygen", "-o", "other")
    ends(run, "sign", "release", "--key", "other.key", code=2, words="--force")
    ends(run, "sign", "release", "--key", "other.key", "--force", "-q", code=0, words="")
    ends(run, *CHECK, code=1, words="it is signed by another key")
    result = run("sign", "release", "--key", "other.key", "--json")
    assert json.loads(result.stdout)["holds"] is True


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("check-evidence", "."), "neither manifest.json nor evidence.json"),
        (("check-evidence", "nowhere"), "is not a folder"),
        ((*CHECK[:3], "nowhere.pub"), "No such file"),
        ((*CHECK[:3], "policy.yaml"), "holds no such key"),
        ((*CHECK[:3], "publisher.key"), "this is a private key"),
        (("sign", "release", "--key", "publisher.pub"), "this is a public key"),
        (("sign", "release", "--key", "policy.yaml"), "holds no such key"),
        (("sign", "nowhere", "--key", "publisher.key"), "no manifest.json"),
        ((*ANONYMIZE, "--force", "--key", "nowhere.key"), "No such file"),
        ((*ANONYMIZE, "--force", "--key", "policy.yaml"), "holds no such key"),
        ((*ANONYMIZE, "--force", "--key", "publisher.pub"), "this is a public key"),
    ],
)
def test_a_wrong_request_ends_with_2(signed, run, args, words):
    before = everything_in(signed)
    result = ends(run, *args, code=2, words=words)
    assert result.stdout == ""
    assert everything_in(signed) == before


@pytest.mark.usefixtures("patience")
def test_a_passphrase_comes_from_the_environment(patients, run, monkeypatch):
    monkeypatch.setenv("SFUMATO_PASSPHRASE", "lapis lazuli")
    assert run("keygen", "-o", "publisher", "--passphrase").exit_code == 0
    assert "ENCRYPTED" in (patients / "publisher.key").read_text()
    assert run(*ANONYMIZE, "--key", "publisher.key").exit_code == 0
    ends(run, *CHECK, code=0, words="Holds")
    sign = ("sign", "release", "--key", "publisher.key")
    monkeypatch.setenv("SFUMATO_PASSPHRASE", "ochre")
    ends(run, *sign, code=2, words="the passphrase is wrong")
    monkeypatch.delenv("SFUMATO_PASSPHRASE")
    ends(run, *sign, code=2, words="Put it into SFUMATO_PASSPHRASE")


def test_whoever_sits_there_is_asked_for_the_passphrase(patients, run, monkeypatch):
    from sfumato.cli import options as passphrase

    asked = []

    def prompt(text, **settings):
        asked.append((text, settings["hide_input"], settings["confirmation_prompt"]))
        return "lapis lazuli"

    monkeypatch.setattr(passphrase.sys, "stdin", Terminal())
    monkeypatch.setattr(passphrase.typer, "prompt", prompt)
    assert passphrase.passphrase(new=True) == "lapis lazuli"
    sf.evidence.keygen("publisher", passphrase="lapis lazuli")
    key = passphrase.signing_key(patients / "publisher.key")
    assert key is not None
    assert asked == [("Passphrase", True, True), ("Passphrase", True, False)]


class Terminal:
    def isatty(self):
        return True


@pytest.mark.usefixtures("patience")
def test_decoupled_releases_and_increments_are_signed_at_once(signed, run):
    decouple = ("decouple", "release", "-o", "broken", "--key", "publisher.key", "-q")
    assert run(*decouple).exit_code == 0
    ends(run, "check-evidence", "broken", *CHECK[2:], code=0, words="Holds")
    ledger = "x.ledger"
    start = (
        "ledger",
        "start",
        ledger,
        "broken",
        "--alpha",
        "0.5",
        "-k",
        "2",
        "-p",
        "policy.yaml",
        "--data",
        "patients.csv",
    )
    assert run(*start).exit_code == 0
    (signed / "new.csv").write_text("name,age,zip,ill\nEve,22,4711,hiv\nFay,25,4712,ulcer\n")
    added = ("ledger", "add", ledger, "new.csv", "-o", "two", "--key", "publisher.key")
    result = run(*added)
    assert result.exit_code == 0, result.output
    ends(run, "check-evidence", "two", *CHECK[2:], code=0, words="Holds")


@pytest.mark.skipif(os.name != "posix", reason="files have no such owners here")
def test_a_key_that_others_can_read_is_warned_of(signed, run):
    assert "Warning" not in run("sign", "release", "--key", "publisher.key").stderr
    (signed / "publisher.key").chmod(0o640)
    result = run("sign", "release", "--key", "publisher.key")
    assert result.exit_code == 0
    assert "others on this machine can read publisher.key" in result.stderr
