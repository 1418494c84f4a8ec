"""What is shown: names as they are, without tricks on the terminal, with and without colour."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sfumato.cli.command import Command
from sfumato.reports.verdicts import FORMATS

ODD = "[red]income[/] :smile:"


@pytest.fixture
def odd(folder):
    (folder / "odd.csv").write_text(f"{ODD},ill\n1,flu\n1,gout\n", encoding="utf-8")
    (folder / "policy.yaml").write_text(
        f"columns: {{'{ODD}': quasi-identifier, ill: sensitive}}\n"
        "models: [{model: k-anonymity, k: 2}]\n"
    )
    return folder


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("settings", [{}, {"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}], ids=str)
def test_names_with_brackets_are_shown_as_they_are(odd, run, monkeypatch, settings):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    result = run("anonymize", "odd.csv", "-p", "policy.yaml", "-o", "r")
    assert result.exit_code == 0
    assert ODD in result.stdout
    result = run("verify", "odd.csv", "-p", "policy.yaml")
    assert result.exit_code == 0
    assert ("\x1b[" in result.stdout) == ("FORCE_COLOR" in settings)


def test_inspect_and_init_show_names_with_brackets(odd, run):
    result = run("inspect", "odd.csv", "--qi", ODD)
    assert result.exit_code == 0
    assert ODD in result.stdout
    result = run("init", "odd.csv", "-o", "new.yaml")
    assert result.exit_code == 0
    assert ODD in result.stdout


def test_no_name_commands_the_terminal(folder, run):
    (folder / "evil.csv").write_text("\x1b[2Jage,ill\n1,flu\n1,gout\n", encoding="utf-8")
    for args in (["inspect", "evil.csv", "--qi", "\x1b[2Jage"], ["verify", "\x1b[2J.csv"]):
        result = run(*args)
        assert "\x1b" not in result.output
        assert "\\x1b[2J" in result.output


def test_json_is_never_wrapped_or_coloured(folder, run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "20")
    name = "a very long name of a column " * 10
    (folder / "long.csv").write_text(f"{name},ill\n1,flu\n1,gout\n")
    (folder / "policy.yaml").write_text(
        f"columns: {{'{name.strip()}': quasi-identifier, ill: sensitive}}\n"
        "models: [{model: k-anonymity, k: 2}]\n"
    )
    (folder / "long.csv").write_text(f"{name.strip()},ill\n1,flu\n1,gout\n")
    result = run("anonymize", "long.csv", "-p", "policy.yaml", "-o", "r", "--json")
    assert json.loads(result.stdout)["manifest"]["columns"][0]["name"] == name.strip()
    assert "\x1b" not in result.stdout


@pytest.mark.usefixtures("patience")
def test_a_narrow_terminal_loses_nothing(folder, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    (folder / "wide.csv").write_text("identifier_of_the_ward,ill\n1,flu\n1,gout\n")
    (folder / "policy.yaml").write_text(
        "columns: {identifier_of_the_ward: quasi-identifier, ill: sensitive}\n"
        "models: [{model: k-anonymity, k: 3}]\n"
    )
    result = run("verify", "wide.csv", "-p", "policy.yaml")
    assert result.exit_code == 1
    assert "…" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 40


@pytest.mark.usefixtures("patience")
def test_an_ascii_terminal_shows_what_it_can(folder, program):
    (folder / "alter.csv").write_text("größe,ill\n1,flu\n1,gout\n", encoding="utf-8")
    (folder / "policy.yaml").write_text(
        "columns: {größe: quasi-identifier, ill: sensitive}\n"
        "models: [{model: k-anonymity, k: 2}]\n",
        encoding="utf-8",
    )
    args = ("anonymize", "alter.csv", "-p", "policy.yaml", "-o", "r")
    with program(*args, env={"PYTHONIOENCODING": "ascii"}) as process:
        out, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    assert rb"gr\xf6\xdfe" in out
    with program("verify", "r", "--json", env={"PYTHONIOENCODING": "ascii"}) as process:
        out, _ = process.communicate(timeout=240)
    assert json.loads(out)["checks"][4]["found"] == ["größe", "ill"]


ON_A_TERMINAL = """
import os, pty, sys
command = [sys.executable, "-c", "from sfumato.cli import main; main()", *sys.argv[1:]]
sys.exit(os.waitstatus_to_exitcode(pty.spawn(command)))
"""


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")
@pytest.mark.parametrize("quiet", [False, True])
def test_progress_is_drawn_on_a_terminal_unless_it_is_to_be_quiet(patients, quiet):
    args = ["anonymize", "patients.csv", "-p", "policy.yaml", "-o", "r", *["--quiet"] * quiet]
    done = subprocess.run(
        [sys.executable, "-c", ON_A_TERMINAL, *args],
        cwd=patients,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TERM": "xterm"},
    )
    assert done.returncode == 0, done.stdout
    assert ("Verifying" in done.stdout) != quiet
    assert (patients / "r").is_dir()


COMMANDING = [
    *map(chr, range(1, 0x20)),  # with CR, which overwrites a line, and ESC, which begins a sequence
    *map(chr, range(0x7F, 0xA0)),  # DEL, and the same again in one character: U+009B is ESC [
    *"\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e",
    *"\u2060\u2066\u2067\u2068\u2069\ufeff\U000e0001",
]
"""What commands a terminal, turns a line around, or is not seen."""

EVIL = "".join(COMMANDING) + "[2J]0;owned</td>|`*x*`"


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    """A table, its policy and its releases in which every name and every value is hostile."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import sfumato as sf

    folder = tmp_path_factory.mktemp("evil")
    age, zip_code, ill, note = (name + EVIL for name in ("age", "zip", "ill", "note"))
    table = pa.table(
        {
            age: [31, 31, 47, 47] * 3,
            zip_code: [value + EVIL for value in ("a", "a", "b", "b")] * 3,
            ill: [value + EVIL for value in ("flu", "gout", "flu", "hiv")] * 3,
            note: [f"{number}{EVIL}" for number in range(12)],
        }
    )
    # A folder cannot be called so, with a slash.
    name = EVIL.replace("/", "")
    pq.write_table(table, folder / f"{name[:60]}.parquet")
    policy = sf.Policy(
        columns={age: "quasi-identifier", zip_code: "quasi-identifier", ill: "sensitive",
                 note: "plain"},
        models=[sf.models.KAnonymity(2)],
    )  # fmt: skip
    (folder / "policy.yaml").write_text(policy.to_yaml(), encoding="utf-8")
    released = folder / f"release{name[:60]}"
    release = sf.anonymize(table, policy, output=released)
    sf.decouple(release, output=folder / "apart")
    sf.Ledger.start(folder / "apart", folder / "l.ledger", alpha=0.9, k=2)
    return {
        "DATA": str(folder / f"{name[:60]}.parquet"),
        "POLICY": str(folder / "policy.yaml"),
        "RELEASE": str(released),
        "APART": str(folder / "apart"),
        "LEDGER": str(folder / "l.ledger"),
        "NEW": str(folder / f"new{name[:60]}"),
        "NOTHING": f"nothing{name[:60]}",
    }


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "command",
    [
        *(f"verify RELEASE --format {form}" for form in FORMATS),
        *(f"report RELEASE --format {form}" for form in ("markdown", "html", "json")),
        *(f"report RELEASE --data DATA -p POLICY --format {form}" for form in ("markdown", "json")),
        "verify RELEASE",
        "verify APART",
        "verify DATA -p POLICY --format text",
        "verify NOTHING",
        "verify RELEASE --format NOTHING",
        "verify DATA --qi NOTHING",
        "init DATA -o -",
        "inspect DATA -p POLICY",
        "inspect DATA -p POLICY --json",
        "anonymize DATA -p POLICY -o NEW1",
        "anonymize DATA -p POLICY -o NEW2 --json",
        "anonymize DATA -p POLICY -o RELEASE",
        "decouple RELEASE -o NEW3",
        "protect DATA -p POLICY -o NEW4",
        "compare DATA POLICY --jobs 1",
        "compare DATA POLICY --jobs 1 --json",
        "detect RELEASE",
        "detect RELEASE --json",
        "breach APART",
        "correlations RELEASE",
        "diff RELEASE APART",
        "explain RELEASE NOTHING=1",
        "estimate APART --where NOTHING=1",
        "membership DATA RELEASE -p POLICY",
        "utility DATA RELEASE -p POLICY --queries 5",
        "ledger add LEDGER DATA -o NEW5",
        "ledger headroom LEDGER",
        "ledger show LEDGER",
        "ledger show LEDGER --log --json",
        "check-evidence RELEASE",
    ],
)
def test_no_name_value_or_path_commands_a_terminal_in_any_command_and_form(evil, run, command):
    words = command.split()
    for place, path in evil.items():
        words = [word.replace(place, path, 1) if place in word else word for word in words]
    result = run(*words)
    assert result.exit_code in {0, 1, 2}, result.output
    assert result.output
    shown = {c for c in result.output if c in COMMANDING}
    assert shown <= {"\n", "\t"}
    if command.endswith("json") and result.exit_code < 2:
        json.loads(result.stdout)


