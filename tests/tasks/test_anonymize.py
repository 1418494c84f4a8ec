"""What anonymising writes, in every format."""

import pyarrow as pa
import pytest

import sfumato as sf


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_figures_are_those_that_readers_of_the_file_find(tmp_path, form):
    """An empty text is a missing one, also where a file could tell them apart."""
    table = pa.table({"q": ["x", "", None, "y"] * 5, "ill": ["a", "b", "c", "d"] * 5})
    policy = sf.Policy(
        columns={"q": "quasi-identifier", "ill": "sensitive"}, models=[sf.models.KAnonymity(2)]
    )
    release = sf.anonymize(table, policy, output=tmp_path / "r", format=form)
    assert release.manifest.classes.count == 3
    assert sf.verify(tmp_path / "r", attacks=False).holds
