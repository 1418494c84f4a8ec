"""What is said on the command line is put in place of what the policy says."""

import inspect
import json

import pytest

from sfumato.cli.app import app
from sfumato.cli.options import SetOption

POLICY = """\
columns:
  age: {role: quasi-identifier, hierarchy: {kind: intervals, widths: [10, 20]}}
  sex: quasi-identifier
  ill: sensitive
models:
  - {model: k-anonymity, k: 2}
search: {search: best-first, checks: 500}
decouple: {method: anatomy, l: 2}
suppression: 10%
"""
ROWS = [(20 + n % 40, "fm"[n % 2], ["flu", "gout", "hiv"][n % 3]) for n in range(120)]


@pytest.fixture
def people(folder):
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    lines = "\n".join(f"{age},{sex},{ill}" for age, sex, ill in ROWS)
    (folder / "people.csv").write_text(f"age,sex,ill\n{lines}\n", encoding="utf-8")
    return folder


SAID = [
    (("--method", "bottom-up"), "method bottom-up in place of full-domain, no search in place of"),
    (("--method", "mondrian"), "method mondrian in place of full-domain"),
    (("--method", "regional"), "method regional in place of full-domain, as"),
    (("--set", "k=7"), "k-anonymity(k=7) in place of k-anonymity(k=2), as policy.yaml has it."),
    (("--set", "suppression=0"), "suppression limit=0"),
    (("--set", "loss=discernibility"), "loss discernibility in place of normalized-loss"),
    (("--set", "search=best-first"), "search best-first in place of best-first with checks=500"),
    (("--set", "missing=suppress"), "missing suppress in place of own-value"),
    (("--set", "k=7", "--method", "top-down"), "method top-down in place of full-domain"),
]


@pytest.mark.parametrize(("said", "note"), SAID)
def test_every_option_overrides_the_policy_and_a_note_says_so(run, people, said, note):
    result = run("anonymize", "people.csv", "-p", "policy.yaml", "-o", "release", *said)
    assert result.exit_code == 0, result.stderr
    assert f"Note: {note}" in result.stderr or note in result.stderr
    manifest = json.loads((people / "release" / "manifest.json").read_text(encoding="utf-8"))
    [promise] = manifest["models"]
    assert promise["k"] == (7 if "k=7" in said else 2)


def test_what_is_the_same_needs_no_note(run, people):
    result = run("anonymize", "people.csv", "-p", "policy.yaml", "-o", "release", "--set", "k=2",
                 "--method", "full-domain")  # fmt: skip
    assert result.exit_code == 0
    assert "in place of" not in result.stderr


@pytest.mark.usefixtures("patience")
def test_settings_of_a_decoupling_override_the_policys(run, people):
    given = ("decouple", "people.csv", "-p", "policy.yaml", "-o", "buckets")
    result = run(*given, "--option", "l=3")
    assert result.exit_code == 0, result.stderr
    assert "anatomy" in result.stdout
    assert run(*given, "--force", "--method", "break-merge").exit_code == 0


def test_columns_that_are_named_override_the_policys(run, people):
    result = run("inspect", "people.csv", "-p", "policy.yaml", "--qi", "age")
    assert result.exit_code == 0, result.stderr
    assert "the quasi-identifiers are those of --qi, in place of the policy's" in result.stderr
    assert "Quasi-identifiers: age\n" in result.stdout


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (("--set", "kk=7"), "no setting 'kk' in the policy. Did you mean 'k'"),
        (("--set", "k"), "NAME=VALUE"),
        (("--set", "k=many"), "k"),
        (("--set", "loss=none-such"), "none-such"),
    ],
)
def test_mistakes_are_told(run, people, said, told):
    result = run("anonymize", "people.csv", "-p", "policy.yaml", "-o", "release", *said)
    assert result.exit_code == 2
    assert told in result.stderr


def test_every_command_that_makes_a_release_of_a_policy_takes_settings():
    for command in app.registered_commands:
        parameters = inspect.signature(command.callback).parameters
        if {"policy", "method", "output"} <= parameters.keys() and "option" not in parameters:
            assert SetOption in [each.annotation for each in parameters.values()], command.name
