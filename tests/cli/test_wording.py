"""Messages of the command line name options, and no arguments of Python."""

import ast
import re
from pathlib import Path

import pytest

import sfumato
from sfumato.cli.wording import with_options

ROOT = Path(sfumato.__file__).parent
ARGUMENT = re.compile(
    r"\b(quasi_identifiers|sensitive|original|data|knows|people_file|force|source|person)"
    r"=(\[|\{\"|\.\.\.|…|True|'|\))"
)


def texts():
    """Yield every text outside the command line that names an argument of Python."""
    for path in sorted(ROOT.rglob("*.py")):
        # A README of a release and the pages of the app show Python to run.
        inside = path.relative_to(ROOT).parts
        if inside[0] in {"cli", "app"} or path.name in {"__init__.py", "readme.py"}:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        parts = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
        docs = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                text = "".join(
                    v.value if isinstance(v, ast.Constant) else "'x'" for v in node.values
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = "" if id(node) in parts | docs else node.value
            else:
                continue
            if ARGUMENT.search(text):
                yield text


@pytest.mark.usefixtures("patience")
def test_every_text_that_names_arguments_names_options_on_the_command_line():
    found = list(texts())
    assert len(found) > 15
    for text in found:
        told = with_options(text)
        assert not ARGUMENT.search(told), told
        assert re.search(r"(?<![\w-])--?[a-z]", told), told


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("breach", "people.csv", "--qi", "age"), "--sensitive must be the columns"),
        (("detect", "people.csv", "--qi", "age", "--alpha", "7"), "--alpha must be below 1"),
        (("verify", "people.csv"), "--qi"),
        (("utility", "people.csv", "people.csv"), "--qi age,zip, --sensitive illness"),
        (("explain", "people.csv", "age=3", "--qi", "age"), "--sensitive illness names them"),
    ],
)
def test_errors_name_options(run, folder, args, told):
    (folder / "people.csv").write_text("age,ill\n30,flu\n31,gout\n", encoding="utf-8")
    result = run(*args)
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert told in said
    assert not ARGUMENT.search(said)
    assert "quasi_identifiers" not in said
