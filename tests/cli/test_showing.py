"""What is shown: names as they are, without tricks on the terminal, with and without colour."""

import json
import os
import subprocess
import sys

import pytest

ODD = "[red]income[/] :smile:"


@pytest.fixture
def odd(folder):
    (folder / "odd.csv").write_text(f"{ODD},ill\n1,flu\n1,gout\n", encoding="utf-8")
    (folder / "policy.yaml").write_text(
        f"columns: {{'{ODD}': quasi-identifier, ill: sensitive}}\n"
        "models: [{model: k-anonymity, k: 2}]\n"
    )
    return folder


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


def test_an_ascii_terminal_shows_what_it_can(folder, program):
    (folder / "alter.csv").write_text("größe,ill\n1,flu\n1,gout\n", encoding="utf-8")
    (folder / "policy.yaml").write_text(
        "columns: {größe: quasi-identifier, ill: sensitive}\n"
        "models: [{model: k-anonymity, k: 2}]\n",
        encoding="utf-8",
    )
    args = ("anonymize", "alter.csv", "-p", "policy.yaml", "-o", "r")
    with program(*args, env={"PYTHONIOENCODING": "ascii"}) as process:
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert rb"gr\xf6\xdfe" in out
    with program("verify", "r", "--json", env={"PYTHONIOENCODING": "ascii"}) as process:
        out, _ = process.communicate(timeout=60)
    assert json.loads(out)["checks"][4]["found"] == ["größe", "ill"]


ON_A_TERMINAL = """
import os, pty, sys
command = [sys.executable, "-c", "from sfumato.cli import main; main()", *sys.argv[1:]]
sys.exit(os.waitstatus_to_exitcode(pty.spawn(command)))
"""


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
