"""What is believed of one person, against an adversary who goes through all tables there may be."""

import json
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.decouplings import kind_of
from sfumato.decouplings.base import GroupedTables, LinkedTables
from sfumato.errors import InputError, ParameterError, UnknownColumnError, UnknownValueError
from sfumato.releases.opening import Published, Roles
from sfumato.tasks import explain as task
from tests.verifier.anatomy_releases import write_anatomy

AGES = {"20-29": {20, 25}, "[20, 31)": {20, 25}, "2*": {20, 25}, "31": {31}, "*": {20, 25, 31}}
ZIPS = {"1*": {"11", "12"}, "11": {"11"}, "12": {"12"}, "*": {"11", "12"}}
ILLS, JOBS = ["flu", "gout", "hiv"], ["sales", "law"]
ROW = st.tuples(
    st.sampled_from(sorted(AGES)),
    st.sampled_from(sorted(ZIPS)),
    st.sampled_from([*ILLS, None]),
    st.sampled_from(JOBS),
)
PEOPLE = st.fixed_dictionaries(
    {}, optional={"age": st.sampled_from([20, 25, 31]), "zip": st.sampled_from(["11", "12"])}
)
KNOWS = st.fixed_dictionaries(
    {},
    optional={
        "not": st.lists(st.sampled_from(ILLS), max_size=2, unique=True),
        "is": st.sampled_from([{"job": "sales"}, {"job": "law"}]),
        "prior": st.dictionaries(
            st.sampled_from(ILLS), st.sampled_from([0, 0.001, 0.25, 0.5]), max_size=2
        ),
        "others": st.dictionaries(
            st.sampled_from(ILLS), st.sampled_from([0.001, 0.25, 0.5]), max_size=2
        ),
    },
)
QIS, SENSITIVE = ["age", "zip"], ["ill", "job"]


def own_beliefs(values, knows):
    """How likely each illness was to the adversary, and how much more than among the others."""
    known = [value for value in values if value is not None]
    shares = {value: Fraction(known.count(value), len(known)) for value in set(known)}
    own = put_in(shares, knows.get("prior", {}))
    factors = dict.fromkeys(shares, Fraction(1))
    if knows.get("others"):
        others = put_in(shares, knows["others"])
        factors = {v: own[v] / others[v] if others[v] else Fraction(0) for v in shares}
    out = knows.get("not", ())
    left = 1 - sum(p for v, p in own.items() if v in out)
    allowed = {v: p / left if left else Fraction(0) for v, p in own.items() if v not in out}
    return allowed, factors


def put_in(shares, named):
    """Replace some shares; the others share what is left as before."""
    named = {v: Fraction(p) for v, p in named.items()}
    rest = sum(share for value, share in shares.items() if value not in named)
    left = (1 - sum(named.values())) / rest if rest else 0
    return {value: named.get(value, left * share) for value, share in shares.items()}


def weight_of(ill, job, knows, factors):
    """How likely somebody with these values is the person, as far as they are known."""
    if ill in knows.get("not", ()) or knows.get("is", {}).get("job", job) != job:
        return Fraction(0)
    return Fraction(factors.get(ill, 1))


def normal(weights):
    total = sum(weights.values(), Fraction(0))
    return {value: w / total for value, w in weights.items()} if total else {}


def believed(worlds, knows, factors):
    """Add up the worlds: (how likely, illness, job) of a row that fits."""
    ills, jobs = {}, {}
    for likely, ill, job in worlds:
        weight = likely * weight_of(ill, job, knows, factors)
        if ill is not None:
            ills[ill] = ills.get(ill, 0) + weight
        jobs[job] = jobs.get(job, 0) + weight
    return normal(ills), normal(jobs)


def usable(knows, values):
    """Leave out what nobody has: to know it is refused, and tested elsewhere."""
    found = {key: each for key, each in knows.items() if key != "is"}
    for key, each in found.items():
        kept = [value for value in each if value in values]
        found[key] = kept if key == "not" else {value: each[value] for value in kept}
    if "is" in knows and knows["is"]["job"] in values:
        found["is"] = knows["is"]
    if not found.get("prior"):
        found.pop("others", None)
    return found


