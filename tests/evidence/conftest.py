"""Signed releases to tamper with."""

import sys

import pyarrow as pa
import pytest

import sfumato as sf

TABLE = pa.table(
    {
        "age": [31, 34, 35, 38, 42, 45, 47, 49],
        "ill": ["flu", "gout", "flu", "hiv", "flu", "gout", "hiv", "gout"],
        "pay": ["low", "high", "mid", "low", "mid", "high", "low", "mid"],
    }
)
POLICY = sf.Policy(
    columns={
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}},
        "ill": "sensitive",
        "pay": "sensitive",
    },
    models=[
        sf.models.KAnonymity(2),
        sf.models.DistinctLDiversity("ill", l=2),
        sf.models.TCloseness("pay", t=0.5),
    ],
)


@pytest.fixture(scope="session")
def key():
    return sf.evidence.SigningKey.generate()


@pytest.fixture
def anonymized(tmp_path, key):
    """The folder of a signed release in one table."""
    folder = tmp_path / "anonymized"
    sf.anonymize(TABLE, POLICY, output=folder, format="csv", key=key, even_so=True)
    return folder


@pytest.fixture
def decoupled(tmp_path, key):
    """The folder of a signed release in several tables."""
    folder = tmp_path / "decoupled"
    release = sf.anonymize(TABLE, POLICY)
    sf.decouple(release, "break-merge", output=folder, format="csv", key=key, even_so=True)
    return folder


@pytest.fixture
def no_library(monkeypatch):
    """A machine without the extra `sign`."""
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
