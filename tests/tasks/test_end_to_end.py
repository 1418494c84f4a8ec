"""Whatever the policy asks, the release that comes out is verified, or none comes out."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InfeasibleError
from sfumato.models import DeltaPresence, KAnonymity, KMap
from sfumato.policy import Suppression
from sfumato.tables import open_table
from tests.search.problems import COLUMNS, ROW, Problem, problems


def table_of(rows, names=COLUMNS) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table({n: pa.array(c, pa.string()) for n, c in zip(names, columns, strict=True)})


def published_rows(release) -> int:
    return release.manifest.rows.published


@pytest.mark.usefixtures("patience")
@given(problem=problems(), rows=st.sampled_from(["remove", "star"]))
def test_every_release_in_memory_is_verified(problem: Problem, rows):
    limit = problem.policy.suppression.limit
    policy = problem.policy.replace(suppression=Suppression(limit=limit, rows=rows))
    table = table_of(problem.rows)
    try:
        release = sf.anonymize(table, policy)
    except InfeasibleError:
        return
    assert release.verdict.holds
    assert release.suppressed <= limit
    in_table = len(problem.rows) if rows == "star" else published_rows(release)
    assert release.table.num_rows == in_table
    assert published_rows(release) + release.suppressed == len(problem.rows)


@pytest.mark.usefixtures("patience")
@given(
    problem=problems(missing=["own-value"]),
    more=st.lists(ROW, max_size=20),
    models=st.sampled_from(
        [
            [KMap(3)],
            [KAnonymity(2), KMap(4)],
            [DeltaPresence(0.0, 0.6)],
            [DeltaPresence(0.2, 0.9)],
            [KAnonymity(2), DeltaPresence(0.2, 0.9)],
        ]
    ),
)
def test_a_release_compared_with_its_population_is_verified(
    problem: Problem, more, models, tmp_path_factory
):
    people = tmp_path_factory.mktemp("people") / "people.csv"
    # A CSV file has no missing texts, only empty cells; the population holds the table's people.
    open_table(table_of(problem.rows + more)).publish(
        no_recoding(), COLUMNS[:3], people, format="csv", suppression="remove", rng=some_rng()
    )
    policy = problem.policy.replace(models=tuple(models), population=str(people))
    try:
        release = sf.anonymize(table_of(problem.rows), policy)
    except InfeasibleError:
        return
    assert release.verdict.holds


def no_recoding():
    from sfumato.recoding import FullDomainRecoding

    return FullDomainRecoding.at([], ())


def some_rng():
    import numpy as np

    return np.random.default_rng(0)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("format_", ["csv", "parquet", "feather"])
@given(problem=problems(), rows=st.sampled_from(["remove", "star"]))
def test_every_release_on_disk_is_verified(problem: Problem, rows, format_, tmp_path_factory):
    folder = tmp_path_factory.mktemp("releases")
    limit = problem.policy.suppression.limit
    policy = problem.policy.replace(suppression=Suppression(limit=limit, rows=rows))
    try:
        release = sf.anonymize(
            table_of(problem.rows), policy, output=folder / "release", format=format_
        )
    except InfeasibleError:
        assert list(folder.iterdir()) == []
        return
    assert [path.name for path in folder.iterdir()] == ["release"]
    assert sf.verify(release.folder, policy).verdict.holds


def test_the_order_of_values_survives_the_suppression_of_the_only_word_among_numbers():
    # Were "9" after "10" because of one word, it would change places when the word is gone.
    rows = [("a", str(n)) for n in (9, 10, 9, 10, 30, 200)] * 2 + [("b", "unknown")]
    policy = sf.Policy(
        columns={"ward": "quasi-identifier", "pay": "sensitive"},
        models=[KAnonymity(2), sf.models.TCloseness("pay", t=0.3, distance="ordered")],
        suppression=1,
    )
    release = sf.anonymize(table_of(rows, ["ward", "pay"]), policy)
    assert release.suppressed == 1
    assert release.verdict.holds
