"""Local recoding by Spark's own workers: one test, because each statement takes seconds."""

import gc
import operator
import sys
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import OutputError
from sfumato.hierarchy import Intervals, Masking
from sfumato.recode import budget
from sfumato.recode import fragments as solver
from sfumato.tables.sql import counting as coarse
from tests.tables.databases import LEAVES_SOCKETS_OPEN
from tests.tables.test_ibis_edges import nothing_left

ROWS = 3000
QI = {"role": "quasi-identifier"}
COLUMNS = {
    "no.": "identifier",
    "Age": {**QI, "hierarchy": Intervals(widths=[5, 10, 50])},
    "zip `code`": {**QI, "hierarchy": Masking()},
    "ill": "sensitive",
    "seen": "plain",
}


def people() -> pa.Table:
    rng = np.random.default_rng(2)
    lacking = rng.random(ROWS) < 0.01
    days = rng.integers(0, 10**6, ROWS) * 10**9
    return pa.table(
        {
            "no.": np.arange(ROWS),
            "Age": pa.array(rng.integers(18, 90, ROWS), pa.int64(), mask=lacking),
            "zip `code`": [f"{n:04d}" for n in rng.integers(0, 300, ROWS)],
            "ill": rng.choice(["flu", "gout", "hiv"], ROWS),
            "seen": pa.array(days, pa.timestamp("us", "UTC")),
        }
    )


def policy(models, **more) -> sf.Policy:
    return sf.Policy(columns=COLUMNS, models=[sf.models.KAnonymity(3), *models], **more)


@pytest.fixture
def bare(monkeypatch, spark):
    """Let a budget be a number of combinations, and workers have what the tests have."""
    monkeypatch.setattr(budget, "_FIXED", 0)
    monkeypatch.setattr(budget, "_SHUFFLED", 10**9)
    monkeypatch.setattr(budget, "_PER_COMBINATION", 1)
    monkeypatch.setattr(budget, "_PER_CELL", 0)
    monkeypatch.setattr(coarse, "SAMPLE", 300)
    # The values of one column come as a sample where they are many.
    monkeypatch.setattr("sfumato.tables.sql.table.MOST", 300)
    monkeypatch.setattr("sfumato.tables.sql.table._SAMPLED", 300)
    monkeypatch.setattr(spark.session.sparkContext, "pythonExec", sys.executable)
    yield
    spark.clear()
    gc.collect()


def answered(monkeypatch, frame) -> list[int]:
    """Note how many rows each answer has that Spark gives to this process."""
    answers = []
    for name in ("toArrow", "collect", "toPandas", "toLocalIterator"):
        function = getattr(frame, name)

        def noting(*given, function=function, **more):
            answer = function(*given, **more)
            answers.append(len(answer))
            return answer

        monkeypatch.setattr(frame, name, noting)
    return answers


@LEAVES_SOCKETS_OPEN
@pytest.mark.usefixtures("bare")
def test_workers_recode_fragments_and_no_row_comes_here(spark, monkeypatch):
    table = people()
    spark.stored(table, "people")
    source = (spark.session, "people")
    answers = answered(monkeypatch, type(spark.load(table)))
    close = policy(
        [sf.models.TCloseness("ill", 0.3)],
        missing="suppress",
        suppression={"limit": 0.05, "rows": "star"},
    )
    release = sf.anonymize(source, close, method="mondrian", output="table:out", memory=700)
    # All that came were counts: of each column, of coarse combinations, of what is published.
    classes = release.manifest.classes.count
    assert 0 < max(answers) <= max(701, 3 * classes + 1) < ROWS // 2
    assert any("fragments by coarser values" in each for each in release.warnings)
    assert sf.verify("spark:///?table=out").verdict.holds
    result = spark.read("out")
    lacking = table["Age"].null_count
    assert result.column_names == ["Age", "zip `code`", "ill", "seen"]
    assert result.num_rows == ROWS
    assert release.manifest.to_dict()["rows"] == {
        "published": ROWS - lacking, "suppressed": lacking, "suppression": "star",
    }  # fmt: skip
    whole = table.filter(pa.compute.is_valid(table["Age"]))
    known = Counter(zip(whole["ill"].to_pylist(), whole["seen"].to_pylist(), strict=True))
    made = zip(result["ill"].to_pylist(), result["seen"].to_pylist(), strict=True)
    assert Counter(made) == known + Counter({(None, None): lacking})
    assert spark.tables() == {"people", "out", "out_manifest"}
    assert nothing_left(spark)

    # A type is kept where every value is.
    plain = policy([], missing="own-value")
    written = sf.anonymize(
        source, plain, method="top-down", output="table:out", memory=700, force=True
    )
    assert "fragments" in written.manifest.notes[0]
    kept = spark.read("out")
    levels = next(c.levels for c in written.manifest.columns if c.name == "Age")
    assert not any(levels[1:])
    assert kept.schema.field("Age").type == pa.int64()
    assert Counter(kept["Age"].to_pylist()) == Counter(table["Age"].to_pylist())
    undivided = sf.anonymize(table, plain, method="top-down")
    ours, theirs = (r.manifest.known_losses["normalized-loss"] for r in (written, undivided))
    assert 0.9 * theirs <= ours <= 1.5 * theirs

    # A worker that fails fails the run, and nothing is left of it.
    monkeypatch.setattr(solver.Solver, "__reduce__", lambda _: (operator.truediv, (1, 0)))
    with pytest.raises(OutputError, match=r"a worker of Spark failed: ZeroDivisionError: division"):
        sf.anonymize(source, plain, method="top-down", output="table:two", memory=700)
    assert spark.tables() == {"people", "out", "out_manifest"}
    assert nothing_left(spark)


@pytest.mark.usefixtures("pyspark")
def test_a_worker_without_the_library_is_told_of():
    from sfumato.tables.sql.spark_fragments import _why

    trace = "An exception was thrown\nTraceback:\n  File x\nModuleNotFoundError: No module named "
    assert "pip install" in _why(ValueError(trace + "'sfumato'"))
    assert _why(ValueError(trace + "'other'")).startswith("a worker of Spark failed: ModuleNotF")
    assert _why(ValueError("Job aborted.")) == "Spark could not solve the fragments: Job aborted."
