"""The worked examples of the sources, through the public functions, and their page."""

import re
from collections import Counter
from functools import reduce
from itertools import product

import pytest
from typer.main import get_command

import sfumato as sf
from docs.papers import examples
from docs.papers.results import HERE
from sfumato import samples
from sfumato.cli.app import app

PAGE = (HERE / "examples.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("patience")
def test_the_page_comes_out_again():
    assert examples.page() == PAGE, "run `python -m docs.papers examples` and look at what changed"


@pytest.mark.parametrize(
    "made",
    [
        examples.table_ii,
        examples.table_13,
        examples.table_15,
        examples.table_22,
        examples.table_32,
        examples.table_35,
        examples.table_44,
    ],
    ids=lambda made: made.__name__,
)
def test_a_printed_table_comes_out_row_by_row(made):
    assert made().same


@pytest.mark.usefixtures("patience")
def test_table_ii_has_five_women_and_five_men():
    # Written out here, so that the page is not its own judge.
    women, men = ("30 to 50", "F", "13000 to 23000"), ("51 to 90", "M", "24000 to 58000")
    assert Counter(row[:3] for row in examples.rows_of(examples.census().table)) == {
        women: 5,
        men: 5,
    }
    # Two groups are too few to try the deFinetti attack, which is open then.
    assert examples.answers() == ("no", "with care")


def test_the_laws_of_the_article_hold_in_every_case():
    found = examples.laws()
    assert len(found) == 4
    assert all(held == cases > 50 for held, cases in found)


def test_regional_recoding_takes_one_branch_up_and_leaves_the_others():
    ours = examples.regional()
    assert {work: ours[work] for work in examples.LABELS} == examples.LABELS
    assert ours["Private"] == "Private"


def test_the_steps_of_figure_42_are_those_of_the_text():
    steps = examples.figure_42().steps
    assert [step.rows for step in steps] == [4] * 5
    labels = [child.label for step in steps[:4] for child in step.children]
    assert labels == ["7****", "73***", "734**", "7345*"]
    last = steps[-1]
    assert {(child.label, child.rows, child.passes) for child in last.children} == {
        ("73455", 1, False),
        ("73456", 3, True),
    }
    assert (last.sent_back, last.taken_back, last.stays) == (1, 1, 2)
    assert {each.labels[0]: each.rows for each in examples.figure_42().classes} == {
        "73456": 2,
        "7345*": 2,
    }


def test_the_trees_of_chapter_2_have_the_printed_labels():
    trees = examples.trees()
    assert trees["marital_status"].labels[1] == ("Been married", "Never married")
    assert set(trees["race"].labels[0]) == {"Asian", "Black", "White"}
    assert trees["race"].height == 1
    assert trees["marital_status"].height == 2
    assert trees["gender"].labels[1] == ("Gender",)


def test_one_value_gets_three_labels_by_local_recoding():
    labels = [label for label, _ in examples.local_recoding()]
    assert labels == ["Government"] * 2 + ["State-gov"] * 2 + ["Workclass"] * 2


def test_table_15_has_everybody_exactly_and_each_bucket_its_counts():
    found = examples.contents(examples.buckets()["given"])
    assert [sorted(ills.items()) for _, ills in found] == [
        [("Ovarian Cancer", 2), ("Prostate Cancer", 1)],
        [("Flu", 2), ("Heart Disease", 1)],
        [("Flu", 1), ("Heart Disease", 2)],
    ]
    rows = sorted(tuple(row.values())[:3] for row in samples.table("bucketization").to_pylist())
    assert sorted(person for people, _ in found for person in people) == rows


def test_table_38_differs_by_the_three_misprints_alone():
    made = examples.table_38()
    assert made.printed - made.ours == {
        ("253**", "<30", "Europe", "Indigestion"): 1,
        ("240**", ">40", "Asia", "Flu"): 1,
        ("2530*", "3*", "America", "HIV"): 2,
        ("2530*", "3*", "America", "Cancer"): 2,
    }
    assert made.ours - made.printed == {
        ("253**", "<30", "Europe", "Asthma"): 1,
        ("240**", ">40", "Asia", "Phthisis"): 1,
        ("253**", "3*", "America", "HIV"): 2,
        ("253**", "3*", "America", "Cancer"): 2,
    }


def test_table_35_tells_jans_salary_and_stomach():
    told = {outcome.column: outcome.worst for outcome in examples.jan()}
    for column, believed in (
        ("salary", "salary from 60000 to 80000"),
        ("condition", "condition is stomach"),
    ):
        case = next(one for one in told[column] if one.who["age"] == "2*")
        assert (case.people, case.believed, case.posterior) == (3, believed, 1.0)


def test_table_310_keeps_what_is_printed_and_tells_three_in_four():
    kept = [holds for _, holds, _ in examples.table_310()]
    assert kept == [True, True, False, False]
    outcome = examples.most_secret()
    assert (outcome.people, outcome.posterior) == (4, 0.75)
    sizes = Counter(row[:3] for row in examples.rows_of(examples.mixed().table))
    assert sorted(sizes.values()) == [4, 7]


def passing_by_hand(columns, limit):
    """Mark the nodes of Table 4.3 by counting rows, level by level."""
    wed = {"Married": "Been", "Divorced": "Been", "Widow": "Been", "Single": "Never"}
    levels = {
        "zipcode": (str, lambda code: code[:4], lambda code: code[:3]),
        "marital_status": (str, wed.get, lambda _: "*"),
        "gender": (str, lambda _: "*"),
    }
    rows = samples.table("incognito").to_pylist()
    found = set()
    for node in product(*(range(len(levels[name])) for name in columns)):
        sizes = Counter(
            tuple(levels[name][level](row[name]) for name, level in zip(columns, node, strict=True))
            for row in rows
        )
        if sum(size for size in sizes.values() if size < 3) <= limit:
            found.add(node)
    return found


@pytest.mark.parametrize("name", examples.MARKED)
def test_the_nodes_of_figure_41_are_those_that_are_printed_and_counted(name):
    columns = tuple(column for column, letter in examples.LETTERS.items() if letter in name)
    ours = examples.subsets()[name]
    assert set(ours.passing) == examples.MARKED[name] == passing_by_hand(columns, 3)
    assert (~ours.looked_at).sum() == examples.RULED_OUT[name]


@pytest.mark.parametrize(
    ("rows", "minimal"),
    [
        (0, {(1, 2, 1), (2, 1, 1), (2, 2, 0)}),
        (2, {(0, 2, 1), (2, 1, 1), (2, 2, 0)}),
        (3, {(0, 2, 1), (1, 1, 0)}),
    ],
)
def test_table_43_has_these_minimal_nodes(rows, minimal):
    found = examples.incognito(rows)
    assert set(found.minimal) == minimal
    assert set(found.passing) == passing_by_hand(tuple(examples.LETTERS), rows)


def test_the_lattice_of_figure_28_has_four_levels():
    levels = examples.levels_28()
    assert {level: len(nodes) for level, nodes in levels.items()} == {0: 1, 1: 2, 2: 2, 3: 1}
    path = [(0, 0), (0, 1), (1, 1), (1, 2)]
    assert [node in levels[level] for level, node in enumerate(path)] == [True] * 4


def test_drawings_come_out_again_and_are_shown():
    for name, text in examples.plots().items():
        kept = (HERE / name).read_text(encoding="utf-8")
        assert kept == text, "run `python -m docs.papers examples` and look at what changed"
        assert f"({name})" in PAGE


def test_table_44_draws_between_two_rows_and_nothing_else():
    printed, drawn = examples.lots()
    assert 0 < printed < len(examples.SEEDS)
    exchanged = {"Flu": "Indigestion", "Indigestion": "Flu"}
    assert drawn == {
        frozenset(examples.TOP_DOWN_44),
        frozenset((code, exchanged.get(ill, ill)) for code, ill in examples.TOP_DOWN_44),
    }


def test_the_best_attribute_is_that_of_most_rows_and_then_of_fewest_branches():
    most, fewest = map(examples.best, examples.BEST.values())
    assert most == {("a", "*"), ("b", "*")}
    assert fewest == {("*", "20"), ("*", "30")}


def test_weights_and_distances_are_the_printed_ones():
    assert examples.weights() == pytest.approx([0, 1 / 3, 2 / 3, 1, 2])
    assert [far for _, _, far in examples.distances()] == pytest.approx([1, 1 / 3])


def test_table_23_is_2_anonymous():
    assert examples.smallest_class() == 2


def test_the_vector_generalises_marital_status_and_age_once():
    levels, table = examples.vector()
    assert levels == (0, 1, 1)
    assert Counter(examples.rows_of(table)) == {
        ("Asian", "Been married", "45 to 49"): 2,
        ("Black", "Never married", "20 to 24"): 1,
    }


COVERAGE = (HERE / "coverage.md").read_text(encoding="utf-8")


def items():
    """Every line of the tables of what is where: item, place, verdict, remark."""
    for line in COVERAGE[COVERAGE.index("\n## ") :].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells[0] != "item":
            yield [*cells, ""][:4]


def test_everything_has_a_place_and_a_verdict_and_what_is_partly_done_a_reason():
    found = list(items())
    assert len(found) > 50
    for item, place, verdict, why in found:
        assert verdict in {"same", "differs", "partly", "lost"}, item
        assert why or verdict == "same", item
        assert place != "–" or verdict == "partly", item


@pytest.mark.parametrize("text", [PAGE, COVERAGE], ids=["examples", "coverage"])
def test_functions_and_commands_that_are_named_exist(text):
    for name in re.findall(r"`sf\.([\w.]+)", text):
        reduce(getattr, name.split("."), sf)
    commands = get_command(app).commands
    assert set(re.findall(r"`sfumato ([a-z-]+)", text)) <= set(commands)
