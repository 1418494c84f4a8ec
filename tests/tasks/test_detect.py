"""Detect: from any table or release to findings, and from findings to a better release."""

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InfeasibleError, InputError, ParameterError, PolicyError
from sfumato.harm import HarmRule, Level
from sfumato.models import AlphaKAnonymity, KAnonymity, KMap
from sfumato.tasks.detect import draw_findings, table_svg
from tests.networks.worked import COLUMNS as CENSUS
from tests.networks.worked import ROWS


def table_of(names, rows) -> pa.Table:
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})


@pytest.fixture
def census():
    return table_of(CENSUS, ROWS)


def leaky(rows: int = 400, seed: int = 3) -> pa.Table:
    """Ages tell the illness in the twenties and nowhere else."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, rows)
    ill = np.where(
        (age < 30) & (rng.random(rows) < 0.95), "acne", rng.choice(["flu", "gout", "hiv"], rows)
    )
    return pa.table({"age": age, "sex": rng.choice(["f", "m"], rows), "ill": ill})


def policy(**more) -> sf.Policy:
    return sf.Policy(
        columns={
            "age": {
                "role": "quasi-identifier",
                "hierarchy": sf.hierarchy.Intervals(widths=[5, 10, 20]),
            },
            "sex": "quasi-identifier",
            "ill": "sensitive",
        },
        models=[KAnonymity(4)],
        **more,
    )


class TestTheTenRowTable:
    def test_three_networks(self, census):
        found = sf.detect(census, quasi_identifiers=CENSUS[:3], sensitive=CENSUS[3:], support=1)
        assert set(found.networks) == {"quasi-identifiers", "sensitive", "all"}
        assert found.networks["quasi-identifiers"].parents["Zipcode"] == ("Age",)
        assert found.networks["all"].parents["Government"] == (
            "Zipcode",
            "Marital-Status",
            "Salary",
        )

    def test_what_a_neighbour_of_a_state_employee_learns(self, census):
        found = sf.detect(census, quasi_identifiers=CENSUS[:3], sensitive=CENSUS[3:], support=1)
        believed = found.infer({"Government": "State-gov", "Age": "[30-50]"})
        married = believed["Marital-Status"]
        assert married.support == 2
        assert married.counted["Never-Married"] == 1
        assert married.prior["Never-Married"] == pytest.approx(0.3)
        assert sum(married.network.values()) == pytest.approx(1)

    def test_it_restates_the_generalisation_apart(self, census):
        found = sf.detect(census, quasi_identifiers=CENSUS[:3], sensitive=CENSUS[3:], support=1)
        assert all(rule.told.name in CENSUS[:3] for rule in found.restatements)
        assert all(rule.told.name in CENSUS[3:] for rule in found.leaks)

    def test_advice_names_what_to_decouple(self, census):
        found = sf.detect(census, quasi_identifiers=CENSUS[:3], sensitive=CENSUS[3:], support=1)
        assert found.advice().decouple == CENSUS[3:]

    def test_as_the_sources_ran_it(self, census):
        found = sf.detect(
            census,
            quasi_identifiers=CENSUS[:3],
            sensitive=CENSUS[3:],
            support=1,
            learner="weka-ics",
            prior=0.5,
        )
        table = found.tables["sensitive"]["Marital-Status"]
        assert table.row({"Government": "State-gov"})["Never-Married"] == pytest.approx(0.625)


class TestWhatIsGiven:
    def test_a_release_knows_its_roles_and_its_k(self, tmp_path):
        release = sf.anonymize(leaky(), policy(), output=tmp_path / "release")
        for what in (release, tmp_path / "release", str(tmp_path / "release")):
            found = sf.detect(what)
            assert found.quasi_identifiers == ("age", "sex")
            assert found.sensitive == ("ill",)
            assert found.support == 4
        assert sf.detect(sf.anonymize(leaky(), policy())).support == 4

    def test_the_publisher_says_what_is_high(self, tmp_path):
        asked = policy(risk_levels={"moderate": 0.1, "high": 0.11, "very_high": 0.12})
        release = sf.anonymize(leaky(), asked, output=tmp_path / "release")
        for what in (release, tmp_path / "release"):
            assert sf.detect(what).levels == asked.risk_levels
        assert sf.detect(leaky(), policy=asked).levels == asked.risk_levels
        own = sf.leaks.RiskLevels(high=0.3)
        assert sf.detect(release, levels=own).levels == own

    def test_a_policy_gives_the_roles(self):
        assert sf.detect(leaky(), policy=policy()).sensitive == ("ill",)

    def test_without_roles_it_says_what_to_give(self, census):
        with pytest.raises(ParameterError, match=r"Give a release, a policy .*, or the roles"):
            sf.detect(census)

    def test_a_column_cannot_have_two_roles(self, census):
        with pytest.raises(ParameterError, match="cannot be both"):
            sf.detect(census, quasi_identifiers=["Age"], sensitive=["Age"])

    @pytest.mark.parametrize("alpha", [0, 1, -0.5, 2])
    def test_alpha_is_a_share(self, census, alpha):
        with pytest.raises(ParameterError, match="alpha"):
            sf.detect(census, quasi_identifiers=["Age"], sensitive=["Salary"], alpha=alpha)

    def test_an_unknown_learner_is_named(self, census):
        with pytest.raises(sf.SfumatoError, match="weka-ics"):
            sf.detect(census, quasi_identifiers=["Age"], sensitive=["Salary"], learner="weka")

    def test_an_unknown_column_is_named(self, census):
        with pytest.raises(sf.SfumatoError, match="Did you mean 'Salary'"):
            sf.detect(census, quasi_identifiers=["Age"], sensitive=["Salry"])


class TestOddTables:
    def test_constant_columns_are_left_out(self):
        rows = [("x", "a", "flu"), ("x", "b", "gout")] * 6
        found = sf.detect(
            table_of(["c", "q", "s"], rows), quasi_identifiers=["c", "q"], sensitive=["s"]
        )
        assert "c" not in found.network.columns
        assert any("'c' has one value only" in note for note in found.notes)

    def test_an_identifier_left_in_is_named(self):
        rows = [(str(i), "ab"[i % 2], "flu") for i in range(9)]
        found = sf.detect(
            table_of(["id", "q", "s"], rows), quasi_identifiers=["id", "q"], sensitive=["s"]
        )
        assert any("'id'" in note and "identifier left in" in note for note in found.notes)
        assert "id" not in found.network.columns

    def test_one_row(self):
        found = sf.detect(
            table_of(["q", "s"], [("a", "flu")]), quasi_identifiers=["q"], sensitive=["s"]
        )
        assert found.rules == ()
        assert any("one row only" in note for note in found.notes)

    @pytest.mark.usefixtures("patience")
    def test_more_columns_than_rows(self):
        names = [f"c{i}" for i in range(12)]
        rows = [tuple(f"{(r * 7 + c * 3) % 2}" for c in range(12)) for r in range(5)]
        found = sf.detect(table_of(names, rows), quasi_identifiers=names[:6], sensitive=names[6:])
        assert found.network.acyclic

    def test_evidence_that_never_occurs(self, census):
        found = sf.detect(census, quasi_identifiers=CENSUS[:3], sensitive=CENSUS[3:], support=1)
        with pytest.raises(InputError, match=r"Age|Zipcode"):
            found.infer({"Age": "[30-50]", "Zipcode": "[24000-58000]"})

    def test_missing_values_are_values(self):
        rows = [("a", None), ("a", None), ("b", "flu"), ("b", "flu"), (None, "gout")] * 4
        found = sf.detect(table_of(["q", "s"], rows), quasi_identifiers=["q"], sensitive=["s"])
        assert found.counts.total == 20
        # "Unknown" is not something to learn about a person, but it is something to know.
        assert all(fact.told[1] is not None for fact in found.facts())

    def test_no_sensitive_column(self):
        found = sf.detect(
            table_of(["q", "r"], [("a", "x")] * 5 + [("b", "y")] * 5), quasi_identifiers=["q", "r"]
        )
        assert any("no column is sensitive" in note for note in found.notes)
        assert found.leaks == ()


@pytest.mark.usefixtures("patience")
def test_independent_tables_raise_no_alarm():
    """On 200 seeded tables without any dependency at most one in twenty has a rule QI → S."""
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows = 300
        table = pa.table(
            {
                "age": rng.choice(["20s", "30s", "40s", "50s"], rows),
                "zip": rng.choice(["1", "2", "3"], rows),
                "ill": rng.choice(["flu", "gout", "hiv", "none"], rows, p=[0.2, 0.1, 0.1, 0.6]),
                "pay": rng.choice(["low", "high"], rows, p=[0.7, 0.3]),
            }
        )
        found = sf.detect(table, quasi_identifiers=["age", "zip"], sensitive=["ill", "pay"])
        alarms += any(
            column.name in ("age", "zip") for rule in found.leaks for column in rule.known
        )
    assert alarms <= 10, f"{alarms} of 200 independent tables have rules"


def test_what_was_as_likely_before_is_no_finding():
    """No tumour: 98.2 % of those whose cough is unknown, 97.7 % of all. Nobody is harmed."""
    rows = [("*", "0")] * 1443 + [("*", "1")] * 26 + [("yes", "0")] * 148 + [("yes", "1")] * 12
    found = sf.detect(
        table_of(["cough", "tumor"], rows), quasi_identifiers=["cough"], sensitive=["tumor"]
    )
    assert found.leaks == ()
    assert found.exposed == 0
    assert found.advice().generalise == ()
    assert found.facts() == []


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), min_size=1, max_size=14))
def test_what_a_class_alone_tells_is_found_however_few_they_are(rows):
    found = sf.detect(
        table_of(["zip", "ill"], rows), quasi_identifiers=["zip"], sensitive=["ill"], support=50
    )
    exposed, told = 0, set()
    for zip_code in {row[0] for row in rows}:
        mine = [row[1] for row in rows if row[0] == zip_code]
        for ill in set(mine):
            prior = sum(row[1] == ill for row in rows) / len(rows)
            level = HarmRule().levels(np.array([prior]), np.array([mine.count(ill) / len(mine)]))[0]
            if level >= Level.HIGH and mine.count(ill) / len(mine) > 0.5:
                exposed += len(mine)
                told.add(ill)
    assert found.exposed == exposed
    # The worst are shown, and of people who are alone in their class one.
    assert {fact.told[1] for fact in found.harmful_facts} <= told
    assert bool(found.harmful_facts) is bool(told)
    assert found.advice().generalise == (("ill",) if told else ())
    assert told <= {*found.advice().only.get("ill", ())}


ROLES = {"quasi_identifiers": CENSUS[:3], "sensitive": CENSUS[3:]}


class TestFacts:
    def test_the_headline_leak_is_found_without_asking_for_it(self, census):
        found = sf.detect(census, **ROLES)
        [fact] = [f for f in found.facts() if f.known == (("Government", "State-gov"),)]
        assert fact.told == ("Marital-Status", "Never-Married")
        assert fact.also == (("Salary", "≤50K"),)
        assert (fact.people, fact.support, fact.posterior) == (2, 2, 1.0)
        assert found.advice().decouple == CENSUS[3:]
        assert "facts reveal" in found.headline
        assert "State-gov" in str(found)

    def test_they_are_judged_by_what_was_believed_before(self, census):
        found = sf.detect(census, **ROLES)
        assert all(fact.level > 0 for fact in found.facts())
        assert all(fact.posterior > fact.prior for fact in found.facts())

    def test_what_a_policy_calls_harmless_is_no_finding(self, census):
        def asked(**more):
            columns = dict.fromkeys(CENSUS[:3], "quasi-identifier")
            columns |= {name: {"role": "sensitive"} for name in CENSUS[3:]}
            columns["Salary"] |= more
            return sf.Policy(columns=columns, models=[KAnonymity(5)])

        def told(policy):
            facts = sf.detect(census, policy=policy).facts()
            return {fact.told[1] for fact in facts if fact.told[0] == "Salary"}

        assert told(asked()) == {">50K", "≤50K"}
        assert told(asked(harmless=["≤50K"])) == {">50K"}

    def test_a_decoupled_release_has_no_rows_to_count(self, census):
        found = sf.detect(sf.decouple(census, **ROLES))
        assert found.counted_facts is None
        assert found.harmful_facts == []


def test_shuffled_columns_raise_no_alarm():
    rng = np.random.default_rng(1)
    table = leaky(2000)
    assert sf.detect(table, policy=policy()).leaks
    shuffled = table.set_column(2, "ill", table["ill"].take(pa.array(rng.permutation(2000))))
    assert not sf.detect(shuffled, policy=policy()).leaks


class TestRefine:
    def leak(self, release):
        return sf.detect(release, alpha=0.6)

    @pytest.mark.usefixtures("patience")
    @pytest.mark.parametrize(
        "method", ["full-domain", "regional", "top-down", "mondrian", "bottom-up", "mdav"]
    )
    def test_it_mends_what_leaks_and_leaves_the_rest(self, method):
        table = leaky()
        release = sf.anonymize(table, policy(), method=method)
        found = self.leak(release)
        assert found.advice().generalise == ("ill",)
        refined = sf.anonymize(table, policy(), method=method, refine=found)
        assert refined.verdict.holds
        assert refined.manifest.method["refined"] == [{"column": "ill", "alpha": 0.6}]
        assert "alpha-k-anonymity" in {m.model for m in refined.manifest.models}
        again = self.leak(refined)
        assert again.advice().generalise == ()

        def classes(given):
            rows = zip(*(given.table[c].to_pylist() for c in ("age", "sex", "ill")), strict=True)
            found = {}
            for *group, ill in rows:
                found.setdefault(tuple(group), []).append(ill)
            return {key: sorted(values) for key, values in found.items()}

        before, after = classes(release), classes(refined)
        safe = {
            key: values
            for key, values in before.items()
            if all(values.count(v) <= 0.6 * len(values) for v in values)
        }
        kept = sum(after.get(key) == values for key, values in safe.items())
        assert kept >= 0.5 * len(safe)

    def test_it_never_costs_a_row(self):
        table = leaky()
        found = self.leak(sf.anonymize(table, policy()))
        refined = sf.anonymize(table, policy(), refine=found)
        assert refined.table.num_rows == table.num_rows

    def test_nothing_to_refine_changes_nothing(self):
        table = pa.table(
            {"age": [30, 31] * 20, "sex": ["f", "m"] * 20, "ill": ["a"] * 20 + ["b"] * 20}
        )
        found = sf.detect(table, policy=policy())
        assert found.advice().generalise == ()
        plain = sf.anonymize(table, policy(), refine=found)
        assert plain.levels == sf.anonymize(table, policy()).levels

    def test_what_the_whole_table_tells_cannot_be_mended(self):
        table = pa.table(
            {
                "age": list(range(20, 60)),
                "sex": ["f", "m"] * 20,
                "ill": ["flu"] * 36 + ["gout"] * 4,
            }
        )
        base = sf.detect(table, policy=policy(), support=1)
        from sfumato.leaks import Advice, Findings

        class Insisting(Findings):
            def advice(self):
                return Advice((), ("ill",), ())

        insisting = Insisting(**{**base.__dict__, "alpha": 0.5})
        with pytest.raises(InfeasibleError, match="alpha-k-anonymity of ill"):
            sf.anonymize(table, policy(), refine=insisting)

    def test_not_with_a_population(self, tmp_path):
        people = tmp_path / "people.csv"
        people.write_text("age,sex\n30,f\n")
        asked = sf.Policy(columns=policy().columns, models=[KMap(2)], population=str(people))
        found = self.leak(sf.anonymize(leaky(), policy()))
        with pytest.raises(PolicyError, match="decouple"):
            sf.anonymize(leaky(), asked, refine=found)

    def test_what_is_asked_already_is_not_asked_twice(self):
        asked = policy().replace(models=(KAnonymity(4), AlphaKAnonymity("ill", alpha=0.6, k=1)))
        found = self.leak(sf.anonymize(leaky(), policy()))
        refined = sf.anonymize(leaky(), asked, refine=found)
        assert len(refined.manifest.models) == 2


BELIEF = """\
variable Government {{ type discrete [ 2 ] {{ State-gov, Private }}; }}
variable Salary {{ type discrete [ 2 ] {{ "{low}", ">50K" }}; }}
probability ( Government ) {{ table 0.5, 0.5; }}
probability ( Salary | Government ) {{ (State-gov) 0.2, 0.8; (Private) 0.9, 0.1; }}
"""


class TestANetworkThatIsGiven:
    @pytest.fixture
    def drawn(self, census, tmp_path):
        path = tmp_path / "net.bif"
        path.write_text(BELIEF.format(low="\u226450K"), encoding="utf-8")
        return sf.detect(
            census, quasi_identifiers=CENSUS[:3], sensitive=CENSUS[3:], support=1, network=path
        )

    def test_tables_are_counted_from_the_rows(self, drawn):
        table = drawn.tables["all"]["Salary"]
        assert table.row({"Government": "State-gov"})["\u226450K"] == 1.0
        assert {rule.columns for rule in drawn.leaks} == {"Government \u2192 Salary"}
        assert drawn.learner is None

    def test_its_probabilities_stand_beside_and_change_no_finding(self, drawn, census):
        known = {"Government": "State-gov"}
        salary = drawn.infer(known)["Salary"]
        assert salary.given == {"\u226450K": 0.2, ">50K": 0.8}
        assert salary.network["\u226450K"] == salary.counted["\u226450K"] == 1.0
        assert "by the given network" in str(salary.table())
        plain = sf.detect(
            census,
            quasi_identifiers=CENSUS[:3],
            sensitive=CENSUS[3:],
            support=1,
            network="Government -> Salary",
        )
        assert plain.infer(known)["Salary"].given is None
        assert plain.to_dict() == drawn.to_dict()

    def test_a_value_it_does_not_know_leaves_it_silent(self, drawn):
        assert drawn.infer({"Government": "Local-gov"})["Salary"].given is None
        # Of columns that it does not have it says what it said without them.
        assert drawn.infer({"Age": "[30-50]"})["Salary"].given == pytest.approx(
            {"\u226450K": 0.55, ">50K": 0.45}
        )

    def test_facts_do_not_depend_on_the_network(self, drawn, census):
        learned = sf.detect(census, quasi_identifiers=CENSUS[:3], sensitive=CENSUS[3:], support=1)
        empty = sf.detect(
            census, quasi_identifiers=CENSUS[:3], sensitive=CENSUS[3:], support=1, network=[]
        )
        assert not empty.rules
        assert drawn.harmful_facts == learned.harmful_facts == empty.harmful_facts
        assert empty.exposed == 10

    def test_an_arrow_to_a_quasi_identifier_is_read_backwards(self, census):
        found = sf.detect(
            census,
            quasi_identifiers=CENSUS[:3],
            sensitive=CENSUS[3:],
            support=1,
            network="Government -> Gender",
        )
        assert {rule.columns for rule in found.rules} == {
            "Government \u2192 Gender",
            "Gender \u2192 Government",
        }

    def test_columns_that_could_not_be_learned_from_stay_if_they_are_named(self):
        table = pa.table({"one": ["x"] * 6, "age": ["a", "b"] * 3, "ill": ["p", "q"] * 3})
        roles = {"quasi_identifiers": ["one", "age"], "sensitive": ["ill"]}
        assert sf.detect(table, **roles).network.columns == ("age", "ill")
        named = sf.detect(table, **roles, network="one -> ill, age -> ill", support=1)
        assert named.network.columns == ("one", "age", "ill")
        assert named.leaks

    def test_the_caller_learns_what_does_not_fit(self, census):
        roles = {"quasi_identifiers": CENSUS[:3], "sensitive": CENSUS[3:]}
        with pytest.raises(ParameterError, match="left out beside a network"):
            sf.detect(census, **roles, learner="ic", network="Age -> Gender")
        with pytest.raises(InputError, match="learner: ic has no parameter 'k'"):
            sf.detect(census, **roles, learner={"learner": "ic", "k": 1})
        with pytest.raises(ParameterError, match="order must be a list of column names"):
            sf.detect(census, **roles, order="Age")


@pytest.mark.usefixtures("patience")
def test_files_of_drawings_are_safe_and_no_two_are_one(tmp_path):
    names = ["../x", "..\\x", "a" * 300, "a" * 299 + "b", "é", "É", "CON"]
    rows = [tuple(f"v{(i + j) % 2}" for j in range(len(names))) for i in range(20)]
    edges = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    found = sf.detect(
        table_of(names, rows), quasi_identifiers=names[:3], sensitive=names[3:], network=edges
    )
    drawn = draw_findings(found, tmp_path / "drawings")
    assert (
        len({path.name.casefold() for path in drawn})
        == len(drawn)
        == len(list((tmp_path / "drawings").iterdir()))
    )
    for path in drawn:
        assert path.parent == tmp_path / "drawings"
        assert re.fullmatch(r"(network|table)-[A-Za-z0-9_-]{1,140}\.svg", path.name)


def test_a_table_that_is_drawn_has_the_prior(census):
    found = sf.detect(
        census, quasi_identifiers=CENSUS[:3], sensitive=CENSUS[3:], network="Age -> Gender", prior=1
    )
    assert "86 %" in table_svg(found.tables["all"]["Gender"], 0.5)
