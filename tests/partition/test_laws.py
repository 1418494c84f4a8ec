"""What must hold of every release, whatever the table: laws, and a comparison with full-domain."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import Similarity
from sfumato.counts import FrequencySet
from sfumato.errors import InfeasibleError
from sfumato.losses import DistortionRatio
from sfumato.models import EnhancedPAlphaSensitiveKAnonymity, KAnonymity
from sfumato.partition import TopDown, label_partition
from sfumato.policy import Policy
from sfumato.recode.deciding import checker_of, counted_columns, make_problem, prepare
from sfumato.search import Exhaustive
from tests.partition.tables import KINDS, METHODS, Case, cases, text

every_method = pytest.mark.parametrize("method", METHODS, ids=str)
CATEGORIES = (("cancer", "hiv"), ("gout",), ("flu",))


def published(case: Case, table, method) -> Counter | None:
    """Count the published rows by all that was decided on."""
    try:
        release = sf.anonymize(table, case.policy, method=method, seed=1)
    except InfeasibleError:
        return None
    looked_at = counted_columns(case.policy)
    return Counter(tuple(text(row[c]) for c in looked_at) for row in release.table.to_pylist())


@pytest.mark.usefixtures("patience")
@every_method
@given(case=cases(), data=st.data())
def test_neither_the_order_of_rows_nor_that_of_columns_changes_what_is_published(
    method, case: Case, data
):
    table = case.table()
    shuffled = table.take(data.draw(st.permutations(range(len(table)))))
    shuffled = shuffled.select(data.draw(st.permutations(table.column_names)))
    assert published(case, table, method) == published(case, shuffled, method)


@st.composite
def enhanced(draw):
    return [
        EnhancedPAlphaSensitiveKAnonymity(
            "disease",
            p=draw(st.integers(2, 3)),
            alpha=draw(st.sampled_from([0, 1, 2])),
            k=draw(st.integers(2, 4)),
            categories=CATEGORIES,
        )
    ]


@pytest.mark.usefixtures("patience")
@every_method
@given(case=cases(models=enhanced(), missing=["own-value", "suppress"]))
def test_no_class_of_the_enhanced_model_is_of_one_category(method, case: Case):
    try:
        release = sf.anonymize(case.table(), case.policy, method=method)
    except InfeasibleError:
        return
    if release.table.num_rows:
        attack = Similarity("disease", categories=CATEGORIES)
        (finding,) = sf.tools.attack(release.table, list(case.names), [attack])
        assert not finding.vulnerable.any()


def compare(seed: int, tables: int) -> dict[str, list[float]]:
    """Give by how much top-down is worse than the best node of a lattice, table by table.

    Below 0 it is better. Tables have 8 to 80 rows over three quasi-identifiers, k is 2 to 5,
    and nothing is suppressed.
    """
    rng = np.random.default_rng(seed)
    worse: dict[str, list[float]] = {"rows": [], "loss": []}
    names = ("letter", "digit", "zip")
    for _ in range(tables):
        n = int(rng.integers(8, 81))
        values = [list(KINDS[name].paths) for name in names]
        rows = [tuple(own[rng.integers(len(own))] for own in values) for _ in range(n)]
        policy = Policy(
            columns={
                name: {"role": "quasi-identifier", "hierarchy": KINDS[name].builder}
                for name in names
            },
            models=[KAnonymity(int(rng.integers(2, 6)))],
            loss=DistortionRatio(),
        )
        ready = prepare(policy, FrequencySet.from_rows(names, rows))
        *_, found = Exhaustive().run(checker_of(policy, ready))
        problem = make_problem(policy, ready)
        loss = DistortionRatio().over(problem.attributes, problem.total)
        for best, differences in worse.items():
            settled = label_partition(problem, TopDown(best=best).run(problem), (False,) * 3)
            assert settled.suppressed == 0
            differences.append(loss.of_local(settled.result()) - found.loss)
    return worse


@pytest.mark.usefixtures("statistics")
def test_top_down_distorts_more_than_the_best_single_levels_only_now_and_then():
    """It is greedy, so it may.

    Over three seeds with 500 tables each, `rows` was worse on 46 to 48 tables and `loss` on
    11 to 18, never by more than 0.18; on average they lose 0.14 and 0.19 less. The bounds
    are far from that on purpose: they catch a method that has become another one.
    """
    allowed = {"rows": 0.15, "loss": 0.08}
    for best, differences in compare(seed=44, tables=500).items():
        lost = [d for d in differences if d > 1e-9]
        shown = (
            f"best={best}: worse on {len(lost)} of {len(differences)} tables, by "
            f"{np.mean(lost or [0]):.3f} on average and {max(lost, default=0):.3f} at most; "
            f"over all tables {np.mean(differences):+.3f}"
        )
        assert len(lost) <= allowed[best] * len(differences), shown
        assert np.mean(differences) < -0.05, shown
