"""Nothing of a table reaches a release but through the counts that noise is added to."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import sfumato as sf
from sfumato.tasks import private_source
from sfumato.tasks import synthesize as task
from tests.synthesis.stubs import POLICY, fit_nothing, people


@pytest.fixture
def noise_alike(without_noise, monkeypatch):
    """Let all draws be the same, and noise hide how many rows there are."""

    def fit(counts, budget, **settings):
        model = fit_nothing(counts, budget, **settings)
        model.model.total = 60
        return model

    monkeypatch.setattr(task, "fit", fit)
    for module in (task, private_source):
        monkeypatch.setattr(module, "secret_generator", lambda: np.random.default_rng(1))


def as_csv(table, path):
    csv.write_csv(table, path)


def as_parquet(table, path):
    pq.write_table(table, path)


def neighbours():
    """Return tables of which no one may tell by a release whose was which."""
    table = people(200)
    missing = {"id": [777], "sex": [None], "age": [None], "ill": [" FLU "]}
    more = pa.table(missing, table.schema)
    return {
        "as it is": table,
        "in another order": table.take(np.random.default_rng(2).permutation(200)),
        "without a person": table.slice(1),
        "with a person who has no values": pa.concat_tables([table, more]),
    }


@pytest.mark.usefixtures("patience", "noise_alike")
@pytest.mark.parametrize("write", [as_csv, as_parquet])
def test_releases_of_neighbouring_tables_are_the_same_files(tmp_path, write):
    found = {}
    for name, table in neighbours().items():
        (tmp_path / name).mkdir()
        source = tmp_path / name / f"people.{write.__name__[3:]}"
        write(table, source)
        made = sf.synthesize(source, POLICY, epsilon=0.3, output=tmp_path / name / "made")
        found[name] = {file.name: file.read_bytes() for file in made.folder.iterdir()}
    first = found.pop("as it is")
    assert "evidence.json" in first
    for name, files in found.items():
        assert files == first, name


@pytest.mark.usefixtures("noise_alike")
def test_no_type_tells_that_a_value_is_missing_or_spelt_by_hand():
    """A data frame has decimals where a number is missing, and objects where a text is."""
    policy = {
        "columns": {
            "code": {"role": "quasi-identifier", "domain": [1, 2, 3]},
            "truth": {"role": "sensitive", "domain": ["true", "false"]},
            "born": {"role": "sensitive", "domain": {"from": "2000-01-01", "to": "2009-12-31"}},
        },
        "models": [{"model": "k-anonymity", "k": 2}],
    }
    code, truth, born = [1, 2, 3] * 9, [True, False, True] * 9, ["2001-02-03"] * 27
    days = pd.to_datetime(pd.Series(born))
    frames = [
        pd.DataFrame({"code": code, "truth": truth, "born": days}),
        pd.DataFrame({"code": [*code, None], "truth": [*truth, None], "born": [*days, None]}),
        pd.DataFrame({"code": list(map(str, code)), "truth": truth, "born": born}),
    ]
    types = [
        [str(field.type) for field in pa.Table.from_pandas(made, preserve_index=False).schema]
        for made in (sf.synthesize(each, policy, epsilon=0.2).table for each in frames)
    ]
    assert types[0] == types[1] == types[2]


def test_who_is_left_out_is_drawn_by_a_generator_of_its_own(without_noise, monkeypatch):
    """Were it the one that draws the rows, these could give away who is left out."""
    made = []

    def note(*_):
        made.append(np.random.default_rng(3))
        return made[-1]

    for module in (task, private_source):
        monkeypatch.setattr(module, "secret_generator", note)
    table = pa.concat_tables([people(40)] * 3)
    sf.synthesize(table, POLICY, epsilon=0.3)
    assert len(made) == 2
    assert made[0] is not made[1]
