"""Help, version and start: fast, complete and in plain text."""

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from typer.main import get_command

import sfumato
import sfumato.cli
from docs.generator.cli import all_commands
from sfumato.cli.app import app
from sfumato.cli.app import run as run_commands

COMMANDS = sorted(all_commands(get_command(app)))
HEAVY = {
    "numpy",
    "pyarrow",
    "yaml",
    "rich",
    "jinja2",
    "pandas",
    "polars",
    "scipy",
    "sklearn",
    "pyagrum",
    "cryptography",
    "ibis",
    "duckdb",
    "psycopg",
    "pyspark",
}
"""Everything the package uses but what the command line is made of."""

LIGHT = {"cli", "dataclasses", "errors", "files", "text", "typing", "_version"}
"""What of the package may be loaded to give help: the commands, and what needs nothing else."""

ASKS_FOR_HELP = """
import sys
from collections import Counter
from pathlib import Path
sys.argv = ["sfumato", *sys.argv[1:]]
from sfumato.cli import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def loaded_by(*args) -> tuple[set[str], set[str]]:
    """Give the libraries that are loaded, and the parts of the package."""
    command = [sys.executable, "-c", ASKS_FOR_HELP, *args]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    names = done.stderr.split()
    own = {name for name in names if name.split(".")[0] == "sfumato"}
    return {name.split(".")[0] for name in names}, own


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_asking_for_help_loads_nothing_heavy_and_hardly_anything_of_the_package(option):
    loaded, own = loaded_by(option)
    assert not loaded & {*HEAVY, "pydantic"}
    assert {name.split(".")[1] for name in own if "." in name} <= LIGHT


@pytest.mark.usefixtures("patience")
def test_the_help_of_a_command_loads_nothing_heavy(run):
    assert not loaded_by("verify", "--help")[0] & HEAVY


def test_the_help_lists_every_command_and_the_exit_codes(run):
    result = run("--help")
    assert result.exit_code == 0
    assert all(f"  {name.split()[0]}  " in result.stdout for name in COMMANDS)
    assert "0 the promises hold, 1 they do not, 2 the request was wrong" in result.stdout


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_and_its_python(run, name):
    text = run(*name.split(), "--help").stdout
    assert f"  Examples:\n    sfumato {name}" in text
    assert "  In Python:\n    import sfumato as sf\n" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_the_python_in_the_help_can_be_compiled_and_names_what_exists(run, name):
    text = run(*name.split(), "-h").stdout
    code = "\n".join(line.strip() for line in text.split("In Python:\n")[1].splitlines())
    compile(code, name, "exec")
    named = set(re.findall(r"sf\.(\w+)", code))
    assert named
    assert named <= set(sfumato.__all__)


@pytest.mark.parametrize(
    ("typed", "now"),
    [
        ("publish new.csv --ledger x.ledger", "sfumato ledger start, add, stream"),
        ("headroom x.ledger", "sfumato ledger headroom"),
        ("ledger log x.ledger", "sfumato ledger show --log"),
        ("explain release age=3 --svg x.svg", "--draw"),
        ("breach release --knows ill=flu", "--known"),
        ("estimate release --where a=1 --original=x.csv", "--data"),
        ("ledger add x.ledger new.csv --delete old.csv", "sfumato ledger remove, or --remove"),
        ("ledger start x.ledger release --source old.csv", "--data"),
    ],
)
def test_what_was_called_otherwise_is_refused_with_its_new_name(monkeypatch, capsys, typed, now):
    monkeypatch.setattr("sys.argv", ["sfumato", *typed.split()])
    assert run_commands() == 2
    assert f"is called {now}" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_quiet(name):
    options = all_commands(get_command(app))[name].params
    assert [option.opts for option in options if option.name == "quiet"] == [["--quiet", "-q"]]


def test_without_arguments_the_help_is_shown(run):
    assert "Usage: sfumato" in run().output


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("typed", "completed"),
    [("sfumato veri", ["verify"]), ("sfumato verify --sens", ["--sensitive"])],
)
def test_a_shell_completes_commands_and_options(typed, completed):
    asked = {"_SFUMATO_COMPLETE": "complete_bash", "COMP_WORDS": typed}
    done = subprocess.run(
        [sys.executable, "-c", "from sfumato.cli import main; main()"],
        env={**os.environ, **asked, "COMP_CWORD": str(typed.count(" "))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == completed


def test_the_version_is_the_packages(run):
    assert run("--version").stdout == f"sfumato {sfumato.__version__}\n"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["anonimize"], "No such command 'anonimize'"),
        (["anonymize"], "Missing argument"),
        (["anonymize", "x.csv", "-o", "r"], "Missing option '--policy'"),
        (["anonymize", "x.csv", "-p", "p.yaml"], "Missing option '--output'"),
        (["verify", "x.csv", "--k", "5"], "No such option"),
        (["demo", "--rows", "many"], "--rows"),
    ],
)
def test_a_wrong_command_line_is_answered_with_exit_code_2(run, args, words):
    result = run(*args)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_the_text_of_an_option_is_written_once():
    """Commands that have the same option have it from one place."""
    texts = Counter(
        keyword.value.value
        for path in Path(sfumato.cli.__file__).parent.glob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "help" and isinstance(keyword.value, ast.Constant)
    )
    assert not [text for text, times in texts.items() if times > 1]
