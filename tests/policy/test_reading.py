"""A policy says the same in YAML and in Python."""

import pickle
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import PolicyError
from sfumato.hierarchy import BUILDERS, Intervals
from sfumato.losses import LOSSES, Height, NormalizedLoss
from sfumato.models import MODELS, DistinctLDiversity, KAnonymity
from sfumato.policy import ColumnRule, MethodRule, Missing, Policy, SearchRule, Suppression
from sfumato.schema import Role

FULL = """
version: 1
columns:
  name: identifier
  age:
    role: quasi-identifier
    hierarchy: {kind: intervals, widths: [5, 10, 20]}
    weight: 2.0
    levels: [0, 3]
  sex: quasi-identifier
  disease: sensitive
  note: plain
other: dropped
models:
  - {model: k-anonymity, k: 5}
  - {model: distinct-l-diversity, column: disease, l: 3}
loss: {loss: normalized-loss, aggregate: maximum}
search: {search: best-first, checks: 1000, seconds: 10}
suppression: {limit: 5%, rows: star}
missing: matches-any
"""


def full(**changes):
    """The policy of FULL, as Python writes it."""
    settings = {
        "columns": {
            "name": "identifier",
            "age": ColumnRule(
                role=Role.QUASI_IDENTIFIER,
                hierarchy=Intervals(widths=[5, 10, 20]),
                weight=2,
                levels=(0, 3),
            ),
            "sex": Role.QUASI_IDENTIFIER,
            "disease": {"role": "sensitive"},
            "note": "plain",
        },
        "other": "dropped",
        "models": [KAnonymity(5), DistinctLDiversity("disease", l=3)],
        "loss": NormalizedLoss(aggregate="maximum"),
        "search": {"search": "best-first", "checks": 1000, "seconds": 10},
        "suppression": Suppression(limit=0.05, rows="star"),
        "missing": Missing.MATCHES_ANY,
    }
    return Policy(**{**settings, **changes})


def small(**changes):
    """A policy that is right and short."""
    columns = {"age": "quasi-identifier", "disease": "sensitive"}
    return Policy(**{"columns": columns, "models": [KAnonymity(2)], **changes})


def test_yaml_and_python_give_the_same_policy():
    assert Policy.from_yaml(FULL) == full()
    assert hash(Policy.from_yaml(FULL)) == hash(full())


def test_what_python_wrote_yaml_reads_back():
    assert Policy.from_yaml(full().to_yaml()) == full()


def test_short_forms_and_defaults_mean_what_the_long_forms_say():
    policy = Policy.from_yaml(
        "columns: {age: quasi-identifier}\nmodels: [{model: k-anonymity, k: 2}]"
    )
    assert policy == Policy.from_yaml(
        """
        version: 1
        columns: {age: {role: quasi-identifier, weight: 1, hierarchy: , levels: null}}
        other:
        models: [{model: k-anonymity, k: 2}]
        loss: normalized-loss
        method: full-domain
        search: {search: best-first}
        suppression: 0
        missing: own-value
        population: ~
        """
    )
    assert policy.suppression == Suppression(limit=0, rows="remove")
    assert policy.loss == NormalizedLoss()
    assert policy.method == MethodRule(name="full-domain")
    assert policy.search == SearchRule(name="best-first")


def test_columns_are_found_by_role_in_the_order_of_the_policy():
    policy = full()
    assert policy.quasi_identifiers == ("age", "sex")
    assert policy.sensitive == ("disease",)
    assert policy.with_role(Role.IDENTIFIER) == ("name",)
    assert list(policy.columns) == ["name", "age", "sex", "disease", "note"]


def test_a_policy_cannot_be_changed():
    policy = full()
    with pytest.raises(FrozenInstanceError):
        policy.other = Role.PLAIN
    with pytest.raises(TypeError):
        policy.columns["age"] = ColumnRule(role="plain")
    with pytest.raises(TypeError):
        policy.search.options["checks"] = 1


def test_a_policy_survives_pickling_with_its_lines():
    policy = pickle.loads(pickle.dumps(Policy.from_yaml(FULL, origin="p.yaml")))
    assert policy == full()
    with pytest.raises(PolicyError, match=r"p\.yaml, line 5, columns\.age"):
        policy.check_against(["name", "sex", "disease", "note"])


@pytest.mark.parametrize("name", ["no", "on", "null", "~", "1_000", "12:30", "2020-01-31", "0x1F"])
def test_what_yaml_takes_for_something_else_stays_the_name_of_a_column(name):
    policy = Policy.from_yaml(
        f"columns: {{{name}: sensitive, age: quasi-identifier}}\n"
        f"models: [{{model: distinct-l-diversity, column: '{name}', l: 2}}]"
    )
    assert policy.sensitive == (name,)
    assert Policy.from_yaml(policy.to_yaml()) == policy


