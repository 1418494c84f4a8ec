"""Labels in several languages say the same, and are read alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import UnknownNameError
from sfumato.hierarchy import BUILDERS, Dates, Frequent, Intervals, KnownTree, OrderedCategories
from sfumato.hierarchy.labels import day_of, stretch_of
from sfumato.hierarchy.language import language_in, language_of, languages
from sfumato.text import number_of

LANGUAGES = languages()


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_says_all_that_english_says(code):
    assert list(language_of(code).ways) == list(language_of("en").ways)


def test_an_unknown_language_is_refused_with_those_that_there_are():
    with pytest.raises(UnknownNameError, match="'de', 'fr', 'es', 'it', 'nl'"):
        Intervals(widths=[5], language="dk")


@given(
    st.sampled_from(LANGUAGES),
    st.lists(st.integers(-50, 200), min_size=2, unique=True).map(sorted),
    st.sampled_from([1, 2]),
)
def test_ranges_are_read_as_those_in_english(code, cuts, parts):
    bounds = [cut / parts for cut in cuts]
    values = [*bounds, bounds[0] - 7, bounds[-1] + 7]
    said, english = (
        Intervals(bounds=[bounds], language=each).build("x", values).labels[1]
        for each in (code, "en")
    )
    assert [stretch_of(a, number_of) for a in said] == [stretch_of(b, number_of) for b in english]


@pytest.mark.parametrize("code", LANGUAGES)
def test_ranges_of_days_are_read_as_those_in_english(code):
    builder = Intervals(widths=["7d"], lower="2020-01-06", upper="2020-02-03")
    days = ["2020-01-01", "2020-01-08", "2020-03-01"]
    said, english = (
        builder.in_language(each).build("day", days).labels[1] for each in (code, "en")
    )
    assert [stretch_of(a, day_of) for a in said] == [stretch_of(b, day_of) for b in english]


@pytest.mark.parametrize("code", LANGUAGES)
def test_decades_and_centuries_are_read_as_those_in_english(code):
    builder, days = Dates(levels=["year", "decade", "century"]), ["1899-12-31", "1987-03-14"]
    said, english = (builder.in_language(each).build("day", days).labels for each in (code, "en"))
    assert said[1] == english[1]
    for level in (2, 3):
        assert code == "en" or said[level] != english[level]
        read = [[stretch_of(a, day_of) for a in each[level]] for each in (said, english)]
        assert read[0] == read[1]
        assert None not in read[0]


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("name", [n for n in BUILDERS if hasattr(BUILDERS[n], "language")])
def test_groups_are_the_same_in_every_language(name, code):
    builder = BUILDERS[name].example()
    values = BUILDERS[name].example_values()
    said, english = (builder.in_language(each).build("x", values) for each in (code, "en"))
    assert said.codes.tolist() == english.codes.tolist()


def test_labels_are_as_people_write_them():
    often = ["nie", "selten", "manchmal", "oft", "immer"]
    assert OrderedCategories(often, language="de").build("x", often).labels[1][0] == (
        "nie bis selten"
    )
    status = ["ledig", "geschieden", "verheiratet"]
    assert KnownTree("marital-status", language="de").build("x", status).labels[1] == (
        "nie verheiratet",
        "verheiratet gewesen",
        "lebt mit Partner",
    )
    assert Frequent([["a", "b"]], language="nl").build("x", ["a", "b", "c"]).labels[1][2] == (
        "anders dan a of b"
    )
    kept = [list("abcdefgh"), list("abcde")]
    labels = Frequent(kept, language="fr").build("x", list("abcdefghij")).labels
    assert (labels[1][-1], labels[2][-1]) == ("autres", "autres que les 5 plus fréquents")


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ([["age"], ["sex"], ["income"]], "en"),
        ([["Straße"], ["Größe"], ["x"]], "de"),
        ([["âge"], ["sexe"], ["revenu"], ["x"]], "fr"),
        ([["edad"], ["sexo", "varón"], ["ingresos"]], "es"),
        ([["eta"], ["sesso"], ["reddito"]], "it"),
        ([["leeftijd"], ["geslacht"], ["inkomen"]], "nl"),
        ([["alter"], ["sexe"], ["x1"]], "en"),
        ([["q1"], ["q2"]], "en"),
    ],
)
def test_the_language_is_that_of_the_names_where_it_is_clear(columns, code):
    assert language_in(columns) == code