@pytest.mark.usefixtures("patience")
def test_a_mistyped_command_does_not_command_the_terminal(program):
    with program("verify\x1b[2J\u202e") as process:
        out, errors = process.communicate(timeout=240)
    assert process.returncode == 2
    assert out == b""
    assert b"No such command 'verify\\x1b[2J\\u202e'" in errors


@given(text=st.text(st.sampled_from([*COMMANDING, *'a"\\|`*<_ #-'])))
def test_what_is_shown_keeps_its_meaning(text):
    from sfumato.policy.document import to_text
    from sfumato.showing.content import escape_markdown
    from sfumato.text import visible, visible_json

    def clean(shown, keep=""):
        return not {c for c in shown if c in COMMANDING and c not in keep}

    assert clean(visible(text))
    document = visible_json(json.dumps({"a": text}, ensure_ascii=False, indent=1))
    assert clean(document, keep="\n")
    assert json.loads(document) == {"a": text}
    escaped = escape_markdown(text)
    assert clean(escaped)
    assert "<" not in escaped
    assert "|" not in escaped.replace("\\\\", "").replace("\\|", "")
    settings = to_text({"name": text})
    assert clean(settings, keep="\n")
    assert yaml.load(settings, yaml.BaseLoader) == {"name": text}


def test_every_command_that_works_on_tables_shows_that_it_is_at_work():
    import inspect

    from sfumato.cli import app as commands

    # These write what is known before, or show what others have shown.
    instant = {"schema", "keygen", "account"}
    every = {
        command.name: inspect.getsource(inspect.unwrap(command.run))
        for file in vars(commands).values()
        if inspect.ismodule(file)
        for command in vars(file).values()
        if isinstance(command, Command)
    }
    silent = {name for name, source in every.items() if "progress_bar(" not in source}
    assert len(every) > 20
    # The steps of a demo each have one, the pages of the app each their own.
    assert silent == instant | {"demo", "app"}


def test_what_lies_beside_the_tables_of_a_release_commands_nothing_either(evil):
    for folder in (evil["RELEASE"], evil["APART"]):
        for name in ("manifest.json", "README.md"):
            path = Path(folder) / name
            if path.exists():
                text = path.read_bytes().decode()
                assert {c for c in text if c in COMMANDING} <= {"\n"}, name
    assert (Path(evil["APART"]) / "README.md").exists()