def agrees(found, worlds, knows, values):
    prior, factors = own_beliefs(values, knows)
    ills, jobs = believed(worlds, knows, factors)
    assert found.found == bool(jobs)
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    if not found.found:
        assert found.beliefs == ()
        assert "no person in the release fits" in str(found)
        return
    assert sum(place.probability for place in found.places) == pytest.approx(1)
    belief = found.belief("ill")
    assert belief.silent == (not ills)
    for value in set(values) - {None, *JOBS}:
        before, after = belief.of(value)
        assert before == pytest.approx(float(prior.get(value, 0)), abs=1e-12)
        assert after == pytest.approx(float(ills.get(value, 0)), abs=1e-12)
    for value, share in ills.items():
        assert (belief.certain == value) == (share == 1)
    if "is" not in knows:
        told = found.belief("job")
        assert {v: told.of(v)[1] for v in jobs} == pytest.approx(
            {v: float(p) for v, p in jobs.items()}, abs=1e-12
        )
    assert "<svg" in found.svg("ill")


def fits(person, age, zipcode):
    return person.get("age", 20) in (AGES[age] if "age" in person else {20}) and (
        "zip" not in person or person["zip"] in ZIPS[zipcode]
    )


@given(st.lists(ROW, min_size=1, max_size=7), PEOPLE, KNOWS)
def test_a_table_in_one_piece_is_gone_through_row_by_row(rows, person, knows):
    if all(row[2] is None for row in rows):
        rows = [(*rows[0][:2], "flu", rows[0][3]), *rows]
    ills = [row[2] for row in rows]
    knows = usable(knows, {*ills, *(row[3] for row in rows)})
    names = [*QIS, *SENSITIVE]
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    found = sf.explain(table, person, knows=knows, quasi_identifiers=QIS, sensitive=SENSITIVE)
    fitting = [row for row in rows if fits(person, *row[:2])]
    # Rows of stars could be anybody's, and are looked at only if nothing else fits.
    placed = [row for row in fitting if row[:2] != ("*", "*")] or fitting
    agrees(found, [(Fraction(1), ill, job) for *_, ill, job in placed], knows, ills)


@given(
    st.lists(ROW, min_size=1, max_size=5).filter(lambda rows: any(row[2] for row in rows)),
    PEOPLE,
    KNOWS,
)
def test_a_broken_table_is_put_together_in_all_ways(rows, person, knows):
    ills = [row[2] for row in rows]
    knows = usable(knows, {*ills, *(row[3] for row in rows)})
    grouped = GroupedTables.of(FrequencySet.from_rows([*QIS, *SENSITIVE], rows), QIS, SENSITIVE)
    found = sf.explain(grouped, person, knows=knows)
    worlds = []
    for labels in {row[:2] for row in rows}:
        group = [row for row in rows if row[:2] == labels]
        if fits(person, *labels):
            tables = list(permutations(row[2] for row in group))
            worlds += [
                (Fraction(1, len(tables)), ill, row[3])
                for table in tables
                for ill, row in zip(table, group, strict=True)
            ]
    agrees(found, worlds, knows, ills)
    assert found.kind == "break-merge"


EXACT = st.tuples(
    st.sampled_from([20, 25]),
    st.sampled_from(["11", "12"]),
    st.sampled_from(ILLS),
    st.sampled_from(JOBS),
)
PIECES = [
    [["age", "zip"], ["ill"], ["job"]],
    [["age", "ill"], ["zip"], ["job"]],
    [["age", "zip", "ill"], ["zip", "job"]],
    [["age", "zip"], ["ill", "job"]],
]
"""Columns that stand together; the first as in an anatomised release."""


def counted(rows, buckets, piece):
    names = [*QIS, *SENSITIVE]
    cells = [
        (bucket, *(row[names.index(name)] for name in piece), 1)
        for row, bucket in zip(rows, buckets, strict=True)
    ]
    return FrequencySet.from_rows(["bucket", *piece, "count"], cells)


def opened(rows, buckets, pieces, kind):
    tables = LinkedTables(
        tuple(counted(rows, buckets, piece) for piece in pieces), "bucket", "count"
    )
    return Buckets(given=None, named=Roles(QIS, SENSITIVE), name=kind, tables=tables)


@dataclass(frozen=True, eq=False, kw_only=True)
class Buckets(Published):
    """Tables of a kind of release, wherever they came from."""

    name: str
    tables: LinkedTables

    @property
    def kind(self):
        return kind_of(self.name)

    def counts(self, columns):
        return self.tables

    def _sources(self):
        return {}


def put_together(rows, pieces):
    """All tables that a bucket may be of: each piece of its rows in every order."""
    names = [*QIS, *SENSITIVE]
    parts = [[{n: row[names.index(n)] for n in piece} for row in rows] for piece in pieces]
    return [list(zip(*table, strict=True)) for table in product(*map(permutations, parts))]


