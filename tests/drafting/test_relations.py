"""Columns that others tell: found as the definition says, and not by chance."""

from math import log

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.drafting.guess import guess_table
from sfumato.drafting.relations import find_relations
from sfumato.policy.meanings import ColumnKind
from sfumato.schema import Role
from sfumato.tables import open_table

RNG = np.random.default_rng(5)
N = 2000


def relations(columns, **more):
    table = open_table(pa.table(columns))
    return find_relations(table, table.columns, len(columns[table.columns[0]]), **more).of


def roles(columns):
    table = open_table(pa.table(columns))
    return guess_table(table, table.domains(table.columns))


def is_told(each, other):
    """Say it word by word: equal in the other means equal here, and chance would not do that."""
    said = {}
    for mine, theirs in zip(each, other, strict=True):
        if mine is not None and said.setdefault(theirs, mine) != mine:
            return False
    shares = [each.count(value) / len(each) for value in set(each)]
    equal = sum(share * share for share in shares)
    known = [theirs for mine, theirs in zip(each, other, strict=True) if mine is not None]
    again = len(known) - len(set(known))
    enough = len(set(each)) >= (3 if None in each else 2)
    return enough and len(set(each)) <= len(set(other)) and again * log(equal) <= log(1e-9)


@st.composite
def coded_columns(draw):
    rows = draw(st.integers(60, 200))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    base = rng.integers(0, draw(st.integers(2, 6)), rows)
    columns = {"base": base.tolist()}
    for at in range(draw(st.integers(1, 3))):
        made = draw(st.sampled_from(["map", "free", "noisy", "gaps"]))
        mapping = rng.integers(0, draw(st.integers(2, 5)), 6)
        values = mapping[base] if made != "free" else rng.integers(0, 3, rows)
        values = values.tolist()
        if made == "noisy":
            values[draw(st.integers(0, rows - 1))] = 9
        if made == "gaps":
            values = [None if rng.random() < 0.2 else value for value in values]
        columns[f"x{at}"] = values
    return columns


@given(coded_columns())
def test_what_tells_what_is_what_the_definition_says(columns):
    found = relations(columns)
    for name, values in columns.items():
        expected = {
            other for other, theirs in columns.items() if other != name and is_told(values, theirs)
        }
        assert {each.of[0] for each in found.get(name, ())} == expected