def test_a_column_called_like_a_number_can_be_named_without_quotes():
    policy = Policy.from_yaml(
        "columns: {2020: sensitive, age: quasi-identifier}\n"
        "models: [{model: distinct-l-diversity, column: 2020, l: 2}]"
    )
    assert policy.models == (DistinctLDiversity("2020", l=2),)


def test_categories_stay_as_they_are_written():
    policy = Policy.from_yaml(
        """
        columns: {age: quasi-identifier, disease: sensitive}
        models:
          - model: p-alpha-sensitive-k-anonymity
            column: disease
            p: 2
            alpha: 1
            k: 2
            categories: [[no, 007, 1_000, 12:30], [1.50, 2020-01-31, True, 8]]
        """
    )
    assert policy.models[0].categories == (
        ("no", "007", "1_000", "12:30"),
        ("1.50", "2020-01-31", "True", 8),
    )
    assert Policy.from_yaml(policy.to_yaml()) == policy


@pytest.mark.parametrize("kind", list(MODELS.values()), ids=list(MODELS))
def test_every_model_survives_a_policy(kind):
    population = "people.csv" if kind.needs_population else None
    role = "weight" if kind.of_weights else "sensitive"
    columns = {"age": "quasi-identifier", "disease": role}
    if kind.protects_sets:
        columns["items"] = {"role": "set", "separator": ";"}
    policy = small(columns=columns, models=[kind.example()], population=population)
    assert Policy.from_yaml(policy.to_yaml()) == policy


@pytest.mark.parametrize("kind", list(BUILDERS.values()), ids=list(BUILDERS))
def test_every_hierarchy_survives_a_policy(kind):
    policy = small(columns={"age": {"role": "quasi-identifier", "hierarchy": kind.example()}})
    assert Policy.from_yaml(policy.to_yaml()) == policy


@pytest.mark.parametrize("kind", list(LOSSES.values()), ids=list(LOSSES))
def test_every_loss_survives_a_policy_and_can_be_named_alone(kind):
    policy = small(loss=kind.example())
    assert Policy.from_yaml(policy.to_yaml()) == policy
    assert small(loss=kind.name).loss == kind()


def test_a_very_long_name_reads_back():
    policy = small(columns={"age " * 1000: "quasi-identifier"})
    assert Policy.from_yaml(policy.to_yaml()) == policy


NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufeff"), min_size=1, max_size=12
)
WEIGHTS = st.floats(min_value=1e-300, max_value=1e300)
LEVELS = st.none() | st.tuples(st.integers(0, 3), st.integers(3, 9))
RULES = st.builds(
    lambda weight, levels: ColumnRule(role="quasi-identifier", weight=weight, levels=levels),
    WEIGHTS,
    LEVELS,
) | st.sampled_from(["identifier", "sensitive", "plain", "dropped"])


@given(
    columns=st.dictionaries(NAMES, RULES, max_size=6),
    k=st.integers(2, 10**15),
    limit=st.floats(0, 1) | st.integers(0, 10**12),
    rows=st.sampled_from(["remove", "star"]),
    other=st.sampled_from([None, "plain", "dropped", "identifier"]),
    missing=st.sampled_from(list(Missing)),
    options=st.dictionaries(
        NAMES.filter(lambda name: name != "search"),
        st.none()
        | st.booleans()
        | st.integers(-(10**9), 10**9)
        | st.floats(allow_nan=False)
        | NAMES,
        max_size=3,
    ),
)
def test_any_policy_reads_back_as_it_was_written(columns, k, limit, rows, other, missing, options):
    columns = {**columns, "age": "quasi-identifier"}
    policy = Policy(
        columns=columns,
        models=[KAnonymity(k)],
        suppression={"limit": limit, "rows": rows},
        other=other,
        missing=missing,
        search={"search": "best-first", **options},
    )
    again = Policy.from_yaml(policy.to_yaml())
    assert again == policy
    assert list(again.columns) == list(policy.columns)
    assert isinstance(again.suppression.limit, type(limit))


@given(st.lists(st.lists(NAMES | st.integers(-99, 99) | st.floats(-9, 9), min_size=1), min_size=2))
def test_any_categories_read_back_as_they_were_written(categories):
    model = MODELS["p-alpha-sensitive-k-anonymity"]
    settings = {"column": "disease", "p": 1, "alpha": 0.5, "k": 2}
    try:
        made = model(**settings, categories=categories)
    except ValueError:
        return  # the same value twice
    policy = small(models=[made])
    assert Policy.from_yaml(policy.to_yaml()) == policy


