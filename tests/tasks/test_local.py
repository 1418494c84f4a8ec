"""Local recoding as a task: what is refused and why, and the edges of what is not."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.errors import InfeasibleError, InputError, PolicyError
from sfumato.models import MODELS, AverageRisk, KAnonymity, KMap, ProbabilisticLDiversity
from sfumato.partition import PARTITIONERS, label_partition
from sfumato.policy import Missing, Policy
from sfumato.recode.deciding import make_problem, prepare, refuse_impossible
from sfumato.search import BestFirst, Exhaustive
from tests.partition.tables import METHODS
from tests.search.problems import COLUMNS, Problem, problems

every_method = pytest.mark.parametrize("method", METHODS, ids=str)
every_name = pytest.mark.parametrize("method", ["full-domain", "regional", *PARTITIONERS])
ALONE = [
    kind.example()
    for kind in MODELS.values()
    if not kind.needs_population and not kind.protects_sets  # these are in test_sets
]


def policy_for(*models, **settings) -> Policy:
    disease = "weight" if any(model.of_weights for model in models) else "sensitive"
    return Policy(
        columns={"age": "quasi-identifier", "sex": "quasi-identifier", "disease": disease},
        models=models,
        **settings,
    )


def table_of(*rows) -> pa.Table:
    age, sex, disease = zip(*rows, strict=True)
    return pa.table({"age": pa.array(age, pa.int64()), "sex": sex, "disease": disease})


@pytest.fixture
def idle(monkeypatch):
    """Let whoever would work on a table fail."""

    def run(*_, **__):
        pytest.fail("it went to work")

    for kind in (*PARTITIONERS.values(), BestFirst):
        monkeypatch.setattr(kind, "run", run)


class TestImpossible:
    @every_name
    @pytest.mark.parametrize("model", [m for m in ALONE if not m.compares_with_table], ids=str)
    def test_what_no_release_can_keep_is_refused_before_any_work(self, model, method, idle):
        table = table_of((30, "f", 7 if model.needs_numbers else "flu"))
        with pytest.raises(InfeasibleError, match=r"^no release can keep ") as caught:
            sf.anonymize(table, policy_for(model), method=method)
        assert model.name in str(caught.value)
        assert "even if all 1 rows were one class" in str(caught.value)
        assert str(caught.value).endswith("Ask for less.")

    @pytest.mark.parametrize("model", [m for m in ALONE if m.compares_with_table], ids=str)
    def test_the_whole_table_is_like_itself(self, model):
        release = sf.anonymize(table_of((30, "f", "flu")), policy_for(model), method="top-down")
        assert release.verdict.holds

    def test_the_figures_of_the_whole_table_are_told(self, idle):
        rows = [(30, "f", "flu"), (30, "f", "flu"), (40, "m", "flu"), (40, "m", "gout")]
        with pytest.raises(InfeasibleError) as caught:
            sf.anonymize(
                table_of(*rows),
                policy_for(KAnonymity(2), ProbabilisticLDiversity("disease", l=2)),
                method="mondrian",
            )
        assert str(caught.value) == (
            "no release can keep probabilistic-l-diversity of disease with l=2: even if all 4 rows "
            "were one class, it would have l=1.33333. Ask for less."
        )

    def test_a_mean_risk_is_lowest_in_one_class(self, idle):
        rows = [(30, "f", "flu"), (40, "m", "flu")]
        with pytest.raises(InfeasibleError, match=r"average-risk with risk=0\.4: .* risk=0\.5"):
            sf.anonymize(table_of(*rows), policy_for(AverageRisk(0.4)), method="bottom-up")

    def test_where_rows_may_go_a_part_of_the_table_may_do(self):
        rows = [(30, "f", "flu")] * 3 + [(30, "f", "gout"), (40, "m", "flu")]
        policy = policy_for(ProbabilisticLDiversity("disease", l=2), suppression=3)
        with pytest.raises(InfeasibleError, match="top-down finds no release"):
            sf.anonymize(table_of(*rows), policy, method="top-down")
        rows = [(30, "f", "flu"), (30, "f", "gout"), (40, "m", "flu")]
        release = sf.anonymize(table_of(*rows), policy, method="full-domain")
        assert release.manifest.rows.published == 2

    def test_classes_that_overlap_are_no_parts_of_the_whole(self):
        """Nobody sees more flus than others, though three of five have one."""
        rows = [
            ("a", "x", "flu"), ("a", "y", "flu"), ("a", "z", "flu"),
            ("a", None, "gout"), ("a", None, "cold"),
        ]  # fmt: skip
        first, second, disease = zip(*rows, strict=True)
        table = pa.table({"first": first, "second": second, "disease": disease})
        policy = Policy(
            columns={
                "first": "quasi-identifier",
                "second": "quasi-identifier",
                "disease": "sensitive",
            },
            models=[ProbabilisticLDiversity("disease", l=2)],
            missing="matches-any",
        )
        release = sf.anonymize(table, policy)
        assert release.levels == {"first": 0, "second": 0}
        with pytest.raises(InfeasibleError, match=r"^mondrian finds no release"):
            sf.anonymize(table, policy, method="mondrian")

    @pytest.mark.usefixtures("patience")
    @settings(max_examples=300)
    @given(problem=problems())
    def test_nothing_is_refused_that_can_be_had(self, problem: Problem):
        policy = problem.policy
        counts = FrequencySet.from_rows(COLUMNS, problem.rows)
        ready = prepare(policy, counts)
        exact = policy.missing is Missing.MATCHES_ANY
        for matches_any in {True, exact}:
            try:
                refuse_impossible(
                    policy.models,
                    ready.counts,
                    ready.sensitive,
                    ready.limit,
                    matches_any=matches_any,
                )
            except InfeasibleError:
                *_, found = Exhaustive().run(problem.checker())
                assert found.node is None
                for method in METHODS:
                    asked = make_problem(policy, ready)
                    parted = method.run(asked)
                    settled = label_partition(asked, parted, method.intervals(asked))
                    assert settled.suppressed > ready.limit


class TestRefused:
    @pytest.mark.parametrize(
        ("method", "message"),
        [
            ("topdown", r"method: no method 'topdown'\. Did you mean 'top-down'\?"),
            ({"method": "top-down", "best": "worst"}, r"method\.best: .*'rows'.*'loss'"),
            ({"method": "top-down", "bset": "rows"}, "'bset'.*'best'"),
            ({"method": "mondrian", "relaxed": "perhaps"}, "relaxed"),
            ({"method": "bottom-up", "nodes": 0}, "nodes"),
            ({"method": "mondrian", "best": "rows"}, "'best'"),
        ],
    )
    def test_a_method_that_is_not_there_or_is_not_so(self, method, message):
        with pytest.raises(PolicyError, match=message):
            sf.anonymize(table_of((30, "f", "flu")), policy_for(KAnonymity(2)), method=method)

    @every_method
    def test_a_model_that_compares_with_a_population(self, method, tmp_path):
        people = tmp_path / "people.csv"
        people.write_text("age,sex\n30,f\n")
        policy = policy_for(KMap(2), population=str(people))
        with pytest.raises(PolicyError, match="compares with a population"):
            sf.anonymize(table_of((30, "f", "flu")), policy, method=method)

    @every_method
    def test_a_table_without_rows(self, method):
        with pytest.raises(InputError, match="the table has no rows"):
            sf.anonymize(
                table_of((30, "f", "flu")).slice(1), policy_for(KAnonymity(2)), method=method
            )

    @every_method
    def test_one_row_where_two_are_asked_for(self, method):
        with pytest.raises(InfeasibleError, match="no release can keep k-anonymity with k=2"):
            sf.anonymize(table_of((30, "f", "flu")), policy_for(KAnonymity(2)), method=method)

    @every_method
    def test_more_rows_than_may_be_suppressed(self, method):
        table = table_of((30, "f", "flu"), (30, "f", "flu"), (40, "m", "flu"))
        asked = {
            "columns": {"age": {"role": "quasi-identifier", "levels": [0, 0]}},
            "other": "plain",
            "models": [KAnonymity(2)],
        }
        with pytest.raises(InfeasibleError) as caught:
            sf.anonymize(table, Policy(**asked), method=method)
        assert str(caught.value) == (
            f"{method.name} finds no release that keeps the promises: 1 of 3 rows are in classes "
            "that break k-anonymity with k=2, and at most 0 rows may be suppressed. Allow more "
            "rows to be suppressed, allow higher levels, ask for less, or try another method."
        )
        release = sf.anonymize(table, Policy(**asked, suppression=1), method=method)
        assert release.table["age"].to_pylist() == [30, 30]


class TestEdges:
    @every_method
    @pytest.mark.parametrize("missing", ["own-value", "matches-any"])
    def test_a_column_that_is_all_missing(self, method, missing):
        rows = [(None, "f", "flu"), (None, "f", "gout"), (None, "m", "flu"), (None, "m", "gout")]
        release = sf.anonymize(
            table_of(*rows), policy_for(KAnonymity(2), missing=missing), method=method
        )
        assert release.table["age"].to_pylist() == [None] * 4
        assert sorted(release.table["sex"].to_pylist()) == ["f", "f", "m", "m"]

    @every_method
    def test_a_column_that_is_all_missing_and_such_rows_are_dropped(self, method):
        rows = [(None, "f", "flu"), (None, "m", "gout")]
        policy = policy_for(KAnonymity(2), missing="suppress", suppression=2)
        release = sf.anonymize(table_of(*rows), policy, method=method)
        assert release.table.num_rows == 0
        assert release.suppressed == 2
        assert "every row was suppressed: the release is empty" in release.warnings

    @every_method
    def test_rows_that_are_all_equal_stay_as_they_are(self, method):
        table = table_of(*[(30, "f", "flu")] * 7)
        release = sf.anonymize(table, policy_for(KAnonymity(3)), method=method)
        assert release.table.equals(table)
        assert release.manifest.classes.count == 1
        assert release.loss == 0

    @every_method
    def test_a_column_of_one_value_costs_nothing(self, method):
        rows = [(30, sex, "flu") for sex in "fffmmm"]
        release = sf.anonymize(table_of(*rows), policy_for(KAnonymity(3)), method=method)
        assert release.table["age"].to_pylist() == [30] * 6
        assert release.loss == 0

    @every_method
    def test_every_row_may_be_let_go(self, method):
        rows = [(30, "f", "flu"), (40, "m", "flu")]
        policy = policy_for(KAnonymity(5), suppression=1.0)
        release = sf.anonymize(table_of(*rows), policy, method=method)
        assert release.table.num_rows == 0
        assert release.suppressed == 2


@every_method
def test_progress_never_goes_back_and_ends_with_all_rows(method):
    rng = np.random.default_rng(7)
    rows = [(int(rng.integers(20, 60)), str(rng.choice(["f", "m"])), "flu") for _ in range(200)]
    told = []
    sf.anonymize(
        table_of(*rows),
        policy_for(KAnonymity(3)),
        method=method,
        progress=lambda stage, done, total: told.append((stage, done, total)),
    )
    done = [n for stage, n, _ in told if stage == "partition"]
    assert done
    assert done == sorted(done)
    assert done[-1] <= 200
    assert {total for stage, _, total in told if stage == "partition"} == {200}
    if method.name != "bottom-up":
        assert done[-1] == 200