def test_a_number_of_rows_or_people_tells_nothing():
    person = np.repeat(np.arange(N // 4), 4)
    columns = {
        "row": np.arange(N),
        "Patient-Nr": person,
        "sex": RNG.integers(0, 2, N // 4)[person],
        "x": RNG.integers(0, 4, N // 4)[person],
    }
    found = roles(columns)
    assert found["row"].role is found["Patient-Nr"].role is Role.IDENTIFIER
    assert found["sex"].role is Role.QUASI_IDENTIFIER
    assert (found["x"].role, found["x"].of) == (Role.QUASI_IDENTIFIER, None)


AGES = RNG.integers(18, 90, N)
SCHOOL = RNG.integers(8, 18, N)
COPIES = {
    "agesq": AGES**2,
    "agecl": AGES // 10,
    "old": AGES >= 65,
    "age in words": [f"about {age}" for age in AGES],
    "x71": AGES - 11,
    "x82": AGES + RNG.integers(0, 2, N),
    "exper": AGES - SCHOOL - 6,
}


@pytest.mark.parametrize("name", COPIES)
def test_what_an_age_tells_is_not_published_as_it_is(name):
    found = roles({"age": AGES, name: COPIES[name], "education": SCHOOL})
    assert found["age"].role is Role.QUASI_IDENTIFIER
    if name == "exper":
        # It is known to others by its own name, and generalised with the two that tell it.
        assert found[name].role is Role.QUASI_IDENTIFIER
    elif name in ("agecl", "old"):
        # Coarser than the age: generalised beside it, and told apart last.
        assert (found[name].role, found[name].of) == (Role.QUASI_IDENTIFIER, "age")
        assert found[name].kind is ColumnKind.FUNCTION
    else:
        assert (found[name].role, found[name].of) == (Role.DROPPED, "age")
        assert "'age'" in found[name].reason


def test_dummies_of_a_category_are_left_out_and_the_category_stays():
    level = RNG.integers(1, 5, N)
    found = roles({"edlevel": level, **{f"edlevel{i}": level == i for i in range(1, 5)}})
    assert found["edlevel"].role is Role.QUASI_IDENTIFIER
    assert {found[f"edlevel{i}"].of for i in range(1, 5)} == {"edlevel"}


def test_what_became_of_people_stays_though_another_column_tells_it():
    cause = RNG.choice(["heart", "lung", "other"], N)
    died = RNG.random(N) < 0.3
    columns = {
        "cause of death": [c if d else None for c, d in zip(cause, died, strict=True)],
        "death": died.astype(int),
        "year of death": [
            int(y) if d else None for y, d in zip(1990 + AGES % 7, died, strict=True)
        ],
    }
    found = roles(columns)
    assert (found["death"].role, found["death"].kind) == (Role.SENSITIVE, ColumnKind.OUTCOME)
    assert found["year of death"].role is Role.QUASI_IDENTIFIER


def test_what_a_copy_that_is_left_out_tells_stays_beside_the_original():
    school = RNG.integers(100, 160, N)
    lesson = 2 * school + RNG.integers(0, 2, N)
    lesson[RNG.random(N) < 0.05] += 2
    size = RNG.integers(12, 35, 400)[lesson]
    found = roles({"school": school, "x": lesson, "y": size, "test": school % 3})
    assert (found["x"].role, found["x"].of) == (Role.DROPPED, "school")
    for name in ("y", "test"):
        assert (found[name].role, found[name].kind) == (Role.QUASI_IDENTIFIER, ColumnKind.FUNCTION)
        assert found[name].of == "school"


def test_a_secret_that_others_can_compute_is_treated_as_known():
    columns = {"state": RNG.integers(1, 40, N)}
    tax = RNG.integers(0, 12, 40)[columns["state"]]
    assert roles({**columns, "x": tax})["x"].role is Role.QUASI_IDENTIFIER
    assert roles({**columns, "income": tax})["income"].role is Role.QUASI_IDENTIFIER


@pytest.mark.parametrize("name", ["Note", "nota media", "notes"])
def test_numbers_are_no_free_text_whatever_their_name(name):
    found = roles({name: np.round(RNG.normal(6, 1.5, N), 1), "age": AGES})
    assert found[name].role is not Role.DROPPED


@pytest.mark.parametrize("names", [("breedte", "lengte"), ("x", "y"), ("b", "l")])
def test_coordinates_are_known_whatever_their_names(names):
    north, east = 52 + RNG.random(N) / 5, 4.8 + RNG.random(N) / 5
    columns = dict(zip(names, (np.round(north, 5), np.round(east, 5)), strict=True))
    found = roles({**columns, "age": AGES})
    assert {found[name].role for name in names} == {Role.QUASI_IDENTIFIER}


def test_measurements_with_many_decimals_are_no_coordinates():
    columns = {name: np.round(RNG.lognormal(0, 1, N), 5) for name in ("crp", "tsh")}
    found = roles({**columns, "age": AGES})
    assert {found[name].role for name in columns} == {Role.SENSITIVE}


@pytest.mark.parametrize("sign", [" ", ".", "?", "NA"])
def test_signs_for_no_value_are_codes_of_missing_ones(sign):
    values = [sign if i % 9 == 0 else str(i % 40) for i in range(N)]
    assert roles({"x": values, "age": AGES})["x"].missing == (sign,)


def test_beside_words_a_word_is_a_value():
    values = ["NA" if i % 9 == 0 else f"Land {i % 7}" for i in range(N)]
    assert roles({"country": values, "age": AGES})["country"].missing == ()


def test_few_columns_are_known_to_others():
    columns = {f"x{i}": RNG.integers(0, 3 + i, N) for i in range(50)}
    found = roles({**columns, "age": AGES, "sex": RNG.integers(0, 2, N), "educ": SCHOOL})
    known = [name for name, each in found.items() if each.role is Role.QUASI_IDENTIFIER]
    assert known[-3:] == ["age", "sex", "educ"]
    assert len(known) == 40
    assert found["x49"].role is Role.DROPPED
    assert "too many columns are not understood" in found["x49"].reason


def test_gaps_hide_no_item_of_a_questionnaire():
    columns = {f"x{i}": RNG.integers(1, 7, N).astype(float) for i in range(5)}
    found = roles({**columns, "x9": RNG.integers(1, 7, N)})
    assert {each.kind for each in found.values()} == {ColumnKind.BELIEF}


def test_the_same_answers_in_several_columns_are_items_of_a_questionnaire():
    found = roles({f"x{i}": RNG.integers(0, 11, N) for i in range(5)})
    assert {each.role for each in found.values()} == {Role.SENSITIVE}
    assert {each.kind for each in found.values()} == {ColumnKind.BELIEF}


SURVEYS = {
    "agea": ColumnKind.AGE,
    "gndr": ColumnKind.SEX,
    "RIDAGEYR": ColumnKind.AGE,
    "RIAGENDR": ColumnKind.SEX,
    "x001": ColumnKind.SEX,
    "X003": ColumnKind.AGE,
    "s003": ColumnKind.PLACE,
    "gebjahr": ColumnKind.DATE,
    "d11101": ColumnKind.AGE,
}


def test_names_in_surveys_are_known():
    rows = {name: RNG.integers(1, 80, N) + RNG.integers(0, 5, N) for name in SURVEYS}
    assert {name: each.kind for name, each in roles(rows).items()} == SURVEYS


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y"])
def test_one_date_and_the_times_between_stand_for_the_other_dates(form):
    born = np.datetime64("1900-01-01") + RNG.integers(0, 20_000, N)
    entry = np.datetime64("1967-01-01") + RNG.integers(0, 3_000, N)
    days = RNG.integers(5, 2_000, N)
    dates = {"birth.dt": born, "accept.dt": entry, "fu.date": entry + days}
    written = {name: [day.strftime(form) for day in d.tolist()] for name, d in dates.items()}
    aged = (entry - born).astype(int) / 365.25
    found = roles({**written, "age": aged, "futime": days})
    assert [name for name, each in found.items() if each.role is Role.DROPPED] == [
        "birth.dt",
        "fu.date",
    ]
    assert found["accept.dt"].role is found["age"].role is Role.QUASI_IDENTIFIER


def test_a_scale_with_few_values_is_no_number_of_people():
    found = roles({"uid": RNG.permutation(N), "pid7na": RNG.integers(1, 8, N)})
    assert (found["uid"].role, found["pid7na"].role) == (Role.IDENTIFIER, Role.QUASI_IDENTIFIER)


def test_values_gainsay_names():
    found = roles({
        "hospital": RNG.choice([0, 0, 0, 1, 2, 5], N),
        "hospital no": RNG.integers(1, 9, N),
        "date of retiring": RNG.choice(["earlier", "as planned", "later"], N),
        "month": RNG.choice(["Jan", "Feb", "Mar"], N),
    })  # fmt: skip
    assert {name: each.kind for name, each in found.items()} == {
        "hospital": ColumnKind.HEALTH,
        "hospital no": ColumnKind.PLACE,
        "date of retiring": ColumnKind.UNKNOWN,
        "month": ColumnKind.DATE,
    }


def test_numbers_tell_identifiers_from_measurements_and_weights():
    each = np.repeat(np.arange(N // 4), 4)
    found = roles({
        "childid": each,
        "CD8NR": RNG.gamma(3, 2, N).round(4),
        "weight": RNG.lognormal(7, 1, N).round(1),
        "dependents": RNG.integers(0, 6, N),
        "USUBJID": [f"GT{1000 + i}" for i in each],
        "long": (-93 + RNG.random(N)).round(5),
    })  # fmt: skip
    assert {name: each.role for name, each in found.items()} == {
        "childid": Role.IDENTIFIER,
        "CD8NR": Role.SENSITIVE,
        "weight": Role.WEIGHT,
        "dependents": Role.QUASI_IDENTIFIER,
        "USUBJID": Role.IDENTIFIER,
        "long": Role.QUASI_IDENTIFIER,
    }


STATES = RNG.integers(0, 12, N)
HEIGHTS = RNG.normal(170, 10, N).round()
WEIGHTS = RNG.normal(75, 12, N).round(1)
UNDOING = {
    # Sensitive by their names, and each of them would undo what is done to what others know.
    "cancer": ({"region": STATES}, 1000 - 7 * STATES),
    "salary": ({"region": STATES}, [f"grade {s if i % 40 else 0}" for i, s in enumerate(STATES)]),
    "disease": ({"age": AGES}, AGES // 5),
    "bmi": ({"height": HEIGHTS, "kg": WEIGHTS}, (WEIGHTS / (HEIGHTS / 100) ** 2).round(1)),
    "debt": ({"age": AGES, "income": SCHOOL * 1000}, AGES * 50 + SCHOOL * 1000),
}  # fmt: skip


@pytest.mark.parametrize("name", UNDOING)
def test_nothing_that_tells_what_others_know_is_published_exactly(name):
    others, values = UNDOING[name]
    found = roles({**others, name: values, "sex": RNG.integers(0, 2, N)})
    exact = [n for n, each in found.items() if each.role in (Role.SENSITIVE, Role.PLAIN)]
    known = [n for n, each in found.items() if each.role is Role.QUASI_IDENTIFIER]
    assert known
    # Of three of which two tell the third, one alone may be exact.
    assert len({*others, name} & {*exact}) <= max(0, len(others) - 1), (exact, known)


def test_a_sensitive_column_that_tells_nothing_stays_sensitive():
    found = roles({
        "region": STATES,
        "age": AGES,
        "disease": RNG.choice(["flu", "gout", "asthma"], N),
        "salary": RNG.lognormal(10, 1, N).round(),
    })  # fmt: skip
    assert found["disease"].role is found["salary"].role is Role.SENSITIVE


def test_what_is_there_only_for_those_with_a_secret_is_as_secret():
    smoker = RNG.random(N) < 0.3
    ages = RNG.integers(18, 80, N)
    grade = RNG.choice(["a", "b", "c"], N)
    found = roles(
        {
            "age": ages.tolist(),
            "smoke": np.where(smoker, "yes", "no").tolist(),
            "amt": [
                int(a) if s else None for a, s in zip(RNG.integers(1, 40, N), smoker, strict=True)
            ],
            "xq": [str(g) if s else None for g, s in zip(grade, smoker, strict=True)],
            "xz": [str(g) if a > 40 else None for g, a in zip(grade, ages, strict=True)],
        }
    )
    assert {name: found[name].role for name in ("smoke", "amt", "xq")} == dict.fromkeys(
        ("smoke", "amt", "xq"), Role.SENSITIVE
    )
    assert "as secret as that" in found["amt"].reason
    assert found["amt"].known is False
    # Missing for the young says nothing of a secret.
    assert found["xz"].role is Role.QUASI_IDENTIFIER