@given(
    st.lists(EXACT, min_size=1, max_size=5),
    st.data(),
    PEOPLE,
    KNOWS,
    st.sampled_from(PIECES),
    st.sampled_from(["anatomy", "slicing"]),
)
def test_buckets_are_put_together_in_all_ways(rows, data, person, knows, pieces, kind):
    # No bucket has more than three people: there are 6 * 6 * 6 tables of those.
    buckets = data.draw(st.permutations([1, 1, 1, 2, 2]))[: len(rows)]
    ills = [row[2] for row in rows]
    knows = usable(knows, {*ills, *(row[3] for row in rows)})
    with pytest.MonkeyPatch.context() as patch:
        release = opened(rows, buckets, pieces, kind)
        patch.setattr(task, "open_release", lambda *_, **__: release)
        found = sf.explain(None, person, knows=knows)
    worlds = []
    for bucket in set(buckets):
        members = [row for row, b in zip(rows, buckets, strict=True) if b == bucket]
        tables = put_together(members, pieces)
        likely = Fraction(1, len(tables))
        for row in (row for table in tables for row in table):
            if all(part.get(n, value) == value for part in row for n, value in person.items()):
                joined = {name: value for part in row for name, value in part.items()}
                worlds.append((likely, joined["ill"], joined["job"]))
    agrees(found, worlds, knows, ills)
    assert all(set(place.labels) == {"bucket"} for place in found.places)


PRINTED = [
    *[("240**", "3*", "*", "Viral Infection")] * 4,
    *[("240**", "<30", "*", "Hepatitis")] * 2,
    *[("240**", "<30", "*", "Headache")] * 2,
    *[("2596*", ">=40", "*", "Heart Disease")] * 2,
    *[("2596*", ">=40", "*", "Cancer")] * 2,
]
COLUMNS = ["zipcode", "age", "nationality", "condition"]
ROLES = {"quasi_identifiers": COLUMNS[:3], "sensitive": COLUMNS[3:]}
LIZA = {"age": 41, "zipcode": 25961, "nationality": "Japanese"}


def printed():
    return pa.table(dict(zip(COLUMNS, map(list, zip(*PRINTED, strict=True)), strict=True)))


def test_the_woman_known_not_to_have_heart_disease_has_cancer():
    found = sf.explain(printed(), LIZA, knows={"not": "Heart Disease"}, **ROLES)
    assert found.belief().certain == "Cancer"
    assert found.belief().of("Cancer") == (pytest.approx(1 / 5), 1.0)
    assert found.places[0].labels == {"zipcode": "2596*", "age": ">=40", "nationality": "*"}
    assert "fits 1 of 3 classes, with 4 of 12 people" in found.where
    without = sf.explain(printed(), LIZA, **ROLES)
    assert without.belief().of("Cancer")[1] == without.belief().of("Heart Disease")[1] == 0.5
    assert "most likely Cancer or Heart Disease: 50 % each" in str(without)


def test_what_was_held_unlikely_does_not_change_what_a_class_shows():
    """95 of 100 have hiv: the rate of the public was true of all of them, and is not now."""
    ills = ["hiv"] * 95 + ["flu"] * 5 + ["hiv"] * 45 + ["flu"] * 55
    ages = ["30-39"] * 100 + ["40-49"] * 100
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    table = pa.table({"age": ages, "ill": ills})
    for person in ({"age": 35}, {"age": "30-39"}):
        belief = sf.explain(table, person, knows={"prior": {"hiv": 0.001}}, **roles).belief()
        assert belief.of("hiv") == (pytest.approx(0.001), pytest.approx(0.95))
    everybody = pa.table({"age": ages, "ill": ["hiv"] * 200})
    belief = sf.explain(everybody, {"age": 35}, knows={"prior": {"hiv": 0.001}}, **roles).belief()
    assert belief.of("hiv") == (0.001, 1.0)
    assert "before the release that was <1 % likely" in str(belief)


def test_what_is_rare_among_such_people_and_not_among_others_is_hardly_believed():
    knows = {"prior": {"Heart Disease": 0.001}, "others": {"Heart Disease": 2 / 12}}
    found = sf.explain(printed(), LIZA, knows=knows, **ROLES)
    # Two of twelve have either. Heart disease: 0.001; cancer keeps its share of what is left.
    cancer = Fraction(999, 1000) * Fraction(2, 10)
    expected = cancer / (cancer + Fraction(1, 1000))
    assert found.belief().of("Cancer")[1] == pytest.approx(float(expected))
    assert found.belief().certain is None


def test_the_neighbour_has_a_viral_infection():
    found = sf.explain(printed(), {"age": 39, "zipcode": 24064}, **ROLES)
    assert found.belief("condition").certain == "Viral Infection"
    assert "It is certain that condition is Viral Infection" in str(found)


