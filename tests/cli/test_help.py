"""Help, version and start: fast, complete and in plain text."""

import re
import subprocess
import sys

import pytest

import sfumato

COMMANDS = (
    "init",
    "inspect",
    "anonymize",
    "detect",
    "protect",
    "correlations",
    "decouple",
    "merge",
    "breach",
    "estimate",
    "utility",
    "membership",
    "explain",
    "publish",
    "headroom",
    "ledger",
    "verify",
    "keygen",
    "sign",
    "check-evidence",
    "report",
    "demo",
    "schema",
)
HEAVY = ("numpy", "pyarrow", "yaml", "rich", "pandas", "polars")

ASKS_FOR_HELP = """
import resource, sys
sys.argv = ["sfumato", *sys.argv[1:]]
from sfumato.cli import main
try:
    main()
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    loaded = sorted({name.split(".")[0] for name in sys.modules})
    print(used.ru_utime + used.ru_stime, *loaded, file=sys.stderr)
"""


def loaded_by(*args) -> tuple[float, set[str]]:
    pytest.importorskip("resource")
    command = [sys.executable, "-c", ASKS_FOR_HELP, *args]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, *names = done.stderr.split()
    return float(seconds), set(names)


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_asking_for_help_loads_nothing_heavy_and_takes_no_time(option):
    seconds, loaded = loaded_by(option)
    assert not loaded & {*HEAVY, "pydantic"}
    assert seconds < 0.3


def test_the_help_of_a_command_loads_nothing_heavy(run):
    assert not loaded_by("verify", "--help")[1] & set(HEAVY)


def test_the_help_lists_every_command_and_the_exit_codes(run):
    result = run("--help")
    assert result.exit_code == 0
    assert all(f"  {name}  " in result.stdout for name in COMMANDS)
    assert "0 the promises hold, 1 they do not, 2 the request was wrong" in result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_and_its_python(run, name):
    text = run(name, "--help").stdout
    assert f"  Examples:\n    sfumato {name}" in text
    assert "  In Python:\n    import sfumato as sf\n" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_the_python_in_the_help_can_be_compiled_and_names_what_exists(run, name):
    text = run(name, "-h").stdout
    code = "\n".join(line.strip() for line in text.split("In Python:\n")[1].splitlines())
    compile(code, name, "exec")
    named = set(re.findall(r"sf\.(\w+)", code))
    assert named
    assert named <= set(sfumato.__all__)


def test_without_arguments_the_help_is_shown(run):
    assert "Usage: sfumato" in run().output


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
