"""`sfumato report`: the file, the exit code, and what is refused."""

import json

import pytest

from tests.cli.conftest import everything_in

# Everybody in a class of two with different illnesses: a release that may be published with care.
PEOPLE = "name,age,zip,ill\n" + "".join(
    f"P{i},{20 + 10 * (i // 20) + i % 10},4711,{('flu', 'gout', 'cold', 'hiv')[i % 4]}\n"
    for i in range(80)
)


@pytest.fixture
def release(patients, run):
    (patients / "patients.csv").write_text(PEOPLE, encoding="utf-8")
    result = run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "release", "-q")
    assert result.exit_code == 0, result.stderr
    return patients


def test_it_writes_one_file_and_says_the_answer(release, run):
    before = everything_in(release)
    result = run("report", "release", "-o", "report.html")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "May it be published? With care. Written: report.html" in result.stderr
    assert everything_in(release) - before == {"report.html"}
    assert (release / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.usefixtures("patience")
def test_with_everything_it_tells_what_was_lost(release, run):
    options = ["--data", "patients.csv", "-p", "policy.yaml"]
    result = run("report", "release", *options, "-o", "report.md")
    assert result.exit_code == 0, result.stderr
    text = (release / "report.md").read_text(encoding="utf-8")
    assert "## What the release is still good for" in text


def test_without_a_file_it_is_markdown_on_stdout(release, run):
    result = run("report", "release", "--public")
    assert result.stdout.startswith("# Report on a release\n")
    assert result.stderr == ""


def test_json_is_one_document(release, run):
    found = json.loads(run("report", "release", "--format", "json").stdout)
    assert found["answer"] == "with care"
    assert found["sections"][0]["id"] == "verdict"


def test_the_format_wins_over_the_ending(release, run):
    result = run("report", "release", "-o", "report.txt", "--format", "markdown", "-q")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert (release / "report.txt").read_text(encoding="utf-8").startswith("# Report")


@pytest.mark.usefixtures("patience")
def test_a_file_that_is_there_is_replaced_only_if_told(release, run):
    (release / "report.html").write_text("mine", encoding="utf-8")
    result = run("report", "release", "-o", "report.html")
    assert result.exit_code == 2
    assert "exists" in result.stderr
    assert (release / "report.html").read_text(encoding="utf-8") == "mine"
    assert run("report", "release", "-o", "report.html", "--force").exit_code == 0


def test_a_release_that_may_not_be_published_ends_with_1_and_a_report(release, run):
    with (release / "release/data.csv").open("a", encoding="utf-8") as file:
        file.write("20-29,4711,flu\n")
    result = run("report", "release", "-o", "report.html")
    assert result.exit_code == 1
    assert "May it be published? No." in result.stderr
    assert (release / "report.html").exists()


@pytest.mark.usefixtures("patience")
def test_a_report_for_everybody_may_join_its_release(release, run):
    for options in ([], ["--force"]):
        result = run("report", "release", "--public", "-o", "release/report.html", *options)
        assert result.exit_code == 0, result.stderr
        assert (release / "release/report.html").stat().st_size > 1000
        assert run("check-evidence", "release").exit_code == 0
        assert run("verify", "release").exit_code == 0


@pytest.mark.usefixtures("patience")
def test_a_report_in_a_signed_release_is_signed_with_the_rest(release, run):
    for name in ("mine", "yours"):
        assert run("keygen", "-o", name).exit_code == 0
    assert run("sign", "release", "--key", "mine.key").exit_code == 0
    before = everything_in(release)
    into = ["report", "release", "--public", "-o", "release/report.html"]
    for options, said in (
        ([], "Give the --key"),
        (["--key", "yours.key"], "signed by another key"),
    ):
        result = run(*into, *options)
        assert result.exit_code == 2
        assert said in result.stderr.replace("\n", " ")
        assert everything_in(release) == before
    assert run(*into, "--key", "mine.key").exit_code == 0
    assert run("check-evidence", "release", "--public-key", "mine.pub").exit_code == 0
    assert run("verify", "release").exit_code == 0


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "options",
    [
        ["-o", "release/report.html"],
        ["-o", "release/report.html", "--data", "patients.csv"],
        ["--public", "-o", "release/other.html"],
        ["--public", "-o", "release/report.md"],
        ["--public", "-o", "release/report.html", "--format", "json"],
        ["--public", "-o", "other/report.html"],
        ["--public", "-o", "report.html", "--key", "mine.key"],
    ],
)
def test_nothing_else_is_added_to_a_release(release, run, options):
    run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "other", "-q")
    run("keygen", "-o", "mine")
    before = everything_in(release)
    result = run("report", "release", *options)
    assert result.exit_code == 2, result.stdout
    assert everything_in(release) == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--public", "--data", "patients.csv"], "data must be left out"),
        (["--public", "-p", "policy.yaml"], "policy must be left out"),
        (["-o", "report.pdf"], "ends in .html"),
        (["--format", "pdf"], "one of html, markdown, json"),
        (["--ledger", "nothing.ledger"], ""),
    ],
)
def test_mistakes_are_explained(release, run, options, said):
    result = run("report", "release", *options)
    if said:
        assert result.exit_code == 2
        assert said in result.stderr
    else:
        # Everything else is reported, and why there is nothing about the ledger.
        assert "How many more people there is room for" in result.stdout


def test_a_folder_that_is_no_release_is_refused(patients, run):
    result = run("report", ".")
    assert result.exit_code == 2
    assert "there is no manifest.json" in result.stderr
