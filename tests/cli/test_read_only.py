"""Folders and files that may not be written or read: named, and left as they are."""

import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest
import uvicorn
from typer.testing import CliRunner

from sfumato.cli.app import app
from tests.cli.conftest import PATIENTS, POLICY, everything_in
from tests.unprivileged import NOBODY, unprivileged

pytestmark = pytest.mark.usefixtures("patience")

if os.name == "nt":
    pytest.skip("permissions of POSIX", allow_module_level=True)

OUTPUTS = {
    "anonymize": ("anonymize patients.csv -p policy.yaml -o {}/new", "cannot write in 'closed'"),
    "anonymize deeper": (
        "anonymize patients.csv -p policy.yaml -o {}/a/new",
        "cannot write in 'closed/a'",
    ),
    "decouple": ("decouple release -o {}/new", "cannot write in 'closed'"),
    "start a ledger": (
        "ledger start {}/x.ledger apart --alpha 0.9 -k 2",
        "another place for the ledger",
    ),
    "publish": (
        "ledger add clinic.ledger release/data.csv -o {}/new --whole --again",
        "cannot write 'closed/new'",
    ),
    "report": ("report release -o {}/r.html", "cannot write 'closed/r.html'"),
    "init": ("init patients.csv -o {}/p.yaml", "cannot write 'closed/p.yaml'"),
    "init again": (
        "init patients.csv -o {}/policy.yaml --force",
        "cannot write 'closed/policy.yaml'",
    ),
    "app": ("app --folder {} --no-browser", "Choose another folder with --folder"),
}
"""Commands that write into a folder, and what they say if they may not."""

LEDGERS = {
    "a ledger that is read-only": (
        0o755, 0o400,
        {"ledger add": "the file is read-only for you", "ledger verify": "", "ledger headroom": ""},
    ),
    "a folder that is read-only": (
        0o555, 0o600,
        {
            "ledger add": "nothing can be written in 'books'",
            "ledger verify": "", "ledger headroom": "",
        },
    ),
    "both": (
        0o555, 0o400,
        {"ledger add": "the file is read-only for you", "ledger verify": "", "ledger headroom": ""},
    ),
    "a ledger of others": (
        0o755, 0o000,
        dict.fromkeys(
            ("ledger add", "ledger verify", "ledger headroom"), "cannot be opened: Permission"
        ),
    ),
}  # fmt: skip
"""The modes of a folder and a ledger in it, and what commands say; nothing if they work."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with a table, releases and ledgers, made with rights that tests give up.

    All that commands import is imported by then: others may not read the home of root.
    """
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "patients.csv").write_text(PATIENTS, encoding="utf-8")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    given = [
        "anonymize patients.csv -p policy.yaml -o release",
        "decouple release -o apart",
        "ledger start clinic.ledger apart --alpha 0.9 -k 2",
        *(line.format(f"warm-{i}") for i, (line, _) in enumerate(OUTPUTS.values())),
        "ledger headroom clinic.ledger",
        "ledger verify clinic.ledger",
        "verify release",
        "demo --rows 100",
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(uvicorn.Server, "run", lambda *_, **__: None)
        own = [f"warm-{i}" for i in range(len(OUTPUTS))]
        for name in ("closed", "books", *own):
            Path(name).mkdir()
        for line in given:
            done = CliRunner().invoke(app, line.split())
            assert done.exit_code in {0, 1}, done.output
        for name in own:
            shutil.rmtree(name)
        shutil.copy("policy.yaml", "closed")
        shutil.copy("clinic.ledger", "books/x.ledger")
    return folder


@pytest.fixture
def closed(prepared, monkeypatch):
    """A copy of that which others can reach, with a folder that is read-only."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(prepared, folder, dirs_exist_ok=True)
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, -1 if os.geteuid() else NOBODY, -1)
        (folder / "closed").chmod(0o555)
        monkeypatch.chdir(folder)
        yield folder
        for path in folder.rglob("*"):
            path.chmod(0o700)


def contents(folder):
    """Everything that is there, with what the files hold."""
    found = (folder / name for name in sorted(everything_in(folder)))
    return {
        str(path): path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else b""
        for path in found
    }


def answered(folder, run, command, words):
    """Run a command that ends with one error, and changes nothing."""
    before = contents(folder)
    with unprivileged():
        result = run(*command.split())
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    # One error, besides warnings that others may read a file.
    told = [line for line in result.stderr.splitlines() if not line.startswith("Warning: ")]
    assert " ".join(told).startswith("sfumato: error: ")
    assert " ".join(told).count("error") == 1
    assert words in result.stderr
    assert "ermission" in result.stderr
    assert "damaged" not in result.stderr
    assert contents(folder) == before


def works(run, command):
    """Run a command that needs none of the rights that were given up."""
    with unprivileged():
        done = run(*command.split())
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("command", OUTPUTS)
def test_a_folder_that_may_not_be_written_is_named(closed, run, command):
    line, words = OUTPUTS[command]
    answered(closed, run, line.format("closed"), words)


@pytest.mark.parametrize("case", LEDGERS)
def test_a_ledger_that_may_not_be_written_is_not_called_damaged(closed, run, case):
    of_folder, of_file, commands = LEDGERS[case]
    ledger = closed / "books/x.ledger"
    ledger.chmod(of_file)
    ledger.parent.chmod(of_folder)
    for command, words in commands.items():
        rows = "release/data.csv -o new --whole --again" if command == "ledger add" else ""
        line = f"{command} books/x.ledger {rows}"
        if words:
            answered(closed, run, line, words)
        else:
            works(run, line)
    ledger.parent.chmod(0o755)
    ledger.chmod(0o600)
    works(run, "ledger add books/x.ledger release/data.csv --whole --again")


@pytest.mark.parametrize(
    ("command", "hidden"),
    [
        ("verify release", "release/manifest.json"),
        ("verify release", "release/data.csv"),
        ("report release -o r.html", "release/manifest.json"),
        ("anonymize patients.csv -p policy.yaml -o new", "patients.csv"),
        ("anonymize patients.csv -p policy.yaml -o new", "policy.yaml"),
        ("init patients.csv -o p.yaml", "patients.csv"),
    ],
)
def test_a_file_that_may_not_be_read_is_named(closed, run, command, hidden):
    (closed / hidden).chmod(0)
    answered(closed, run, command, Path(hidden).name)


def test_no_room_for_temporary_files_is_said(closed, run, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(closed / "closed"))
    answered(closed, run, "demo", "Change the permissions, or choose another place")
    works(run, "anonymize patients.csv -p policy.yaml -o new")


def test_a_release_that_was_made_read_only_is_replaced_as_a_whole(closed, run):
    for path in (closed / "release").iterdir():
        path.chmod(0o444)
    (closed / "release").chmod(0o555)
    before = everything_in(closed)
    works(run, "anonymize patients.csv -p policy.yaml -o release --force")
    assert everything_in(closed) == before
