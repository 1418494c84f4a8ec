"""Optima another tool finds on Adult: loss, levels, suppressed rows; and how few checks we need."""

import pytest

from sfumato.hierarchy import CsvHierarchy
from sfumato.models import DistinctLDiversity, EntropyLDiversity, KAnonymity
from sfumato.policy import Policy
from sfumato.recode.deciding import counted_columns, make_checker
from sfumato.search import BestFirst, Descent
from tests.adult import LEVELS, adult_folder
from tests.oracle.test_adult import table


def checker(quasi_identifiers, models, limit, **options):
    columns = {
        name: {
            "role": "quasi-identifier",
            "hierarchy": CsvHierarchy(str(adult_folder() / f"adult_hierarchy_{name}.csv")),
        }
        for name in quasi_identifiers
    }
    for model in models:
        columns |= dict.fromkeys(model.columns, "sensitive")
    policy = Policy(columns=columns, models=models, suppression=limit, **options)
    return make_checker(policy, table("adult.csv").project(counted_columns(policy)))


EIGHT = [name for name in LEVELS if name != "salary-class"]
SEVEN = [name for name in EIGHT if name != "occupation"]


@pytest.mark.parametrize(
    ("limit", "loss", "levels", "suppressed", "classes", "most_checks"),
    [
        (0.0, 0.5915849773198221, (0, 4, 0, 2, 3, 2, 2, 1), 0, 30, 142),
        (0.05, 0.2518517151856563, (0, 3, 0, 0, 1, 1, 1, 2), 1458, 399, 250),
    ],
)
def test_five_anonymity_of_eight_columns(limit, loss, levels, suppressed, classes, most_checks):
    check = checker(EIGHT, [KAnonymity(5)], limit)
    *_, found = BestFirst().run(check)
    assert found.proven
    assert found.loss == pytest.approx(loss, rel=1e-9)
    assert (found.node, found.suppressed) == (levels, suppressed)
    assert int(check.evaluate(found.node).judged.keep.sum()) == classes
    # The best tool known checks 142 and 844 of the 6 480 nodes.
    assert found.checks <= most_checks


@pytest.mark.parametrize(
    ("models", "loss", "levels", "suppressed"),
    [
        ([], 0.1708054370569978, (0, 3, 0, 0, 1, 1, 1), 1458),
        ([DistinctLDiversity("occupation", 2)], 0.17149116900811867, (0, 3, 0, 0, 1, 1, 1), 1481),
        ([DistinctLDiversity("occupation", 3)], 0.1813563904247859, (0, 3, 0, 0, 2, 1, 1), 1071),
        ([DistinctLDiversity("occupation", 5)], 0.23688122373939224, (0, 3, 0, 1, 2, 1, 1), 957),
        ([EntropyLDiversity("occupation", 3)], 0.21434815414102193, (0, 3, 0, 0, 3, 1, 0), 1460),
    ],
    ids=["k=5", "l=2", "l=3", "l=5", "entropy l=3"],
)
def test_diversity_of_seven_columns_with_five_percent_suppressed(models, loss, levels, suppressed):
    *_, found = BestFirst().run(checker(SEVEN, [KAnonymity(5), *models], 0.05))
    assert found.proven
    assert found.loss == pytest.approx(loss, rel=1e-9)
    assert (found.node, found.suppressed) == (levels, suppressed)


@pytest.mark.parametrize(
    ("limit", "optimum", "best_heuristic"),
    [(1.0, 353204.987, 359649.7), (0.04, 383803.403, 383803.5)],
)
def test_a_thousand_checks_do_no_worse_than_other_heuristics(limit, optimum, best_heuristic):
    check = checker(list(LEVELS), [KAnonymity(100)], limit, loss="entropy")
    *_, found = BestFirst(checks=1000).run(check)
    assert found.loss >= optimum - 1e-3
    assert found.loss <= best_heuristic


def test_the_search_for_huge_lattices_finds_the_optimum_of_this_one_too():
    *_, found = Descent().run(checker(EIGHT, [KAnonymity(5)], 0.05))
    assert found.loss == pytest.approx(0.2518517151856563, rel=1e-9)