def test_the_patient_in_the_driving_record_has_hiv():
    found = sf.explain(
        sf.samples.table("hospital"),
        {"zipcode": 24078, "age": 26, "nationality": "Indian"},
        quasi_identifiers=["zipcode", "age", "gender", "nationality"],
        sensitive=["condition"],
    )
    assert found.belief().certain == "HIV"


@pytest.fixture(scope="module", params=["full-domain", "regional", "mondrian", "top-down"])
def patients(tmp_path_factory, request):
    """The twelve patients, released by hierarchies of the policy's own names."""
    places = {"Asia": ["Chinese", "Indian", "Japanese"], "West": ["American", "Canadian"]}
    columns = {
        "zipcode": {"role": "quasi-identifier", "hierarchy": {"kind": "masking"}},
        "age": {
            "role": "quasi-identifier",
            "hierarchy": {"kind": "intervals", "bounds": [[30, 40]]},
        },
        "nationality": {
            "role": "quasi-identifier",
            "hierarchy": {"kind": "taxonomy", "tree": {**places, "East": ["Russian"]}},
        },
        "condition": "sensitive",
    }
    models = [{"model": "k-anonymity", "k": 2}]
    policy = sf.Policy(columns=columns, models=models, method=request.param)
    folder = tmp_path_factory.mktemp("explained") / "release"
    sf.anonymize(sf.samples.table("homogeneity"), policy, output=folder)
    return folder, policy


def test_labels_of_the_policy_are_found(patients):
    folder, policy = patients
    table = sf.samples.table("homogeneity").to_pylist()
    for row in table:
        person = {name: row[name] for name in COLUMNS[:3]}
        found = sf.explain(folder, person, policy=policy)
        assert found.found
        assert found.belief().of(row["condition"])[1] > 0


def test_whoever_is_not_in_the_data_is_said_not_to_be(patients):
    folder, policy = patients
    with pytest.raises(UnknownValueError, match=r"no value 'Japanes' in .*Did you mean 'Japanese'"):
        sf.explain(folder, {"nationality": "Japanes"}, policy=policy)
    original = sf.samples.table("homogeneity")
    with pytest.raises(UnknownValueError, match="Did you mean 'Russian'"):
        sf.explain(folder, {"nationality": "Rusian"}, data=original)
    stranger = sf.explain(printed(), {"zipcode": 99999}, **ROLES)
    assert "not in the data, was suppressed, or a value is misspelt" in str(stranger)
    nobody = sf.explain(printed(), {"age": 41, "zipcode": 24064}, **ROLES)
    assert "Each of the values occurs, but no person has all of them together" in str(nobody)
    with pytest.raises(UnknownColumnError, match="There are none"):
        nobody.belief()


def test_what_cannot_be_is_said_to_contradict_the_release():
    knows = {"not": ["Heart Disease", "Cancer"]}
    found = sf.explain(printed(), LIZA, knows=knows, **ROLES)
    assert not found.found
    assert "the release contradicts it" in str(found)


def test_the_printed_buckets(tmp_path):
    folder = write_anatomy(tmp_path / "anatomy")
    found = sf.explain(folder, {"zip": 47677, "age": 29, "sex": "F"})
    assert found.belief("disease").of("OvarianCancer")[1] == pytest.approx(2 / 3)
    assert [place.labels for place in found.places] == [{"bucket": "1"}]
    men = sf.explain(folder, {"sex": "M"})
    # One man in the first bucket, two in the second, three in the third.
    assert [place.probability for place in men.places] == pytest.approx([3 / 6, 2 / 6, 1 / 6])


@pytest.mark.parametrize("method", ["break-merge", "anatomy", "slicing"])
def test_a_folder_tells_what_the_release_in_memory_does(tmp_path, method):
    names = ["zip", "age", "sex", "disease"]
    rows = [
        (f"4{i % 3}", 20 + i % 4, "mf"[i % 2], ["flu", "gout", "hiv"][i % 3]) for i in range(24)
    ]
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    settings = {} if method == "break-merge" else {"l": 2}
    release = sf.decouple(
        table,
        getattr(sf.decouplings, {"break-merge": "BreakMerge"}.get(method, method.title()))(
            **settings
        ),
        quasi_identifiers=names[:3],
        sensitive=names[3:],
        output=tmp_path / "parts",
    )
    person = {"age": 21, "sex": "f"}
    here, there = sf.explain(release, person), sf.explain(tmp_path / "parts", person)
    assert here.kind == there.kind == method
    assert here.beliefs == there.beliefs
    assert here.found


