"""Local recoding where people have several rows: every class against loops over rows."""

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InfeasibleError
from sfumato.partition import BottomUp, Mondrian, TopDown
from sfumato.recode.deciding import Decision, counted_columns, decide
from sfumato.tables import open_table
from tests.people.test_counting import MODELS, NAMES, ROWS, checks_of
from tests.people.textbook import people_in

METHODS = [
    TopDown(),
    TopDown(best="loss"),
    Mondrian(),
    Mondrian(relaxed=True),
    BottomUp(),
    BottomUp(nodes=3),
    "regional",
]
TREE = {"kind": "taxonomy", "tree": {"ab": ["a", "b"], "c": ["c"]}}
ROW = "row"


def policy_of(models, *, limit=0, unit="rows", blind=False) -> sf.Policy:
    return sf.Policy(
        columns={
            "who": "identifier",
            "letter": {"role": "quasi-identifier", "hierarchy": TREE},
            "digit": "quasi-identifier",
            "ill": "sensitive",
            ROW: "plain",
        },
        models=models,
        person="who",
        suppression={"limit": limit, "unit": unit},
        sensitive_blind=blind,
    )


def table_of(rows) -> pa.Table:
    columns = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    return pa.table({**columns, ROW: range(len(rows))})


def publish(rows, policy, method) -> tuple[list[dict], Decision]:
    """Decide, and give what the engine makes of the rows."""
    chosen = policy.replace(method=method)
    table = open_table(table_of(rows))
    rng = np.random.default_rng(len(rows))
    counts = table.count(counted_columns(chosen))
    decision = decide(chosen, chosen, counts, None, rng=rng, report=lambda *_: None)
    published = table.publish_table(
        decision.recoding, [*NAMES[1:], ROW], suppression="remove", rng=rng
    )
    return published.to_pylist(), decision


@pytest.mark.parametrize("method", METHODS, ids=str)
@given(
    rows=ROWS,
    models=st.sampled_from(MODELS),
    limit=st.sampled_from([0, 0, 2, 5, "100%"]),
    unit=st.sampled_from(["rows", "people"]),
    blind=st.sampled_from([False, False, True]),
)
def test_every_class_keeps_the_models_on_different_people(method, rows, models, limit, unit, blind):
    policy = policy_of(models, limit=limit, unit=unit, blind=blind)
    try:
        published, decision = publish(rows, policy, method)
    except InfeasibleError:
        return
    classes, left = defaultdict(list), dict(enumerate(rows))
    for row in published:
        was = left.pop(row[ROW])
        assert row["ill"] == was[3]
        classes[row["letter"], row["digit"]].append(was)
    every = list(classes.values())
    for labels, mine in classes.items():
        assert all(check(mine, every) for _, check in checks_of(models)), (labels, mine)
    assert sorted(decision.left.sizes.tolist()) == sorted(map(people_in, every))
    assert sorted(decision.sizes.tolist()) == sorted(map(len, every))
    assert len(left) == decision.suppressed
    gone = {row[0] for row in left.values()}
    if unit == "people":
        assert gone.isdisjoint(row[0] for each in every for row in each)
    most = policy.suppression.most_rows(people_in(rows) if unit == "people" else len(rows))
    assert (len(gone) if unit == "people" else len(left)) <= most
