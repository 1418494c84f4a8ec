"""A comparison tells what would be published, without publishing it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import ATTACKS, ClassAttack
from sfumato.comparison import trial as workers
from sfumato.comparison.variations import name_policies
from sfumato.counts import FrequencySet
from sfumato.errors import (
    InfeasibleError,
    InputError,
    ParameterError,
    PolicyError,
    UnknownNameError,
)
from sfumato.recode.recoded import rows_of
from sfumato.text import STAR

METHODS = ("full-domain", "regional", "mondrian", "top-down", "bottom-up", "mdav")
NAMES = ("age", "sex", "ill")
AGE = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5, 10]}}
ROLES = {"age": AGE, "sex": "quasi-identifier", "ill": "sensitive"}
RAW = {
    **ROLES,
    "age": {**AGE, "levels": [0, 0]},
    "sex": {"role": "quasi-identifier", "levels": [0, 0]},
}
ROWS = st.lists(
    st.tuples(
        st.sampled_from([*range(30, 46, 3), None]),
        st.sampled_from(["f", "m"]),
        st.sampled_from(["flu", "gout", "hiv", None]),
    ),
    min_size=1,
    max_size=24,
)
MODELS = st.sampled_from(
    [
        [{"model": "k-anonymity", "k": 2}],
        [
            {"model": "k-anonymity", "k": 3},
            {"model": "distinct-l-diversity", "column": "ill", "l": 2},
        ],
        [{"model": "alpha-k-anonymity", "column": "ill", "alpha": 0.7, "k": 2}],
        [{"model": "t-closeness", "column": "ill", "t": 0.4}],
    ]
)


def table(rows):
    columns = zip(*rows, strict=True)
    types = (pa.int64(), pa.string(), pa.string())
    arrays = [pa.array(list(c), type=t) for c, t in zip(columns, types, strict=True)]
    return pa.table(dict(zip(NAMES, arrays, strict=True)))


def policy(models=None, **settings):
    models = models or [{"model": "k-anonymity", "k": 2}]
    return sf.Policy(**{"columns": ROLES, "models": models, **settings})


ILLS = ("flu", "gout", "hiv", "flu", "ulcer")
PEOPLE = table([(30 + i % 14, "fm"[i % 3 == 0], ILLS[i * 7 // 5 % 5]) for i in range(60)])


class TestWhatIsPublished:
    """The second source is a release: `sf.anonymize`, and its rows counted one by one."""

    @pytest.mark.usefixtures("patience")
    @given(
        ROWS,
        MODELS,
        st.sampled_from(["own-value", "suppress", "matches-any"]),
        st.sampled_from([0, 0.2, 1.0]),
        st.sampled_from(["remove", "star"]),
    )
    def test_figures_are_those_of_the_release(self, rows, models, missing, limit, kept):
        asked = policy(models, missing=missing, suppression={"limit": limit, "rows": kept})
        # Who of those that looked alike goes where is drawn, unless a model cares.
        methods = METHODS if any("column" in model for model in models) else METHODS[:1]
        found = sf.compare(table(rows), asked, vary={"method": methods}, parallel=1)
        assert found.rows == len(rows)
        for point in found:
            release, reason = self.released(table(rows), point.policy)
            assert point.reason == reason
            if release is None:
                continue
            self.check(point, release)
            if missing != "matches-any":
                self.check_by_hand(point, release)

    def released(self, rows, asked):
        try:
            # The seed of comparisons, so that the same rows are drawn.
            return sf.anonymize(rows, asked, seed=0), None
        except InfeasibleError as error:
            return None, str(error)

    def check(self, point, release):
        assert point.loss == release.loss
        assert point.losses == release.manifest.known_losses
        assert point.suppressed == release.suppressed
        assert point.published == release.manifest.rows.published
        assert point.classes == release.manifest.classes.count
        # Judged as the verdict judges it.
        attacks = [outcome for outcome in sf.verify(release, point.policy).attacks if outcome.tried]
        ours = {(o.attack, o.column): (o.people, o.of) for o in point.attacks}
        assert ours == {(o.attack, o.column): (o.people, o.of) for o in attacks}
        most = max((o.people for o in attacks if o.judged), default=0)
        assert point.at_risk == most
        on_classes = [o for o in attacks if issubclass(ATTACKS[o.attack], ClassAttack)]
        beliefs = [o.posterior for o in on_classes if o.judged and o.gain > 1e-12]
        assert point.risks["belief"] >= max(beliefs, default=0) - 1e-12

    def check_by_hand(self, point, release):
        """Everybody looks for everybody in the published rows."""
        rows = [tuple(row.values()) for row in release.table.to_pylist()]
        if point.policy.suppression.rows == "star":
            lost = release.suppressed
            starred = [row for row in rows if row == (STAR, STAR, None)]
            rows = [row for row in rows if row != (STAR, STAR, None)] + starred[lost:]
        classes = defaultdict(list)
        for age, sex, ill in rows:
            classes[age, sex].append(ill)
        assert point.smallest == min(map(len, classes.values()), default=0)
        chances = [1 / len(classes[row[:2]]) for row in rows]
        assert point.risks["prosecutor"] == pytest.approx(max(chances, default=0))
        assert point.risks["mean"] == pytest.approx(sum(chances) / max(len(chances), 1))
        table_wide = Counter(ill for ills in classes.values() for ill in ills if ill is not None)
        total = sum(table_wide.values())
        at_risk, gains = 0, [0.0]
        for ills in classes.values():
            known = Counter(ill for ill in ills if ill is not None)
            shares = {ill: n / sum(known.values()) for ill, n in known.items()}
            priors = {ill: table_wide[ill] / total for ill in known}
            gains += [shares[ill] - priors[ill] for ill in known]
            betrayed = any(
                shares[ill] >= 0.75 - 1e-12 and (
                    shares[ill] >= 2 * priors[ill] - 1e-12
                    or (priors[ill] <= 0.5 and 1 - shares[ill] <= (1 - priors[ill]) / 4 + 1e-12)
                )
                for ill in known
            )  # fmt: skip
            at_risk += len(ills) if betrayed else 0
        people = sum(map(len, classes.values()))
        # Others find a person who is alone, or learn from what columns have to do with another.
        on_classes = [
            outcome.people
            for outcome in point.attacks
            if outcome.judged and issubclass(ATTACKS[outcome.attack], ClassAttack)
        ]
        assert max(on_classes, default=0) == at_risk <= point.at_risk
        assert point.risks["at-risk"] == pytest.approx(point.at_risk / max(people, 1))
        assert point.risks["gain"] == pytest.approx(max(gains))

    @pytest.mark.parametrize("method", METHODS)
    def test_a_sensitive_column_without_a_model_is_attacked_too(self, method):
        found = sf.compare(PEOPLE, policy(), vary={"method": [method]})
        [point] = found
        outcome = sf.verify(sf.anonymize(PEOPLE, point.policy), point.policy)
        assert {o.attack for o in point.attacks} >= {"homogeneity"}
        assert [o.of for o in point.attacks] == [60] * len(point.attacks)
        if method in ("full-domain", "regional"):
            assert point.attacks[0].people == outcome.attack("homogeneity").people

    def test_rows_that_part_ways_are_dealt_by_the_seed(self):
        asked = policy(method={"method": "mondrian", "relaxed": True})
        one, again = (sf.compare(PEOPLE, asked, seed=4) for _ in range(2))
        assert one == again

    def test_a_population_is_counted_once_and_compared_with(self, tmp_path):
        from pyarrow import csv

        csv.write_csv(pa.concat_tables([PEOPLE] * 3), tmp_path / "all.csv")
        asked = policy([{"model": "k-map", "k": 4}], population=str(tmp_path / "all.csv"))
        found = sf.compare(PEOPLE, asked, vary={"k": [4, 30]})
        for point in found:
            assert point.loss == sf.anonymize(PEOPLE, point.policy).loss

    def test_without_anything_sensitive_people_can_only_be_found(self):
        roles = {"age": AGE, "sex": "quasi-identifier", "ill": "dropped"}
        asked = policy(columns=roles)
        found = sf.compare(PEOPLE, asked, vary={"k": [2, 5]})
        assert found.risk == "prosecutor"
        assert set(found["k=2"].risks) == {"at-risk", "prosecutor", "mean"}
        with pytest.raises(ParameterError, match=r"risk must be prosecutor or mean, got 'belief'"):
            sf.compare(PEOPLE, asked, risk="belief")

    def test_nobody_is_at_risk_in_an_empty_release(self):
        asked = policy([{"model": "k-anonymity", "k": 9}], suppression=1.0, columns=RAW)
        [point] = sf.compare(PEOPLE, asked)
        assert point.suppressed == 60
        assert set(point.risks.values()) == {0.0}


class TestPoliciesToCompare:
    @pytest.mark.usefixtures("patience")
    def test_every_combination_has_a_name_and_a_policy(self):
        models = [{"model": "k-anonymity", "k": 2}, {"model": "alpha-k-anonymity", "column": "ill",
                   "alpha": 0.5, "k": 2}]  # fmt: skip
        vary = {"k": [2, 3], "alpha": [0.5, 0.9], "method": ["full-domain", "mondrian"]}
        found = sf.compare(PEOPLE, policy(models), vary=vary)
        assert found.names[:3] == (
            "k=2, alpha=0.5, full-domain", "k=2, alpha=0.5, mondrian", "k=2, alpha=0.9, full-domain"
        )  # fmt: skip
        assert len(found) == 8
        chosen = found["k=3, alpha=0.9, mondrian"].policy
        assert [model.k for model in chosen.models] == [3, 3]
        assert chosen.models[1].alpha == 0.9
        assert chosen.method.name == "mondrian"

    def test_several_policies_can_be_varied_together(self):
        both = {"old": policy(), "new": policy(suppression=0.1)}
        found = sf.compare(PEOPLE, both, vary={"k": [2, 3]})
        assert found.names == ("old, k=2", "old, k=3", "new, k=2", "new, k=3")

    def test_files_are_called_after_themselves(self, tmp_path):
        for name in ("strict", "mild"):
            (tmp_path / f"{name}.yaml").write_text(policy().to_yaml(), encoding="utf-8")
        paths = [tmp_path / "strict.yaml", tmp_path / "mild.yaml"]
        assert sf.compare(PEOPLE, paths).names == ("strict", "mild")
        assert sf.compare(PEOPLE, str(paths[0])).names == ("strict",)
        assert sf.compare(PEOPLE, [policy(), policy()]).names == ("policy 1", "policy 2")

    def test_suppression_and_settings_of_methods_are_varied(self):
        vary = {"suppression": [0, "10%"], "method": [{"method": "mondrian", "relaxed": True}]}
        found = sf.compare(PEOPLE, policy(), vary=vary)
        assert found.names == (
            "suppression=0, mondrian(relaxed=true)", "suppression=0.1, mondrian(relaxed=true)"
        )  # fmt: skip

    def test_a_search_is_forgotten_where_nothing_is_searched(self):
        asked = policy(search={"search": "best-first", "seconds": 60})
        found = sf.compare(PEOPLE, asked, vary={"method": ["full-domain", "top-down"]})
        assert found["full-domain"].policy.search.options == {"seconds": 60}
        assert found["top-down"].possible

    def test_a_chosen_point_is_a_policy(self):
        found = sf.compare(
            PEOPLE, policy(), vary={"k": [2, 5], "method": ["full-domain", "mondrian"]}
        )
        point = found["k=5, mondrian"]
        again = sf.Policy.from_yaml(point.policy.to_yaml())
        assert sf.anonymize(PEOPLE, again).loss == point.loss

    def test_an_impossible_policy_is_a_point_with_its_reason(self):
        found = sf.compare(PEOPLE, policy(), vary={"k": [2, 99]})
        assert [point.possible for point in found] == [True, False]
        assert "no release can keep k-anonymity with k=99" in found["k=99"].reason
        with pytest.raises(InfeasibleError, match="k=99: no release"):
            _ = found["k=99"].loss
        assert "k=99 is not possible" in str(found)
        assert found.to_dict()["points"][1]["loss"] is None

    def test_what_cannot_be_compared_is_said(self):
        other = policy(
            columns={**ROLES, "sex": "plain"}, loss={"loss": "normalized-loss", "aggregate": "sum"}
        )
        same, different = sf.compare(PEOPLE, {"a": policy(), "b": other}).warnings
        assert "do not have the same quasi-identifiers" in same
        assert "losses are not comparable" in different
        assert not sf.compare(PEOPLE, policy(), vary={"k": [2, 3]}).warnings

    def test_settings_of_a_decoupling_are_varied_with_those_of_models(self):
        models = [{"model": "distinct-l-diversity", "column": "ill", "l": 2}]
        asked = policy(models, decouple={"method": "anatomy", "l": 2})
        vary = {"l": [2, 3], "decouple": ["none", "anatomy", {"method": "slicing", "slices": 2}]}
        found = name_policies(asked, vary)
        assert list(found)[:3] == ["l=2, not decoupled", "l=2, anatomy", "l=2, slicing(slices=2)"]
        assert found["l=3, not decoupled"].decouple is None
        assert found["l=3, anatomy"].decouple.options == {"l": 3}
        assert found["l=3, slicing(slices=2)"].decouple.options == {"l": 3, "slices": 2}
        assert found["l=3, anatomy"].models[0].l == 3


def test_of_policies_that_come_out_the_same_it_says_which_promise_binds():
    ills = [*["flu"] * 5, *["hiv"] * 5, *["flu"] * 5, *["hiv"] * 5]
    table = pa.table({"age": [*range(30, 50)], "sex": ["f"] * 20, "ill": ills})
    same = {"model": "t-closeness", "column": "ill", "t": 0.1}
    models = [{"model": "k-anonymity", "k": 2}, same]
    asked = sf.Policy(columns=ROLES, models=models)
    found = sf.compare(table, asked, vary={"k": [2, 3, 5]})
    [binding] = found.bindings
    assert binding.names == ("k=2", "k=3", "k=5")
    fewer = sf.anonymize(table, asked.replace(models=[models[0]]))
    # The textbook: what the loss is if one promise is left out.
    assert binding.without == {"t-closeness of ill with t=0.1, distance=equal": fewer.loss}
    assert fewer.loss < binding.loss == sf.anonymize(table, asked).loss
    assert "k=2, k=3 and k=5 come out the same. They cannot get finer because of" in str(found)


class TestDecoupling:
    """The second source is `sf.decouple`, attacked and asked."""

    @pytest.mark.usefixtures("patience")
    @pytest.mark.parametrize("decoupling", [{"method": "anatomy"}, {"method": "slicing"}])
    def test_figures_are_those_of_the_buckets(self, decoupling):
        asked = policy(decouple={**decoupling, "l": 2})
        found = sf.compare(PEOPLE, asked, seed=3)
        assert found.loss == "query-error"
        [point] = found
        buckets = sf.decouple(PEOPLE, policy=asked, seed=3)
        outcomes = [
            (outcome.attack, outcome.people, outcome.of)
            for outcome in sf.verify(buckets, asked).attacks
            if outcome.tried
        ]
        ours = [(o.attack, o.people, o.of) for o in point.attacks]
        assert sorted(ours) == sorted(outcomes)
        asked_again = sf.utility(PEOPLE, buckets, policy=asked, seed=3)
        assert point.losses == {"query-error": asked_again.queries.mean}
        assert (point.published, point.suppressed) == (60, 0)
        assert "prosecutor" not in point.risks
        assert found.by("prosecutor").front == ()

    @pytest.mark.usefixtures("patience")
    @pytest.mark.parametrize("method", METHODS)
    def test_errors_of_queries_are_those_of_the_release(self, method):
        models = [{"model": "k-anonymity", "k": 3}, {"model": "distinct-l-diversity",
                   "column": "ill", "l": 2}]  # fmt: skip
        asked = policy(models, method=method)
        [point] = sf.compare(PEOPLE, asked, loss="query-error")
        release = sf.anonymize(PEOPLE, asked)
        expected = sf.utility(PEOPLE, release, policy=asked, seed=0).queries.mean
        assert point.losses["query-error"] == pytest.approx(expected)
        assert point.loss == release.loss

    @pytest.mark.usefixtures("patience")
    def test_impossible_buckets_are_a_point_with_its_reason(self):
        asked = policy(decouple={"method": "anatomy", "l": 2})
        found = sf.compare(PEOPLE, asked, vary={"l": [2, 50]})
        assert [point.possible for point in found] == [True, False]
        assert "no buckets with 50 different values" in found["l=50"].reason

    @pytest.mark.usefixtures("patience")
    def test_what_is_broken_afterwards_is_said(self):
        asked = policy(decouple="break-merge")
        assert sf.compare(PEOPLE, asked).warnings == ()
        [warning] = sf.compare(PEOPLE, asked, loss="query-error").warnings
        assert warning == "policy: the errors of queries are those before it is decoupled"

    def test_a_release_without_rows_answers_nothing(self):
        asked = policy([{"model": "k-anonymity", "k": 9}], suppression=1.0, columns=RAW)
        [point] = sf.compare(PEOPLE, asked, loss="query-error")
        assert point.losses["query-error"] == 1.0

    def test_another_loss_is_looked_at(self):
        found = sf.compare(PEOPLE, policy(), vary={"k": [2, 5]}, loss="discernibility")
        assert found.loss == "discernibility"
        assert found.place(found["k=5"])[0] == found["k=5"].losses["discernibility"]
        assert found.by(loss="height").loss == "height"
        with pytest.raises(UnknownNameError, match="no loss 'query-error' in the comparison"):
            found.by(loss="query-error")

    def test_values_of_several_types_are_decoupled_as_text(self):
        counts = FrequencySet.from_rows(["age"], [(31,), ("old",)])
        assert rows_of(counts).to_pydict() == {"age": ["31", "old"]}


APART = policy(decouple={"method": "anatomy", "l": 2})


class TestWrongRequests:
    @pytest.mark.parametrize(
        ("policies", "vary", "error", "words"),
        [
            ([], None, ParameterError, "policies must be at least one policy, got []"),
            ({}, None, ParameterError, "a list of paths, or names for them"),
            (3, None, ParameterError, "policies must be at least one policy, got 3"),
            (
                {"a": 3},
                None,
                ParameterError,
                "policy must be a policy, the path of a policy",
            ),
            (policy(), {"kk": [2]}, UnknownNameError, "no setting to vary 'kk' in policy 'policy'"),
            (policy(), {"l": [2]}, UnknownNameError, "Known: 'k', 'method', 'suppression'."),
            (policy(), {"k": 2}, ParameterError, "vary['k'] must be a list of values, got 2"),
            (policy(), {"k": "2,5"}, ParameterError, "must be a list of values, got '2,5'"),
            (policy(), {"k": []}, ParameterError, "vary['k'] must be at least one value, got []"),
            (policy(), {"k": [1]}, ParameterError, "vary['k'] must be a value it can have, got 1"),
            (policy(), {"k": ["x"]}, ParameterError, "must be a whole number, got 'x'"),
            (policy(), {"k": [2, 2]}, ParameterError, "two policies would be called so"),
            (policy(), ["k"], ParameterError, "vary must be a mapping of settings to values"),
            (policy(), {"method": ["modrian"]}, ParameterError, "Did you mean 'mondrian'?"),
            (policy(), {"suppression": [2.5]}, ParameterError, "vary['suppression'] must be"),
            (
                policy(),
                {"decouple": ["anatomy"]},
                UnknownNameError,
                "no setting to vary 'decouple'",
            ),
            (APART, {"decouple": ["anatmy"]}, ParameterError, "Did you mean 'anatomy'?"),
            (APART, {"decouple": [{"method": "anatomy", "k": 2}]}, ParameterError, "parameter 'k'"),
            (APART, {"l": [1]}, ParameterError, "with l=1 a bucket hides no person"),
        ],
    )
    def test_it_is_answered_in_words(self, policies, vary, error, words):
        with pytest.raises(error) as caught:
            sf.compare(PEOPLE, policies, vary=vary)
        assert words in str(caught.value)

    def test_two_files_of_the_same_name_need_names(self, tmp_path):
        paths = []
        for folder in ("old", "new"):
            (tmp_path / folder).mkdir()
            paths.append(tmp_path / folder / "policy.yaml")
            paths[-1].write_text(policy().to_yaml(), encoding="utf-8")
        with pytest.raises(ParameterError, match=r"both are called 'policy'. Name them yourself"):
            sf.compare(PEOPLE, paths)

    def test_columns_that_the_data_lacks_are_named_with_the_policy(self):
        wrong = policy(columns={**ROLES, "agee": "dropped"})
        with pytest.raises(PolicyError, match=r"b: policy, columns.agee: .*Did you mean 'age'"):
            sf.compare(PEOPLE, {"a": policy(), "b": wrong})

    def test_one_policy_alone_is_refused_in_the_words_of_anonymize(self):
        wrong = policy(columns={**ROLES, "agee": "dropped"})
        with pytest.raises(PolicyError) as published:
            sf.anonymize(PEOPLE, wrong)
        with pytest.raises(PolicyError) as compared:
            sf.compare(PEOPLE, wrong)
        assert str(compared.value) == str(published.value)

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({"risk": "riks"}, "no risk 'riks'"),
            ({"loss": "query-eror"}, "Did you mean 'query-error'?"),
            ({"threshold": 0}, "threshold must be"),
            ({"parallel": 0}, "parallel must be"),
            ({"seed": -1}, "seed must be"),
        ],
    )
    def test_settings_are_checked(self, settings, words):
        with pytest.raises((ParameterError, UnknownNameError)) as caught:
            sf.compare(PEOPLE, policy(), **settings)
        assert words in str(caught.value)

    def test_an_empty_table_has_nothing_to_compare(self):
        with pytest.raises(InputError, match="no rows"):
            sf.compare(PEOPLE.slice(0, 0), policy())

    def test_an_unknown_point_is_answered_with_the_nearest(self):
        found = sf.compare(PEOPLE, policy(), vary={"k": [2]})
        with pytest.raises(UnknownNameError, match=r"no policy 'k=3' .*Did you mean 'k=2'"):
            _ = found["k=3"]


class TestSeveralAtATime:
    VARY = {"k": [2, 3, 99], "method": ["full-domain", "mondrian"]}  # noqa: RUF012 - a constant

    @pytest.mark.usefixtures("patience")
    def test_the_result_is_the_same(self):
        told = []
        alone = sf.compare(PEOPLE, policy(), vary=self.VARY, parallel=1)
        together = sf.compare(
            PEOPLE, policy(), vary=self.VARY, parallel=2, progress=lambda *step: told.append(step)
        )
        assert together == alone
        steps = [step for step in told if step[0] == "comparing policies"]
        assert steps == [("comparing policies", i, 6) for i in range(7)]

    @pytest.mark.usefixtures("patience")
    @pytest.mark.parametrize("part", ["_keep", "_try_kept"])
    def test_policies_are_tried_here_if_workers_die(self, monkeypatch, part):
        alone = sf.compare(PEOPLE, policy(), vary=self.VARY, parallel=1)
        monkeypatch.setattr(workers, part, lambda *_: os._exit(1))
        assert sf.compare(PEOPLE, policy(), vary=self.VARY, parallel=2) == alone

    @pytest.mark.usefixtures("patience")
    def test_workers_are_started_when_they_pay(self, monkeypatch):
        monkeypatch.setattr(workers, "_PAYS", 0.0)
        monkeypatch.setattr("loky.cpu_count", lambda: 2)
        started, together = [], workers._try_together

        def noted(jobs, *args):
            started.append(len(jobs))
            return together(jobs, *args)

        monkeypatch.setattr(workers, "_try_together", noted)
        found = sf.compare(PEOPLE, policy(), vary=self.VARY)
        assert started == [5]
        assert found == sf.compare(PEOPLE, policy(), vary=self.VARY, parallel=1)

    @pytest.mark.usefixtures("patience")
    def test_a_fault_in_a_worker_reaches_the_caller(self, monkeypatch):
        def fails(*_):
            raise ZeroDivisionError

        monkeypatch.setattr(workers, "_try_kept", fails)
        with pytest.raises(ZeroDivisionError):
            sf.compare(PEOPLE, policy(), vary=self.VARY, parallel=2)

    # A model of the script's own, no guard around its main part.
    SCRIPT = """
