import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.showing.heatmap import MOST_COLUMNS, MOST_ROWS, heatmap_svg
from tests.showing.reading import NASTY, SVG, check_drawing, children, survives, texts, tooltip


@st.composite
def tables(draw):
    rows = draw(st.lists(NASTY, max_size=6))
    columns = draw(st.lists(NASTY, max_size=20))
    share = st.one_of(st.floats(0, 1), st.just(float("nan")))
    values = [[draw(share) for _ in columns] for _ in rows]
    support = draw(
        st.none() | st.lists(st.integers(0, 10**9), min_size=len(rows), max_size=len(rows))
    )
    return rows, columns, values, support


@given(tables(), NASTY, st.none() | st.floats(0, 1))
def test_any_table_can_be_drawn(table, title, mark):
    rows, columns, values, support = table
    root = check_drawing(
        heatmap_svg(rows, columns, values, title=title, support=support, mark_above=mark)
    )
    cells = [g for g in root.iter(f"{SVG}g") if g.get("class") in ("cell", "marked")]
    assert len(cells) == len(rows) * len(columns)
    expected = sum(
        mark is not None and share > mark and (support is None or support[r] > 0)
        for r, row in enumerate(values)
        for share in row
    )
    assert len(children(root, "marked")) == expected
    for cell, row in zip(cells[:: len(columns) or 1], rows, strict=False):
        assert tooltip(cell).startswith(survives(row))


def numbers(svg):
    return [text.content for text in texts(check_drawing(svg))]


def test_cells_have_their_numbers_and_rows_their_support():
    shown = numbers(
        heatmap_svg(
            ["F", "M"], ["low", "high"], [[1, 0], [0.4, 0.6]], title="T", support=[5, 12345]
        )
    )
    assert shown == [
        "T",
        "low",
        "high",
        "F",
        "M",
        "100 %",
        "0 %",
        "40 %",
        "60 %",
        "rows",
        "5",
        "12\u202f345",
    ]


def test_numbers_are_left_out_where_they_do_not_fit():
    columns = [f"c{i}" for i in range(30)]
    svg = heatmap_svg(["r"], columns, [[1 / 30] * 30], title="")
    assert not [text for text in numbers(svg) if "%" in text]
    assert "r → c3: 3 %" in [tooltip(g) for g in children(check_drawing(svg), "cell")]


def test_darker_is_likelier():
    shares = [i / 20 for i in range(10)]
    root = check_drawing(heatmap_svg(["r"], [str(s) for s in shares], [shares], title=""))
    fills = [cell.find(f"{SVG}rect").get("fill") for cell in children(root, "cell")]
    light = [sum(int(fill[i : i + 2], 16) for i in (1, 3, 5)) for fill in fills]
    assert light == sorted(light, reverse=True)
    assert len(set(light)) == len(light)


def test_a_row_that_nobody_stands_behind_is_no_finding():
    svg = heatmap_svg(["a", "b"], ["x"], [[1], [1]], title="", support=[3, 0], mark_above=0.5)
    root = check_drawing(svg)
    assert [tooltip(g) for g in children(root, "marked")] == ["a → x: 100 %"]
    assert children(root, "cell")[0].find(f"{SVG}rect").get("stroke-dasharray")
    assert "no row has this combination" in root.findtext(f"{SVG}desc")


def test_of_a_long_table_the_best_supported_rows_are_drawn_in_order():
    n = MOST_ROWS + 20
    support = np.random.default_rng(0).permutation(n) + 1
    values = np.zeros((n, 1))
    values[support <= 3] = 1
    names = [f"row{i}" for i in range(n)]
    svg = heatmap_svg(names, ["x"], values, title="", support=support, mark_above=0.5)
    told = [tooltip(g) for g in children(check_drawing(svg), "cell")]
    assert told == [f"row{i} → x: 0 %" for i in range(n) if support[i] > 20]
    assert "Not drawn: 20 rows with less support, 3 of them with a cell above the mark." in svg


def test_of_a_wide_table_the_columns_with_the_highest_cells_are_drawn():
    n = MOST_COLUMNS + 1
    values = np.full((1, n), 0.5)
    values[0, 7] = 0.1
    svg = heatmap_svg(["r"], [f"c{i}" for i in range(n)], values, title="")
    assert "r → c7:" not in svg
    assert "r → c8:" in svg
    assert "Not drawn: 1 column with lower cells." in svg


def test_it_is_told_in_words():
    svg = heatmap_svg(
        ["F", "M"], ["low", "high"], [[1, 0], [0.4, 0.6]], title="Pay", support=[5, 1]
    )
    words = check_drawing(svg).findtext(f"{SVG}desc")
    assert words == (
        "2 rows and 2 columns. F: most likely low, 100 % of 5 rows. "
        "M: most likely high, 60 % of 1 row."
    )


@pytest.mark.parametrize(
    ("values", "more", "said"),
    [
        ([[0.5]], {}, "values must be of shape (1, 2), one per cell, got (1, 1)"),
        ([[0.5, 1.5]], {}, "values must be probabilities from 0 to 1, or NaN, got 1.5"),
        ([[0.5, 0.5]], {"support": [1, 2]}, "support must be 1 numbers, one per row, got (2,)"),
        ([[0.5, 0.5]], {"mark_above": 2}, "mark_above must be a number"),
    ],
)
def test_what_does_not_fit_together_is_refused(values, more, said):
    with pytest.raises(ParameterError) as error:
        heatmap_svg(["r"], ["x", "y"], values, title="", **more)
    assert said in str(error.value)


def test_names_in_parts_stand_in_columns_and_can_be_told_apart():
    rows = [("[30-50]", "Married", "<=50K"), ("[30-50]", "Never-Married", "<=50K")]
    svg = heatmap_svg(rows, ["x"], [[1], [0]], title="T", parts=["age", "marital status", "salary"])
    shown = texts(check_drawing(svg))
    where = {text.content: text.left for text in shown}
    assert where["Married"] == where["Never-Married"] == where["marital status"]
    assert where["[30-50]"] < where["Married"] < where["<=50K"]
    cells = [tooltip(g) for g in children(check_drawing(svg), "cell")]
    assert cells[0] == "age=[30-50], marital status=Married, salary=<=50K → x: 100 %"
    with pytest.raises(ParameterError, match="3 parts in each"):
        heatmap_svg([("a",)], ["x"], [[1]], title="", parts=["age", "sex", "zip"])


@given(
    st.lists(st.tuples(NASTY, NASTY), max_size=5),
    st.lists(NASTY, max_size=5),
    st.lists(NASTY, min_size=2, max_size=2),
)
def test_any_table_with_names_in_parts_can_be_drawn(rows, columns, parts):
    values = np.zeros((len(rows), len(columns)))
    check_drawing(heatmap_svg(rows, columns, values, title="T", parts=parts))


def test_rows_that_were_not_handed_in_are_counted():
    svg = heatmap_svg(["a"], ["x"], [[1]], title="", support=[5], mark_above=0.5, more=(7, 2))
    note = "Not drawn: 7 rows with less support, 2 of them with a cell above the mark."
    assert note in " ".join(numbers(svg))
