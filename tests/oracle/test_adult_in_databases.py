"""The figures another tool gives for the Adult data, from counts that databases made.

All that comes after the counts is the same code for every engine, so a database counts each file
once, and all figures are found on these counts. Optima that take seconds to prove are left to
HYPOTHESIS_PROFILE=long; the counts they start from are compared with Python's in any case.
"""

import os
from functools import partial

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import sfumato as sf
from sfumato.hierarchy import CsvHierarchy
from sfumato.models import DistinctLDiversity, KAnonymity
from sfumato.tables import open_table
from tests.adult import LEVELS, adult_folder
from tests.oracle.test_adult import FIGURES, check_nodes, check_optimum, checker, table
from tests.tables.databases import LEAVES_SOCKETS_OPEN

FILES = ("adult.csv", "adult_subset.csv")
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"


def rows_of(name: str) -> pa.Table:
    """Read a file of the data; every cell is text."""
    return pa_csv.read_csv(
        adult_folder() / name,
        parse_options=pa_csv.ParseOptions(delimiter=";"),
        convert_options=pa_csv.ConvertOptions(column_types=dict.fromkeys(LEVELS, pa.string())),
    )


def quick(case) -> bool:
    """Tell whether an optimum is proven in a moment."""
    return case["limit"] == 0.0


def check_figures(database):
    """Count each file in a database, and find every figure on these counts."""
    counts = {name: open_table(database.load(rows_of(name))).count(list(LEVELS)) for name in FILES}
    for name, found in counts.items():
        expected = table(name)
        assert found.names == expected.names
        assert [c.values for c in found.columns] == [c.values for c in expected.columns]
        assert found.codes.tolist() == expected.codes.tolist()
        assert found.rows.tolist() == expected.rows.tolist()
    make = partial(checker, table=counts.__getitem__)
    for case in FIGURES["nodes"]:
        check_nodes(case, make(case))
    for case in FIGURES["optima"]:
        if LONG or quick(case):
            check_optimum(case, make(case))


WHOLE = [
    (
        [KAnonymity(5), DistinctLDiversity("occupation", 2)],
        0.05,
        0.17149116900811867,
        (0, 3, 0, 0, 1, 1, 1),
        1481,
    ),
    ([KAnonymity(5)], 0.0, 0.5915849773198221, (0, 4, 0, 2, 3, 2, 2, 1), 0),
]
"""Models, how much may be suppressed; the loss, levels and suppressed rows of the optimum."""


def check_whole(database):
    """Go the whole way in a database, to a verified table with the levels that are best."""
    source = database.stored(rows_of("adult.csv"), "adult")
    # With Spark it takes half a minute.
    optima = WHOLE[:1] if database.name == "spark" else WHOLE
    for models, limit, loss, levels, suppressed in optima:
        sensitive = {name for model in models for name in model.columns}
        quasi = [name for name in LEVELS if name not in {*sensitive, "salary-class"}]
        columns = {
            name: {
                "role": "quasi-identifier",
                "hierarchy": CsvHierarchy(str(adult_folder() / f"adult_hierarchy_{name}.csv")),
            }
            for name in quasi
        }
        dropped = set(LEVELS) - set(quasi) - sensitive
        policy = sf.Policy(
            columns=columns
            | dict.fromkeys(sensitive, "sensitive")
            | dict.fromkeys(dropped, "dropped"),
            models=models,
            suppression=limit,
        )
        release = sf.anonymize(source, policy, output="table:released", force=True)
        assert release.optimal
        assert release.verdict.holds
        assert tuple(release.levels.values()) == levels
        assert release.suppressed == suppressed
        assert release.loss == pytest.approx(loss, rel=1e-9)
    database.clear()


@pytest.mark.parametrize("check", [check_figures, check_whole])
def test_duckdb_gives_the_same_figures(duck, check):
    check(duck)


@LEAVES_SOCKETS_OPEN
@pytest.mark.parametrize("check", [check_figures, check_whole])
def test_spark_gives_the_same_figures(spark, check):
    check(spark)