class TestSuppression:
    @pytest.mark.parametrize(
        ("limit", "total", "allowed"),
        [
            ("5%", 100, 5),
            ("29%", 100, 29),  # 0.29 * 100 is 28.999999999999996 in floating point
            (0.07, 100, 7),
            ("0.5 %", 199, 0),
            ("0.5%", 200, 1),
            ("100%", 7, 7),
            (1.0, 7, 7),
            (1, 7, 1),
            (20, 7, 7),
            (0, 7, 0),
        ],
    )
    def test_a_limit_is_a_share_or_a_number_of_rows(self, limit, total, allowed):
        assert Suppression(limit=limit).most_rows(total) == allowed

    def test_it_can_be_written_short(self):
        assert small(suppression="5%").suppression == Suppression(limit=0.05)
        assert small(suppression=3).suppression == Suppression(limit=3)


class TestFiles:
    def test_names_of_files_are_relative_to_the_policy(self, tmp_path):
        (tmp_path / "policy.yaml").write_text(
            "columns: {age: {role: quasi-identifier, hierarchy: {kind: csv, file: age.csv}}}\n"
            "models: [{model: k-map, k: 2}]\n"
            "population: people.csv\n"
        )
        policy = Policy.load(tmp_path / "policy.yaml")
        assert policy.population == str(tmp_path / "people.csv")
        assert policy.columns["age"].hierarchy == BUILDERS["csv"]("age.csv").relative_to(tmp_path)

    def test_an_address_of_a_population_is_left_alone(self):
        text = (
            "columns: {age: quasi-identifier}\nmodels: [{model: k-map, k: 2}]\npopulation: s3://a/b"
        )
        assert Policy.from_yaml(text, folder="/data").population == "s3://a/b"

    def test_a_byte_order_mark_is_not_part_of_the_first_key(self, tmp_path):
        file = tmp_path / "policy.yaml"
        file.write_text(FULL, encoding="utf-8-sig")
        assert Policy.load(str(file)) == full()


class TestAgainstData:
    def test_the_roles_of_the_columns_of_the_data_are_given_back(self):
        roles = full().check_against(["name", "age", "sex", "disease", "note", "extra"])
        assert roles["extra"] is Role.DROPPED
        assert roles["disease"] is Role.SENSITIVE
        assert list(roles) == ["name", "age", "sex", "disease", "note", "extra"]

    def test_a_column_the_data_lacks_is_answered_with_the_nearest_and_its_line(self):
        policy = Policy.from_yaml(FULL, origin="p.yaml")
        with pytest.raises(
            PolicyError,
            match=r"^p\.yaml, line 11, columns\.disease: the data has no column 'disease'\. "
            r"Did you mean 'diseases'\? Known: 'name', 'age', 'sex', 'diseases', 'note'\.$",
        ):
            policy.check_against(["name", "age", "sex", "diseases", "note"])

    def test_columns_nobody_named_are_all_listed(self):
        with pytest.raises(
            PolicyError,
            match=r"columns that the policy does not name: 'phone', 'mail'\. Add each with its "
            r"role, or say what becomes of all of them, as in other: dropped",
        ):
            small().check_against(["age", "disease", "phone", "mail"])


class TestSearch:
    def test_the_options_become_the_parameters_of_the_search(self):
        policy = small(search={"search": "height", "aggregate": "maximum"})
        assert policy.make_search({"height": Height}) == Height(aggregate="maximum")
        assert small(search=Height(aggregate="maximum")).search == policy.search

    @pytest.mark.parametrize(
        ("search", "text"),
        [
            (
                "heigth",
                r"p\.yaml, line 3, search\.search: no search 'heigth'\. Did you mean 'height'",
            ),
            ("{search: height, agregate: 1}", r"line 3, search\.agregate: height has no parameter"),
            ("{search: height, aggregate: 1}", r"line 3, search\.aggregate: must be a text, got 1"),
        ],
    )
    def test_a_misspelt_search_is_answered_with_its_line(self, search, text):
        policy = Policy.from_yaml(
            "columns: {age: quasi-identifier}\nmodels: [{model: k-anonymity, k: 2}]\n"
            f"search: {search}",
            origin="p.yaml",
        )
        with pytest.raises(PolicyError, match=text):
            policy.make_search({"height": Height})


def test_what_attacks_may_believe_is_the_publishers_too():
    policy = Policy.from_yaml(
        "columns: {age: quasi-identifier}\nmodels: [{model: k-anonymity, k: 2}]\n"
        "verdict: {threshold: 0.6, people: 3}"
    )
    assert policy.verdict.rule(policy.risk_levels).very_high == 0.6
    assert policy.verdict.people == 3
    assert Policy.from_yaml(policy.to_yaml()) == policy


def test_risk_levels_are_the_publishers():
    policy = Policy.from_yaml(
        "columns: {age: quasi-identifier}\nmodels: [{model: k-anonymity, k: 2}]\n"
        "risk_levels: {high: 0.4}"
    )
    assert policy.risk_levels.of(0.45) == "high"
    assert policy.risk_levels.bounds()["very high"] == 0.75
    assert Policy.from_yaml(policy.to_yaml()) == policy
