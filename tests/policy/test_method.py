"""The method of a policy: how it is written, what it makes, and what it does not go with."""

import pickle
from dataclasses import dataclass
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError, PolicyError
from sfumato.models import MODELS, KMap
from sfumato.partition import PARTITIONERS
from sfumato.policy import MethodRule, Policy
from tests.policy.test_mistakes import GOOD
from tests.policy.test_reading import NAMES, small


@dataclass(frozen=True)
class Halving:
    """A method that nobody else knows, with a setting that can be wrong."""

    name: ClassVar[str] = "halving"

    cuts: int = 3

    def __post_init__(self):
        if self.cuts < 1:
            raise ParameterError("cuts", self.cuts, "1 or more")


METHODS = {"halving": Halving}


def complaint(method):
    with pytest.raises(PolicyError) as caught:
        Policy.from_yaml(GOOD + f"method: {method}", origin="p").make_method(METHODS)
    return str(caught.value)


@pytest.mark.parametrize(
    "method",
    [
        {"method": "halving", "cuts": 5},
        Halving(cuts=5),
        MethodRule.read({"method": "halving", "cuts": 5}),
    ],
    ids=["mapping", "object", "rule"],
)
def test_a_method_is_a_mapping_or_an_object(method):
    policy = small(method=method)
    assert policy == Policy.from_yaml(GOOD + "method: {method: halving, cuts: 5}")
    assert policy.method.local
    assert policy.make_method(METHODS) == Halving(cuts=5)


def test_a_name_alone_stands_for_the_defaults():
    assert small(method="halving").make_method(METHODS) == Halving()
    assert small(method=Halving()) == small(method="halving")


@pytest.mark.parametrize("method", ["full-domain", {"method": "full-domain"}], ids=str)
def test_full_domain_is_the_default_and_makes_nothing(method):
    assert small(method=method) == small()
    assert not small(method=method).method.local
    assert small(method=method).make_method(METHODS) is None
    assert small().make_method({}) is None


@pytest.mark.parametrize(
    ("method", "text"),
    [
        (
            "halvign",
            (
                "p, line 3, method: no method 'halvign'. Did you mean 'halving'? "
                "Known: 'full-domain', 'halving', 'regional'."
            ),
        ),
        (
            "fulldomain",
            (
                "p, line 3, method: no method 'fulldomain'. Did you mean 'full-domain'? "
                "Known: 'full-domain', 'halving', 'regional'."
            ),
        ),
        (
            "\n  cuts: 3\n  method: third",
            (
                "p, line 5, method.method: no method 'third'. "
                "Known: 'full-domain', 'halving', 'regional'."
            ),
        ),
        (
            "{method: halving, cut: 5}",
            (
                "p, line 3, method.cut: halving has no parameter 'cut'. "
                "Did you mean 'cuts'? Known: 'cuts'."
            ),
        ),
        (
            "{method: halving, cuts: many}",
            "p, line 3, method.cuts: must be a whole number, got 'many'",
        ),
        (
            "\n  method: halving\n  cuts: 0",
            "p, line 5, method.cuts: cuts must be 1 or more, got 0",
        ),
    ],
)
def test_a_wrong_method_is_answered_with_its_line_and_what_there_is(method, text):
    assert complaint(method) == text


@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("topdown", "Did you mean 'top-down'? Known: 'bottom-up', 'full-domain', 'mdav', "),
        ("{method: top-down, best: rws}", "method.best"),
        ("{method: mondrian, relaxd: true}", "Did you mean 'relaxed'?"),
        ("{method: bottom-up, nodes: 0}", "method.nodes: nodes must be an integer of at least 1"),
    ],
)
def test_mistakes_about_the_methods_there_are(method, text):
    policy = Policy.from_yaml(GOOD + f"method: {method}", origin="p")
    with pytest.raises(PolicyError) as caught:
        policy.make_method(PARTITIONERS)
    assert text in str(caught.value)


@pytest.mark.parametrize("kind", list(PARTITIONERS.values()), ids=list(PARTITIONERS))
def test_every_method_survives_a_policy_and_can_be_named_alone(kind):
    policy = small(method=kind.example())
    again = Policy.from_yaml(policy.to_yaml())
    assert again == policy
    assert again.make_method(PARTITIONERS) == kind.example()
    assert small(method=kind.name).make_method(PARTITIONERS) == kind()


def test_a_method_is_written_in_its_short_form_and_without_a_search():
    assert "\nmethod: full-domain\nsearch: {search: best-first}\n" in small().to_yaml()
    text = small(method="halving").to_yaml()
    assert "\nmethod: halving\n" in text
    assert "search" not in text
    text = small(method={"method": "halving", "cuts": 5}).to_yaml()
    assert "\nmethod: {method: halving, cuts: 5}\n" in text