def test_missing_values_are_nobodys_illness():
    table = pa.table({"age": ["3*", "3*", "4*"], "ill": [None, "flu", None]})
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    found = sf.explain(table, {"age": 33}, **roles)
    assert (found.belief().certain, found.belief().missing) == ("flu", 0.5)
    silent = sf.explain(table, {"age": 44}, **roles)
    assert silent.belief().silent
    assert "says nothing about ill" in str(silent)


def test_a_missing_label_hides_a_person_only_if_the_policy_says_so():
    table = pa.table({"age": ["3*", None], "ill": ["flu", "gout"]})
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    assert sf.explain(table, {"age": 33}, **roles).belief().certain == "flu"
    assert sf.explain(table, {"age": None}, **roles).belief().certain == "gout"
    columns = {"age": "quasi-identifier", "ill": "sensitive"}
    models = [{"model": "k-anonymity", "k": 2}]
    policy = sf.Policy(columns=columns, models=models, missing="matches-any")
    assert sf.explain(table, {"age": 33}, policy=policy).belief().certain is None


def test_names_and_values_in_a_page_are_escaped():
    table = pa.table({"<b>": ["1", "1"], "ill": ["<i>flu</i>", "gout"]})
    roles = {"quasi_identifiers": ["<b>"], "sensitive": ["ill"]}
    page = sf.explain(table, {"<b>": "1"}, **roles)._repr_html_()
    assert "<b>" not in page
    assert "<i>" not in page
    assert "&lt;b&gt;=1" in page


def test_an_answer_can_be_read():
    found = sf.explain(printed(), {}, **ROLES)
    assert "A person of whom nothing is known fits 3 of 3 classes" in str(found)
    assert "shows nothing about condition beyond what holds for all people" in str(found)
    assert repr(found) == "<Explanation of a person>"
    assert str(found.places[0]).endswith("(4 people)")


@pytest.mark.parametrize(
    ("person", "knows", "error", "message"),
    [
        ({"agee": 41}, None, UnknownColumnError, "Did you mean 'age'"),
        ({"condition": "Cancer"}, None, ParameterError, "'condition' is sensitive"),
        ([("age", 41)], None, ParameterError, "columns with a value each"),
        (LIZA, {"not": "Hart Disease"}, InputError, "Did you mean 'Heart Disease'"),
        (
            LIZA,
            {"not": {"condition": "Hart Disease"}},
            InputError,
            "condition: no person has 'Hart",
        ),
        (LIZA, {"not": {"conditon": "Cancer"}}, UnknownColumnError, "Did you mean 'condition'"),
        (LIZA, {"nt": "Cancer"}, ParameterError, "Did you mean 'not'"),
        (LIZA, "Cancer", ParameterError, "a mapping"),
        (LIZA, {"is": "Cancer"}, ParameterError, "a mapping of columns to values"),
        (LIZA, {"is": {"condition": "Cancer"}}, ParameterError, "known already"),
        (LIZA, {"prior": "Cancer"}, ParameterError, "a mapping of values to shares"),
        (LIZA, {"others": {"Cancer": 0.2}}, ParameterError, "beside those of the person"),
        (
            LIZA,
            {"prior": {"Cancer": 0.1}, "others": {"Cancer": 0}},
            ParameterError,
            "shares above 0",
        ),
        (LIZA, {"prior": {"Cancer": 2}}, ParameterError, "at most 1"),
        (LIZA, {"prior": {"Cancer": 0.7, "Headache": 0.7}}, ParameterError, "sum to 1"),
    ],
)
def test_mistakes_are_answered(person, knows, error, message):
    with pytest.raises(error, match=message):
        sf.explain(printed(), person, knows=knows, **ROLES)


def test_a_value_of_two_columns_has_to_be_named():
    table = pa.table({"age": ["3*"], "own": ["flu"], "mother": ["flu"]})
    roles = {"quasi_identifiers": ["age"], "sensitive": ["own", "mother"]}
    with pytest.raises(InputError, match="'own=flu'"):
        sf.explain(table, {"age": 33}, knows={"not": "flu"}, **roles)
    found = sf.explain(table, {"age": 33}, knows={"not": "own=flu"}, **roles)
    assert found.knows == "not own=flu"
    asked = sf.explain(table, {"age": 33}, column="mother", **roles)
    assert [belief.column for belief in asked.beliefs] == ["mother"]
    with pytest.raises(UnknownColumnError, match="Did you mean 'mother'"):
        sf.explain(table, {"age": 33}, column="mothr", **roles)


def test_a_table_without_sensitive_columns_tells_nothing():
    with pytest.raises(ParameterError, match="sensitive"):
        sf.explain(printed(), LIZA, quasi_identifiers=COLUMNS[:3])
