"""A search of the published rows that begins with what a search of all rows knows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.hierarchy import Hierarchy, Intervals, Suppress
from sfumato.losses import LOSSES
from sfumato.losses.base import Attribute, CellLoss
from sfumato.policy import Policy
from sfumato.recode.deciding import counted_columns, decide
from sfumato.search.wider import WiderSearch
from sfumato.typing import silent

ILL = ["flu", "gout", "hiv"]
TREE = Hierarchy.from_paths(
    [*"abcdef"],
    [
        ["ab", "abc", "*"], ["ab", "abc", "*"], ["c", "abc", "*"],
        ["de", "def", "*"], ["de", "def", "*"], ["f", "def", "*"],
    ],
)  # fmt: skip
GROUPS = {"abc": {"ab": ["a", "b"], "c": ["c"]}, "def": {"de": ["d", "e"], "f": ["f"]}}
MODELS = [
    sf.models.KAnonymity(2),
    sf.models.KAnonymity(3),
    sf.models.DistinctLDiversity("ill", 2),
    sf.models.EntropyLDiversity("ill", 1.5),
    sf.models.TCloseness("ill", 0.3),
]


@st.composite
def tables(draw):
    row = st.tuples(
        st.sampled_from([21, 22, 28, 34, 61]),
        st.sampled_from([*"abcdef"]),
        st.sampled_from("fm"),
        st.sampled_from(ILL),
    )
    rows = draw(st.lists(row, min_size=6, max_size=60))
    return FrequencySet.from_rows(["age", "letter", "sex", "ill"], rows)


@st.composite
def policies(draw):
    return Policy(
        columns={
            "age": {
                "role": "quasi-identifier",
                "hierarchy": Intervals(bounds=[[20, 25, 30, 60], [25, 60]]),
            },
            "letter": {
                "role": "quasi-identifier",
                "hierarchy": {"kind": "taxonomy", "tree": GROUPS},
            },
            "sex": {"role": "quasi-identifier", "hierarchy": Suppress()},
            "ill": "sensitive",
        },
        models=draw(
            st.lists(
                st.sampled_from(MODELS), min_size=1, max_size=2, unique_by=lambda model: model.name
            )
        ),
        loss=draw(st.sampled_from([kind.example() for kind in LOSSES.values()])),
        suppression=draw(st.sampled_from([0.1, 0.3, 0.6])),
    )


def decide_with(policy: Policy, counts: FrequencySet, patch, *, teaches: bool):
    """Decide, and count the searches that began with what was known."""
    taught = []
    teach = WiderSearch.teach

    def told(self, checker):
        taught.append(teaches and teach(self, checker))
        return taught[-1]

    with patch.context() as patched:
        patched.setattr(WiderSearch, "teach", told)
        try:
            made = decide(policy, policy, counts, None, rng=np.random.default_rng(1), report=silent)
        except sf.errors.InfeasibleError:
            return None, sum(taught)
    columns = made.recoding.columns
    labels = [[c.labels[code] if code >= 0 else None for code in c.codes.tolist()] for c in columns]
    lost = made.recoding.suppressed.tolist()
    return (labels, lost, dict(made.columns), made.suppressed), sum(taught)


@pytest.mark.usefixtures("patience")
def test_nothing_changes_by_what_is_known(patch):
    taught = []

    @given(counts=tables(), policy=policies())
    def same(counts, policy):
        counts = counts.project(counted_columns(policy))
        cold, _ = decide_with(policy, counts, patch, teaches=False)
        warm, times = decide_with(policy, counts, patch, teaches=True)
        assert warm == cold
        taught.append(times)

    same()
    assert sum(taught) > len(taught) / 20


@pytest.fixture
def patch():
    return pytest.MonkeyPatch


@pytest.mark.parametrize("kind", LOSSES.values(), ids=lambda kind: kind.name)
def test_suppressed_cells_cost_alike_where_a_loss_says_so(kind):
    loss = kind.example()
    if not isinstance(loss, CellLoss) or not loss.charges_suppressed_cells_alike:
        return
    rng = np.random.default_rng(5)
    ladder = TREE.bind("letter", [*"abcdef"])
    attribute = Attribute(ladder, rng.integers(1, 9, 6))
    other = Attribute(ladder, rng.integers(1, 9, 6))
    costs = loss.costs(attribute)
    assert np.array_equal(costs, loss.costs(other))
    for removed in (rng.integers(0, 9, 6).astype(float) for _ in range(9)):
        each = costs @ removed + loss.suppression_cost(attribute, costs, removed)
        assert each == pytest.approx(removed.sum() * costs.max())
