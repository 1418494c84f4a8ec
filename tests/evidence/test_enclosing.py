"""A report joins its release together with the evidence of it, or not at all."""

from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import OutputError, ParameterError, VerificationError
from sfumato.releases.evidence import enclose
from tests.evidence.conftest import POLICY, TABLE


@pytest.fixture
def unsigned(tmp_path):
    folder = tmp_path / "unsigned"
    sf.anonymize(TABLE, POLICY, output=folder, format="csv")
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.usefixtures("patience")
def test_evidence_knows_the_report_that_was_saved(unsigned, anonymized, decoupled, key):
    for folder, signer in ((unsigned, None), (anonymized, key), (decoupled, key)):
        path = sf.report(folder, public=True).save(folder / "report.html", key=signer, even_so=True)
        assert path.name in contents(folder)
        found = sf.check_evidence(folder, None if signer is None else signer.public)
        assert found.holds, str(found)
        assert all(check.status == "holds" for check in sf.verify(folder).checks)


@pytest.mark.usefixtures("patience")
def test_a_release_from_before_there_was_evidence_takes_one_too(unsigned, key):
    (unsigned / "evidence.json").unlink()
    report = sf.report(unsigned, public=True)
    report.save(unsigned / "report.html")
    assert not (unsigned / "evidence.json").exists()
    report.save(unsigned / "report.html", key=key, even_so=True)
    assert sf.check_evidence(unsigned, key.public).holds


@pytest.mark.usefixtures("patience")
def test_what_is_not_for_everybody_stays_outside(unsigned, anonymized, tmp_path, key):
    before = contents(unsigned), contents(anonymized)
    for public, place, signer, said in (
        (False, unsigned / "report.html", None, "for the public"),
        (True, unsigned / "public.html", None, "for the public"),
        (True, anonymized / "report.html", None, "another release"),
        (True, tmp_path / "public.html", key, "left out"),
    ):
        with pytest.raises((OutputError, ParameterError), match=said):
            sf.report(unsigned, public=public).save(place, key=signer, even_so=True)
    with pytest.raises(OutputError, match="signed"):
        sf.report(anonymized, public=True).save(anonymized / "report.html")
    assert (contents(unsigned), contents(anonymized)) == before


def test_a_release_that_was_changed_takes_no_report(unsigned):
    (unsigned / "README.md").write_text("Trust me.")
    before = contents(unsigned)
    with pytest.raises(VerificationError, match="not what was published"):
        enclose(unsigned, "<p>All is well.</p>", answer=dict)
    (unsigned / "evidence.json").write_text("{}")
    with pytest.raises(OutputError, match="cannot be read"):
        enclose(unsigned, "<p>All is well.</p>", answer=dict)
    assert contents(unsigned) == {**before, "evidence.json": b"{}"}


def test_a_link_in_place_of_the_report_is_not_followed(unsigned, tmp_path):
    elsewhere = tmp_path / "elsewhere.html"
    elsewhere.write_text("mine")
    (unsigned / "report.html").symlink_to(elsewhere)
    with pytest.raises(VerificationError, match="not plain files"):
        sf.report(unsigned, public=True).save(unsigned / "report.html")
    assert elsewhere.read_text() == "mine"


@pytest.mark.parametrize("before", [None, "<p>Before.</p>"])
def test_if_the_evidence_cannot_be_written_nothing_has_changed(unsigned, monkeypatch, before):
    if before is not None:
        enclose(unsigned, before, answer=dict)
    there = contents(unsigned)
    replace = Path.replace

    def full(self, target):
        if target.name == "evidence.json":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputError, match="No space left"):
        enclose(unsigned, "<p>After.</p>", answer=dict)
    assert contents(unsigned) == there
