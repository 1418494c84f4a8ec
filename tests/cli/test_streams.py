"""`sfumato publish --since`: the same command every night."""

import json

import pytest

from tests.cli.conftest import everything_in
from tests.cli.test_mistakes import refused
from tests.ledger.releases import START, grouped_of
from tests.ledger.test_streams import PEOPLE

HEAD = "age,ill,pay,seen\n"


def lines(day, rows=16):
    people = [PEOPLE[i % len(PEOPLE)] for i in range(rows)]
    return "".join(f"{','.join(row)},2026-03-{day:02d}\n" for row in people)


@pytest.fixture
def clinic(folder):
    import sfumato as sf

    sf.Ledger.start(grouped_of(START), "x.ledger", alpha=0.5, k=2)
    (folder / "visits.csv").write_text(HEAD + lines(1) + lines(2) + lines(4, 3))
    return folder


PUBLISH = ("ledger", "stream", "x.ledger", "visits.csv", "--since", "seen")


@pytest.mark.usefixtures("patience")
def test_a_stream_from_start_to_end(clinic, run):
    command = (*PUBLISH, "--every", "day", "-o", "out")
    dry = run(*command, "--start", "beginning", "--dry-run")
    assert dry.exit_code == 0
    assert "32 new rows would make 2 increments" in dry.stdout
    assert not (clinic / "out").exists()
    done = run(*command, "--start", "beginning")
    assert done.exit_code == 0, done.stderr
    assert "32 new rows made 2 increments" in done.stdout
    assert "Left: 3 rows from 2026-03-04 on." in " ".join(done.stdout.split())
    assert "Entry 3, hash " in done.stderr
    assert run("verify", "out/2026-03-02").exit_code == 0
    before = everything_in(clinic)
    again = run(*command)
    assert (again.exit_code, again.stderr) == (0, "")
    assert "nothing new by 'seen': nothing was changed" in again.stdout
    assert everything_in(clinic) == before
    quiet = run(*command, "--quiet")
    assert (quiet.exit_code, quiet.stdout) == (0, "")
    assert "Left: 3 rows" in quiet.stderr


@pytest.mark.usefixtures("patience")
def test_a_stream_as_json(clinic, run):
    told = json.loads(run(*PUBLISH, "--start", "2026-03-02", "--json").stdout)
    assert (told["rows"], told["since"]) == (16, "seen")
    [increment] = told["increments"]
    assert increment["window"] == "2026-03-02"
    assert increment["publication"]["given"] == 16
    assert told["head"] == increment["publication"]["head"]
    assert json.loads(run(*PUBLISH, "--json").stdout)["increments"] == []


@pytest.mark.usefixtures("patience")
def test_a_folder_by_its_files(clinic, run):
    inbox = clinic / "inbox"
    inbox.mkdir()
    (inbox / "a.csv").write_text("age,ill,pay\n20s,flu,low\n20s,gout,high\n")
    command = ("ledger", "stream", "x.ledger", "inbox", "--since", "files", "--stream", "inbox")
    done = run(*command, "--start", "beginning", "-o", "out/{window}-files")
    assert done.exit_code == 0, done.stderr
    assert "2 new rows made 1 increment" in done.stdout
    assert (clinic / "out" / "a-files" / "manifest.json").is_file()
    assert "nothing new by 'files'" in run(*command).stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), ["--start beginning"]),
        (("--start", "beginning", "--every", "fortnight"), ["every must be day, week, month"]),
        (("--start", "soon"), ["start must be a day or time such as 2026-11-01"]),
        (("--start", "beginning", "-o", "table:x"), ["a name with {window} in it"]),
    ],
)
def test_mistakes(clinic, run, options, words):
    refused(clinic, run, *PUBLISH, *options, words=words)


@pytest.mark.usefixtures("patience")
def test_options_of_streams_are_those_of_streams(clinic, run):
    given = ("ledger", "add", "x.ledger", "visits.csv", "--every", "month")
    assert "No such option: --every" in run(*given).stderr
    assert "No such option: --delete" in run(*PUBLISH, "--delete", "visits.csv").stderr
    none = ("ledger", "stream", "x.ledger", "--since", "seen")
    assert "Missing argument 'DATA'" in run(*none).stderr
    none = ("ledger", "stream", "x.ledger", "visits.csv")
    assert "Missing option '--since'" in run(*none).stderr
