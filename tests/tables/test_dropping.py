"""Rows with a value that is dropped are suppressed, whatever the column becomes."""

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import InputError
from sfumato.hierarchy import Suppress
from sfumato.recoding import FullDomainRecoding
from sfumato.tables import open_table

TABLE = pa.table({"age": [30, None, 41], "ill": ["flu", "gout", "hiv"]})


def recoding(level: int) -> FullDomainRecoding:
    ladder = Suppress().build("age", [30, 41]).bind("age", [30, 41])
    return FullDomainRecoding.at([ladder], (level,)).dropping_missing()


@pytest.mark.parametrize("level", [0, 1])
def test_a_row_that_misses_the_value_is_removed(level):
    published = open_table(TABLE).publish_table(
        recoding(level), ["age", "ill"], suppression="remove", rng=np.random.default_rng(0)
    )
    ages = {0: [30, 41], 1: ["*", "*"]}[level]
    assert sorted(published.to_pylist(), key=str) == [
        {"age": age, "ill": ill} for age, ill in zip(ages, ["flu", "hiv"], strict=True)
    ]


@pytest.mark.parametrize("level", [0, 1])
def test_a_row_that_misses_the_value_is_starred(level):
    published = open_table(TABLE).publish_table(
        recoding(level), ["age", "ill"], suppression="star", rng=np.random.default_rng(0)
    )
    ages = {0: ["30", "41"], 1: ["*", "*"]}[level]
    assert sorted(map(str, published.to_pylist())) == sorted(
        map(
            str,
            [
                {"age": "*", "ill": None},
                {"age": ages[0], "ill": "flu"},
                {"age": ages[1], "ill": "hiv"},
            ],
        )
    )


def test_a_dropped_row_does_not_hide_a_stranger():
    grown = pa.table({"age": [30, None, 77], "ill": ["flu", "gout", "hiv"]})
    with pytest.raises(InputError, match=r"column 'age' holds 77, which the recoding does not"):
        open_table(grown).publish_table(
            recoding(0), ["age", "ill"], suppression="remove", rng=np.random.default_rng(0)
        )