import sys
from dataclasses import dataclass
import pyarrow as pa
import sfumato as sf

@dataclass(frozen=True)
class Mine(sf.models.KAnonymity):
    name = "mine"

table = pa.table({"age": list(range(40)) * 2, "ill": ["flu", "gout"] * 40})
ages = {"role": "quasi-identifier", "hierarchy": sf.hierarchy.Intervals([5, 10, 20])}
policy = sf.Policy(columns={"age": ages, "ill": "sensitive"}, models=[Mine(2)])
print("begun", flush=True)
found = sf.compare(table, policy, vary={"k": list(range(2, int(sys.argv[1])))}, parallel=2)
print([point.possible for point in found.points])
"""

    @pytest.mark.usefixtures("patience")
    def test_a_script_needs_no_guard_and_may_have_models_of_its_own(self):
        done = subprocess.run(
            [sys.executable, "-c", self.SCRIPT, "6"], capture_output=True, text=True, check=True
        )
        assert done.stdout == "begun\n[True, True, True, True]\n"
        assert done.stderr == ""

    @pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
    @pytest.mark.usefixtures("patience")
    def test_an_interrupt_ends_it_with_all_its_workers(self, tmp_path):
        file = tmp_path / "script.py"
        file.write_text(self.SCRIPT, encoding="utf-8")
        script = subprocess.Popen(
            [sys.executable, file, "5000"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        script.stdout.readline()
        time.sleep(4)
        script.send_signal(signal.SIGINT)
        _, errors = script.communicate(timeout=240)
        assert script.returncode != 0
        assert "KeyboardInterrupt" in errors
        assert _is_gone(script.pid), "workers are still there"


def _is_gone(group, seconds=15):
    """Return whether a group of processes has ended, or ends while we wait."""
    for _ in range(10 * seconds):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_the_threshold_is_the_strictest_of_the_policies_unless_given():
    mild, strict = policy(), policy(verdict={"threshold": 0.6})
    assert sf.compare(PEOPLE, {"a": mild, "b": strict}).threshold == 0.6
    assert sf.compare(PEOPLE, mild).threshold == 0.75
    low = sf.compare(PEOPLE, mild, threshold=0.3)
    assert low.threshold == 0.3
    assert low["policy"].at_risk >= sf.compare(PEOPLE, mild)["policy"].at_risk


@settings(max_examples=15)
@given(st.integers(2, 6), st.sampled_from(["csv", "pandas", "polars"]))
def test_any_kind_of_table_gives_the_same(tmp_path, k, kind):
    from pyarrow import csv

    csv.write_csv(PEOPLE, tmp_path / "people.csv")
    given = {
        "csv": lambda: str(tmp_path / "people.csv"),
        "pandas": PEOPLE.to_pandas,
        "polars": lambda: __import__("polars").from_arrow(PEOPLE),
    }[kind]()
    asked = policy([{"model": "k-anonymity", "k": k}])
    [one], [other] = sf.compare(given, asked), sf.compare(PEOPLE, asked)
    assert one == other


def test_everything_is_plain_in_a_dictionary():
    found = sf.compare(PEOPLE, policy(), vary={"k": [2, 99]})
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["front"] == ["k=2"]
    assert plain["points"][0]["risks"] == found["k=2"].risks
    assert sf.Policy.from_yaml(plain["points"][0]["policy"]) == found["k=2"].policy
