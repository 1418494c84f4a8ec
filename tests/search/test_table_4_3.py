"""The thesis's worked example of Incognito (Table 4.3): who is minimal at which limit."""

import pytest

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.hierarchy import Masking, Suppress, Taxonomy
from sfumato.models import KAnonymity
from sfumato.policy import Policy
from sfumato.recode.deciding import make_checker
from sfumato.search import BestFirst, Exhaustive, Incognito

ROWS = [
    ("22030", "Married", "Female"),
    ("22030", "Married", "Female"),
    ("22030", "Single", "Male"),
    ("22032", "Single", "Male"),
    ("22032", "Divorced", "Female"),
    ("22032", "Divorced", "Female"),
    ("22045", "Divorced", "Male"),
    ("22047", "Widow", "Male"),
    ("22047", "Widow", "Male"),
    ("22047", "Single", "Female"),
]
MINIMAL = {
    0: {(1, 2, 1), (2, 1, 1), (2, 2, 0)},
    1: {(0, 2, 1), (2, 1, 1), (2, 2, 0)},
    2: {(0, 2, 1), (2, 1, 1), (2, 2, 0)},
    3: {(0, 2, 1), (1, 1, 0)},
}
"""By suppression limit. The text says MaxSup = 2, but its figure needs 3 rows suppressed."""


def checker(limit: int):
    marital = {"been married": ["Widow", "Divorced", "Married"], "never married": ["Single"]}
    policy = Policy(
        columns={
            "zip": {"role": "quasi-identifier", "hierarchy": Masking(keep=3), "levels": [0, 2]},
            "marital": {"role": "quasi-identifier", "hierarchy": Taxonomy(marital)},
            "gender": {"role": "quasi-identifier", "hierarchy": Suppress()},
        },
        models=[KAnonymity(3)],
        suppression=limit,
    )
    return make_checker(policy, FrequencySet.from_rows(["zip", "marital", "gender"], ROWS))


@pytest.mark.parametrize("limit", MINIMAL)
@pytest.mark.parametrize(
    "search", [Exhaustive(), Incognito(), BestFirst(all_minimal=True)], ids=lambda s: s.name
)
def test_every_search_finds_the_minimal_nodes_of_the_text(search, limit):
    *_, found = search.run(checker(limit))
    assert set(found.minimal) == MINIMAL[limit]
    assert found.proven


@pytest.mark.parametrize("limit", MINIMAL)
@pytest.mark.parametrize(
    "search", ["incognito", "exhaustive", {"search": "best-first", "all_minimal": True}], ids=str
)
def test_the_release_has_them(search, limit):
    policy = sf.Policy.load(sf.samples.policy_path("incognito"))
    asked = policy.replace(suppression=limit, search=search)
    release = sf.anonymize(sf.samples.table("incognito"), asked)
    assert {tuple(node.values()) for node in release.minimal} == MINIMAL[limit]
    assert [list(node) for node in release.minimal] == [list(policy.quasi_identifiers)] * len(
        MINIMAL[limit]
    )
    assert "minimal node" in str(release)


def test_a_release_whose_search_stopped_early_has_none():
    policy = sf.Policy.load(sf.samples.policy_path("incognito"))
    for search in ("best-first", {"search": "incognito", "checks": 3}):
        release = sf.anonymize(sf.samples.table("incognito"), policy.replace(search=search))
        assert release.minimal is None
        assert "minimal" not in str(release)


def test_with_three_rows_suppressed_nine_of_eighteen_nodes_pass():
    *_, found = Exhaustive().run(checker(3))
    assert len(found.passing) == 9
    assert found.checks == 18


def test_incognito_never_looks_at_what_a_subset_ruled_out():
    check = checker(3)
    *_, found = Incognito().run(check)
    assert len(found.passing) == 9
    # 1 + 2 + 3 attributes have 8, 21 and 18 nodes; most are ruled out or marked.
    assert found.checks < 8 + 21 + 18
