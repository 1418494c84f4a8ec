"""No file of a decoupled release holds what is not published: no name, no value, no path."""

import pyarrow as pa
import pyarrow.csv
import pytest

import sfumato as sf

pytestmark = pytest.mark.usefixtures("warm")

CANARIES = (b"canary-home", b"canary-file", b"CanaryColumn", b"CanaryName", b"CanaryKept")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("canary-home")
    people = pa.table(
        {
            "CanaryColumn": [f"CanaryName{i}" for i in range(60)],
            "age": [20 + i % 15 for i in range(60)],
            "zip": [f"47{i % 12:02}" for i in range(60)],
            "job": ["nurse", "cook", "clerk"] * 20,
            "ill": ["flu", "gout", "cold", "hiv", "burn"] * 12,
        }
    )
    pyarrow.csv.write_csv(people, home / "canary-file.csv")
    return home


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
@pytest.mark.parametrize(
    "method",
    [
        "break-merge",
        {"method": "anatomy", "l": 2},
        {"method": "bucketization", "partition": "bottom-up"},
        "association-hiding",
        {"method": "slicing", "l": 2, "slices": 2},
        {"method": "slicing", "l": 2, "overlap": 0.01},
    ],
    ids=str,
)
def test_nothing_private_is_in_any_file_of_a_release(home, tmp_path, method, form):
    release = sf.decouple(
        home / "canary-file.csv",
        method,
        quasi_identifiers=["age", "zip", "job"],
        sensitive=["ill"],
        output=tmp_path / "out",
        format=form,
    )
    assert any("CanaryColumn" in warning for warning in release.warnings)
    sf.report(release, public=True).save(tmp_path / "out/report.html")
    found = {
        (file.name, canary)
        for file in (tmp_path / "out").iterdir()
        for canary in CANARIES
        if canary.lower() in file.read_bytes().lower()
    }
    assert found == set()
