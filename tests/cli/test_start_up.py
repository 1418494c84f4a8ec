"""What a command imports: its own parts, and no library or family that it does not use."""

import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import sfumato
from sfumato.registry import Registry

SCRIPT = """
import sys
from sfumato.cli.app import run
code = run()
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""
NEVER = {"pydantic", "pandas", "polars", "scipy", "loky", "openpyxl", "ibis"}
"""Libraries that none of these commands needs."""

POLICY = """
columns:
  age: quasi-identifier
  ill: sensitive
models:
  - {model: k-anonymity, k: 2}
"""

SPARED = {
    "anonymize": {
        "sfumato.attacks", "sfumato.leaks", "sfumato.networks", "sfumato.drafting.policy",
        "sfumato.partition.mondrian", "sfumato.models.t_closeness", "sfumato.usefulness",
        "sfumato.ledger", "sfumato.tasks.verify", "sfumato.populations.estimators",
        "sfumato.decouplings.slicing",
    },
    "decouple": {"sfumato.attacks", "sfumato.networks", "sfumato.usefulness", "sfumato.ledger"},
    "detect": {"sfumato.usefulness", "sfumato.ledger"},
    "verify": {"sfumato.drafting.policy", "sfumato.ledger", "sfumato.reports.report", "jinja2"},
}  # fmt: skip
"""By command, rooms and modules that it does not use."""


def imported_by(folder, *words):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.usefixtures("patience")
def test_a_command_imports_what_it_uses_and_little_else(tmp_path):
    rows = [f"{age},{ill}" for age in (31, 31, 42, 42) for ill in ("flu", "gout")]
    (tmp_path / "people.csv").write_text("\n".join(["age,ill", *rows]) + "\n")
    (tmp_path / "policy.yaml").write_text(POLICY)
    commands = {
        "anonymize": ("people.csv", "-p", "policy.yaml", "-o", "release"),
        "decouple": ("release", "-o", "apart"),
        "detect": ("release",),
        "verify": ("release",),
    }
    for name, words in commands.items():
        found = imported_by(tmp_path, name, *words)
        assert not NEVER & found, name
        assert not SPARED[name] & found, name


def test_a_package_imports_what_is_asked_of_it():
    script = (
        "import sys, sfumato as sf\n"
        "assert 'numpy' not in sys.modules\n"
        "assert sf.models.KAnonymity.name == 'k-anonymity'\n"
        "assert sf.models.MODELS['k-map'] is sf.models.KMap\n"
        "assert 'sfumato.models.t_closeness' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("patience")
def test_what_is_imported_on_first_use_is_there_and_has_its_name():
    packages = [
        import_module(each.name)
        for each in pkgutil.walk_packages(sfumato.__path__, "sfumato.")
        if each.ispkg and each.name.partition(".app")[1] == ""
    ]
    lazy = [each for each in packages if hasattr(each, "_HOMES")]
    assert len(lazy) > 10
    for package in lazy:
        for name in package.__all__:
            assert getattr(package, name) is not None
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = package.nothing
        for family in vars(package).values():
            if isinstance(family, Registry):
                assert [kind.name for kind in family.values()] == [*family]
