"""Files that are not for publication: for their owner's eyes only, and in no release."""

import os

import pytest

from tests.cli.conftest import everything_in

COMMANDS = {
    "init": "init patients.csv -o {}.yaml",
    "compare --html": "compare patients.csv policy.yaml --html {}.html --jobs 1",
    "compare --csv": "compare patients.csv policy.yaml --csv {}.csv --jobs 1",
    "compare --choose": "compare patients.csv policy.yaml --choose 1 -o {}.yaml --jobs 1",
    "detect --draw": "detect patients.csv --qi age --sensitive ill --draw {}",
    "detect --export": "detect patients.csv --qi age --sensitive ill --export {}.dot",
    "explain": "explain release age=21 zip=4711 -p policy.yaml --draw {}.svg",
    "correlations": "correlations patients.csv --qi age,zip --sensitive ill --draw {}.svg",
    "lattice": "lattice patients.csv -p policy.yaml --draw {}",
    "hierarchies": "hierarchies patients.csv -p policy.yaml --draw {}",
    "trace": "trace patients.csv -p policy.yaml --draw {}.svg",
    "report": "report release -o {}.html",
    "report --data": "report release --data patients.csv -p policy.yaml -o {}.html",
    "headroom": "ledger headroom clinic.ledger --draw {}.svg",
    "ledger": "ledger start {}.ledger apart --alpha 0.9 -k 2",
    "keygen": "keygen -o {}",
}
"""Every command that writes something private, with the place for its name."""

PLACES = {
    "in it": "release/x",
    "deep in it": "release/deep/x",
    "in a decoupled one": "apart/x",
    "through a link": "link/x",
}


@pytest.fixture
def releases(patients, run):
    assert run("anonymize", "patients.csv", "-p", "policy.yaml", "-o", "release").exit_code == 0
    assert run("decouple", "release", "-o", "apart").exit_code == 0
    started = ("ledger", "start", "clinic.ledger", "apart", "--alpha", "0.9", "-k", "2")
    assert run(*started).exit_code == 0
    (patients / "release" / "deep").mkdir()
    (patients / "link").symlink_to("release")
    return patients


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_private_is_refused_in_a_release_before_any_work(releases, run, command):
    before = everything_in(releases)
    for where in PLACES.values():
        result = run(*COMMANDS[command].format(where).split())
        assert result.exit_code == 2, (where, result.output)
        assert "release" in result.stderr
        assert everything_in(releases) == before


def test_the_demo_keeps_nothing_private_in_a_release(releases, run):
    before = everything_in(releases)
    result = run("demo", "--keep", "--rows", "100", "-o", "release/deep/demo")
    assert result.exit_code == 2
    assert "would lie in the release" in " ".join(result.stderr.split())
    assert everything_in(releases) == before


@pytest.mark.usefixtures("patience")
@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_private_is_read_by_its_owner_only(releases, run, command):
    before = everything_in(releases)
    old = os.umask(0o022)
    try:
        result = run(*COMMANDS[command].format("x").split())
    finally:
        os.umask(old)
    assert result.exit_code in {0, 1}, result.output
    made = [releases / name for name in everything_in(releases) - before]
    files = [path for path in made if path.is_file() and path.suffix != ".pub"]
    assert files
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


@pytest.mark.parametrize(
    "command",
    ["schema -o release/x.json", "merge apart -o release/x.csv", "merge apart -o apart/x.csv"],
)
def test_what_may_be_public_does_not_join_a_release_either(releases, run, command):
    before = everything_in(releases)
    result = run(*command.split())
    assert result.exit_code == 2
    assert "whose evidence names every file" in result.stderr
    assert everything_in(releases) == before


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_a_report_for_all_readers_is_as_open_as_other_files(releases, run):
    old = os.umask(0o022)
    try:
        assert run("report", "release", "--public", "-o", "all.html").exit_code in {0, 1}
    finally:
        os.umask(old)
    assert (releases / "all.html").stat().st_mode & 0o777 == 0o644
