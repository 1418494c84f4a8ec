"""Disks that take no more: named as such by every command, with nothing half-written."""

import os
from contextlib import contextmanager

import pytest

from tests.cli.conftest import everything_in
from tests.cli.test_private_outputs import COMMANDS, releases

__all__ = ["releases"]

if os.name == "nt":
    pytest.skip("limits of POSIX", allow_module_level=True)

import resource

WRITING = {
    **COMMANDS,
    "anonymize": "anonymize patients.csv -p policy.yaml -o {}",
    "anonymize to Parquet": "anonymize patients.csv -p policy.yaml -o {} --format parquet",
    "anonymize to Feather": "anonymize patients.csv -p policy.yaml -o {} --format feather",
    "decouple": "decouple release -o {}",
    "protect": "protect patients.csv -p policy.yaml -o {}",
    "merge": "merge apart -o {}.parquet",
    "publish": "ledger add clinic.ledger release/data.csv -o {} --whole --again",
    "schema": "schema -o {}.json",
    "public report": "report apart --public -o apart/report.html",
}


@contextmanager
def largest_file(size):
    """Let no file grow beyond a size; the system then says so as it does of a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("command", WRITING)
def test_a_file_that_cannot_grow_is_named_and_nothing_stays(releases, run, command):
    ledger = (releases / "clinic.ledger").read_bytes()
    before = everything_in(releases)
    with largest_file(10):
        result = run(*WRITING[command].format("x").split())
    assert result.exit_code == 2, result.output
    assert any(
        told in result.stderr
        for told in (
            "larger than is allowed here (File too large)",
            "disk I/O error",
            "disk is full",
        )
    ), result.stderr
    assert "fault" not in result.stderr
    assert everything_in(releases) == before
    assert (releases / "clinic.ledger").read_bytes() == ledger
