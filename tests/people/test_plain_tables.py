"""The verdict on a table without a manifest, in which people have several rows."""

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given

import sfumato as sf
from sfumato.errors import InputError, ParameterError, PolicyError
from tests.people.test_counting import NAMES, ROWS
from tests.people.textbook import classes_of, most_uneven, people_in

AS_IT_IS = (0, 0)


def table_of(rows) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(NAMES, map(list, columns), strict=True)))


def policy_of(**settings) -> sf.Policy:
    roles = {"who": "identifier", "letter": "quasi-identifier", "digit": "quasi-identifier"}
    models = [sf.models.KAnonymity(2), sf.models.DistinctLDiversity("ill", l=2)]
    given = {"columns": {**roles, "ill": "sensitive"}, "models": models, "person": "who"}
    return sf.Policy(**{**given, **settings})


@pytest.mark.usefixtures("patience")
@given(ROWS)
def test_people_are_counted_wherever_the_table_says_whose_rows_are(rows):
    table, classes = table_of(rows), classes_of(rows, AS_IT_IS).values()
    smallest = min(people_in(mine) for mine in classes)
    values = min(len(most_uneven(mine)) for mine in classes)
    several = len({row[0] for row in rows}) < len(rows)
    without = table.drop(["who"])
    found = [sf.verify(table, policy_of(), attacks=False)]
    found += [sf.verify(without, policy_of(), attacks=False, people_file=table)]
    for one in found:
        assert one["k-anonymity"].found == {"k": smallest}
        assert one["distinct-l-diversity"].found == {"l": values}
        assert one["identifiers"].status == "holds"
    assert ("people" in [check.name for check in found[0].checks]) == several
    # What tells people apart may not be published with the rest, and the answer says so.
    assert found[0].answer != "yes"
    assert found[0].apart == ("who",)
    assert not found[1].apart


ROWS_OF_PEOPLE = [(n, "a", "0", ill) for n in range(6) for ill in ("flu", "gout")]


def test_attacks_count_people_and_find_the_one_who_is_alone():
    alone = [(9, "c", "1", ill) for ill in ("flu", "gout", "hiv", "flu", "gout", "hiv")]
    table = table_of(ROWS_OF_PEOPLE + alone)
    by_rows = sf.verify(table, policy_of(person={"rows": "each row is a visit"}))
    assert by_rows.attack("linking").people == 0
    found = sf.verify(table, policy_of())
    assert (found.attack("linking").people, found.attack("linking").of) == (1, 7)
    assert found["k-anonymity"].found == {"k": 1}
    assert found.answer == "no"


def test_a_file_beside_it_says_whose_the_rows_are(tmp_path):
    table = table_of(ROWS_OF_PEOPLE)
    pa_csv.write_csv(table.drop(["who"]), tmp_path / "public.csv")
    pa_csv.write_csv(table, tmp_path / "all.csv")
    public, beside = tmp_path / "public.csv", tmp_path / "all.csv"
    assert sf.verify(public, policy_of(), people_file=beside)["k-anonymity"].found == {"k": 6}
    other = table_of([*ROWS_OF_PEOPLE[1:], (7, "b", "0", "flu")])
    with pytest.raises(InputError, match="whose the rows are cannot be used"):
        sf.verify(public, policy_of(), people_file=other)
    with pytest.raises(InputError, match="no column 'who'"):
        sf.verify(public, policy_of(), people_file=table.drop(["who"]))
    with pytest.raises(ParameterError, match="nothing here says whose the rows are"):
        sf.verify(public, policy_of())
    with pytest.raises(ParameterError, match="nothing here says that people are counted"):
        sf.verify(public, policy_of(person=None), people_file=beside)


def test_what_cannot_be_counted_is_refused():
    table = table_of(ROWS_OF_PEOPLE)
    columns = {**policy_of().columns, "digit": "sensitive"}
    numbers = policy_of(models=[sf.models.KEAnonymity("digit", k=2, e=1)], columns=columns)
    with pytest.raises(PolicyError, match="one value per person"):
        sf.verify(table, numbers)
    unknown = pa.table(
        {**{n: table[n] for n in NAMES}, "who": [None, *table["who"][1:].to_pylist()]}
    )
    with pytest.raises(InputError, match="1 of 12 rows have no 'who'"):
        sf.verify(unknown, policy_of())
    with pytest.raises(PolicyError, match="Say what a person is"):
        sf.verify(table, policy_of(person=None))


def test_roles_that_are_named_win_over_those_of_the_policy():
    table = table_of(ROWS_OF_PEOPLE)
    found = sf.verify(table, policy_of(), quasi_identifiers=["letter"], sensitive=["ill"])
    assert found["k-anonymity"].found == {"k": 6}
    assert found.attack("linking").of == 6
    assert sf.detect(table, policy=policy_of(), quasi_identifiers=["letter"]).people == 6
    with pytest.raises(ParameterError, match="tells people apart"):
        sf.detect(table, policy=policy_of(), quasi_identifiers=["who", "letter"])