@given(
    name=NAMES.filter(lambda name: name.lower() not in ("", "~", "null", "full-domain")),
    options=st.dictionaries(
        NAMES.filter(lambda name: name != "method"),
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | NAMES,
        max_size=3,
    ),
)
def test_any_method_reads_back_as_it_was_written(name, options):
    policy = small(method={"method": name, **options})
    again = Policy.from_yaml(policy.to_yaml())
    assert again == policy
    assert hash(again) == hash(policy)


class TestContradictions:
    def test_a_search_that_says_no_more_than_the_default_is_no_contradiction(self):
        # The writer and `sfumato init` write the default out; a method may be added below it.
        policy = small(method="halving", search="best-first")
        assert Policy.from_yaml(policy.to_yaml()) == policy
        assert small(method="full-domain", search={"search": "descent", "checks": 5})

    @pytest.mark.parametrize(
        "search", ["incognito", {"search": "best-first", "seconds": 1}, MODELS["k-anonymity"](2)]
    )
    def test_any_other_search_is(self, search):
        with pytest.raises(PolicyError, match=r"^policy, search: says how a lattice .* halving"):
            small(method="halving", search=search)

    @pytest.mark.parametrize("kind", list(MODELS.values()), ids=list(MODELS))
    def test_only_models_of_a_population_do_not_go_with_local_recoding(self, kind):
        population = "people.csv" if kind.needs_population else None
        settings = {"models": [kind.example()], "population": population}
        if kind.protects_sets:
            settings["columns"] = {"age": "quasi-identifier", "items": "set"}
        if kind.of_weights:
            settings["columns"] = {"age": "quasi-identifier", "disease": "weight"}
        assert small(**settings)
        if not kind.needs_population:
            assert small(**settings, method="halving").method.local
            return
        with pytest.raises(PolicyError, match=r"may match several .* Choose method: full-domain"):
            small(**settings, method="halving")

    def test_all_contradictions_are_told_at_once(self):
        with pytest.raises(PolicyError, match="policy: 2 mistakes") as caught:
            small(models=[KMap(2)], population="p.csv", method="halving", search="incognito")
        assert [path for path, _ in caught.value.faults] == [("models", 0), ("search",)]


class TestWithMethod:
    @pytest.mark.parametrize("method", ["halving", {"method": "halving"}, Halving()], ids=str)
    def test_it_gives_a_copy_with_another_method(self, method):
        policy = small()
        other = policy.with_method(method)
        assert other == small(method="halving")
        assert policy == small()
        assert other.with_method("full-domain") == policy
        assert pickle.loads(pickle.dumps(other)) == other

    @pytest.mark.parametrize(
        ("method", "text"),
        [
            (5, "policy, method: must be a text, got 5"),
            (None, "policy, method: must be a text, got nothing"),
            ({"cuts": 5}, "policy, method: 'method' is missing: it gives the name"),
            ({1: 2}, "policy, method: a key must be a text, got 1"),
            (
                {"method": "full-domain", "cuts": 5},
                "policy, method.cuts: full-domain has no options, got 'cuts'.",
            ),
        ],
    )
    def test_what_is_no_method_is_refused(self, method, text):
        with pytest.raises(PolicyError) as caught:
            small().with_method(method)
        assert str(caught.value).startswith(text)

    def test_what_the_method_has_no_use_for_is_left_out(self):
        text = GOOD + "method: full-domain\nsearch: incognito"
        policy = Policy.from_yaml(text, origin="p").with_method("halving")
        assert policy.search == Policy.from_yaml(GOOD).search

    def test_a_contradiction_is_told_with_the_line_of_what_does_not_fit(self):
        text = GOOD + "method: halving\nsearch: incognito"
        with pytest.raises(PolicyError, match=r"^p, line 4, search: says how .* method halving"):
            Policy.from_yaml(text, origin="p")

    def test_a_misspelling_is_not_blamed_on_the_file(self):
        policy = Policy.from_yaml(GOOD + "method: halving", origin="p").with_method("halvign")
        with pytest.raises(PolicyError, match=r"^policy, method: no method 'halvign'\. Did you"):
            policy.make_method(METHODS)

    def test_other_mistakes_keep_their_lines(self):
        policy = Policy.from_yaml(GOOD, origin="p").with_method("halving")
        with pytest.raises(PolicyError, match=r"^p, line 1, columns\.disease: the data has no"):
            policy.check_against(["age"])
