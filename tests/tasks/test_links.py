"""A link in a release leads to what was never published; nothing is read through one."""

import shutil

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError

SECRET = pa.table({"age": ["secret"] * 6, "ill": ["a secret", "another secret"] * 3})
TABLE = pa.table({"age": ["30s", "40s"] * 6, "ill": ["flu", "gout", "hiv"] * 4})
POLICY = sf.Policy(
    columns={"age": "quasi-identifier", "ill": "sensitive"}, models=[sf.models.KAnonymity(2)]
)
ROLES = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}


def publish(table, folder, kind):
    if kind == "one table":
        return sf.anonymize(table, POLICY, output=folder, format="csv").folder
    method = {"method": kind, "l": 2} if kind == "anatomy" else kind
    return sf.decouple(table, method, **ROLES, output=folder, format="csv").folder


@pytest.fixture(
    params=["one table", "break-merge", "anatomy", "bucketization", "association-hiding"]
)
def linked(request, tmp_path):
    """A release of which every table is a link to another that is private."""
    private = publish(SECRET, tmp_path / "private", request.param)
    folder = publish(TABLE, tmp_path / "release", request.param)
    for path in folder.glob("*.csv"):
        path.unlink()
        path.symlink_to(private / path.name)
    return folder


def test_a_public_report_says_nothing_of_what_a_link_leads_to(linked):
    report = sf.report(linked, public=True)
    assert report.answer == "no"
    for text in (report.to_html(), report.to_markdown(), report.to_json()):
        assert "secret" not in text.lower()


def test_the_verdict_rests_on_plain_files_alone(linked):
    found = sf.verify(linked)
    assert not found.holds
    assert found.attacks == ()


@pytest.mark.parametrize(
    "ask",
    [
        sf.detect,
        sf.tools.merge,
        sf.breach,
        lambda folder: sf.explain(folder, {"age": "30s"}),
        lambda folder: sf.estimate(folder, {"age": "30s"}),
        lambda folder: sf.utility(TABLE, folder),
        lambda folder: sf.tools.membership(TABLE, folder),
        sf.tools.correlations,
    ],
)
def test_no_question_is_answered_through_a_link(linked, ask):
    with pytest.raises(InputError):
        ask(linked)


def test_a_manifest_that_is_a_link_is_none(tmp_path):
    folder = publish(TABLE, tmp_path / "release", "one table")
    shutil.move(folder / "manifest.json", tmp_path / "elsewhere.json")
    (folder / "manifest.json").symlink_to(tmp_path / "elsewhere.json")
    for ask in (sf.verify, sf.detect, sf.report):
        with pytest.raises(InputError):
            ask(folder)
