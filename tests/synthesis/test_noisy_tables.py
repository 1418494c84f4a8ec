"""Decoupled tables with noisy counts: what is published, refused, believed and estimated."""

import json
import math
from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, MissingExtraError, ParameterError, PolicyError
from sfumato.synthesis.budget import PrivacyBudget
from sfumato.synthesis.mechanisms import Measurement, NoisyTables
from sfumato.synthesis.noise import deviation_of, noise_of_sum
from sfumato.synthesis.whole import nearest_whole
from sfumato.tasks import noisy_tables as task
from sfumato.tasks import private_source
from sfumato.verifier import noisy as verified
from tests.synthesis.stubs import POLICY, add_noise, people

NOISE = {"method": "break-merge", "noise": {"epsilon": 0.5}}


def with_columns(**columns):
    return {**POLICY, "columns": {**POLICY["columns"], **columns}}


@pytest.fixture
def made(own_noise, tmp_path):
    return sf.decouple(people(2000), NOISE, policy=POLICY, output=tmp_path / "made", format="csv")


# Whole people in place of noisy counts.


@pytest.mark.usefixtures("patience")
@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(-6, 8), min_size=3, max_size=3), min_size=1, max_size=3),
       st.data())  # fmt: skip
def test_whole_people_are_the_nearest_there_are_and_the_verifier_finds_the_same(rows, data):
    totals = [data.draw(st.integers(0, 9)) for _ in rows]
    found = nearest_whole(np.array(rows), np.array(totals)).tolist()
    for place, (noisy, total, whole) in enumerate(zip(rows, totals, found, strict=True)):
        possible = [each for each in product(range(total + 1), repeat=3) if sum(each) == total]
        nearest = min(math.dist(each, noisy) for each in possible)
        assert tuple(whole) in possible
        assert math.dist(whole, noisy) == pytest.approx(nearest)
        assert verified.nearest_whole(noisy, total, place) == whole


# How far off sums are.


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize(("scale", "cells"), [(0.4, 1), (2.0, 1), (1.5, 3), (3.0, 7)])
def test_the_noise_of_a_sum_is_that_of_its_cells_one_after_the_other(scale, cells, pure):
    at = np.arange(-150, 151)
    one = np.exp(-np.abs(at) / scale if pure else -(at**2) / (2 * scale**2))
    one, sums = one / one.sum(), np.ones(1)
    for _ in range(cells):
        sums = np.convolve(sums, one)
    middle = len(sums) // 2
    for share in (0.5, 0.95, 0.999):
        inside = sums[middle] + 2 * np.cumsum(np.r_[0, sums[middle + 1 :]])
        assert noise_of_sum(scale, cells, share, pure=pure) == np.argmax(inside >= share - 1e-9)
    own = math.sqrt(float((one * at**2).sum()))
    if pure or scale > 1:  # so narrow a Gaussian is less wide on whole numbers
        assert own == pytest.approx(deviation_of(scale, pure=pure), rel=1e-6)


def test_wide_noise_is_rounded_up():
    wide = noise_of_sum(1e6, 1, 0.95, pure=True)
    assert 1e6 * math.log(20) <= wide <= 1e6 * math.log(20) * 1.01


# What is published.


@pytest.mark.usefixtures("patience")
def test_it_is_a_release_like_any_other(made):
    assert made.verdict.holds
    assert made.warnings == ()
    assert "differential privacy for each person of at most 1 row: epsilon 0.5" in str(made)
    tables = sf.read_release(made.folder)
    assert len(tables["noisy_groups"]) == 3 * 8
    assert len(tables["noisy_ill"]) == 3 * 8 * 4
    assert sf.check_evidence(made.folder).checks
    assert sf.utility(people(2000), made, policy=POLICY)
    assert sf.verify(made).answer == "yes"
    assert sf.verify(made.folder, POLICY).verdict.holds
    opened = sf.verify(made.folder)
    assert opened.answer == "with care"
    assert "OpenDP 0.0 drew the noise" in str(opened)
    assert "a belief of 10 % becomes" in str(opened) or "10 % at most" in str(opened)
    report = sf.report(made).to_markdown()
    for untrue in ("look alike", "no attack could be tried", "joining the parts", "people alone"):
        assert untrue not in report, untrue
    readme = (made.folder / "README.md").read_text(encoding="utf-8")
    assert "No row is a person's" in readme
    assert "deviation of 5.64" in readme
    assert "e^0.5" in readme
    assert "Exact" not in readme
    other = sf.decouple(people(2000), {**NOISE, "noise": {"epsilon": 0.7}}, policy=POLICY)
    assert {each.name for each in sf.diff(made, other).riskier} == {
        "whether a person is in the table: most that 10 % becomes",
        "a value of a person who is known to be in it: most that 10 % becomes",
    }


def test_every_cell_is_counted_whoever_is_there(own_noise):
    """Which cells there are must not tell who is there."""
    one = people(60)
    two = one.filter(pa.compute.equal(one["sex"], "f"))
    kept = []
    for table in (one, two):
        made = sf.decouple(table, NOISE, policy=POLICY)
        cells = [made.tables[name] for name in ("noisy_groups", "noisy_ill")]
        names = [[n for n in each.column_names if n != "count"] for each in cells]
        kept.append(
            [{*zip(*(t[n].to_pylist() for n in own), strict=True)}
             for t, own in zip(cells, names, strict=True)]
        )  # fmt: skip
    assert kept[0] == kept[1]
    assert [len(each) for each in kept[0]] == [24, 96]
    assert ("m", None, "gout") in kept[1][1]


def test_all_that_is_published_follows_from_noisy_counts(own_noise, monkeypatch, tmp_path):
    """Two tables of other people, with the same noisy counts, are the same files."""
    rng = np.random.default_rng(7)
    fixed = [rng.integers(-5, 30, (3, 8)), rng.integers(-5, 30, (3, 8, 4))]

    def same(_counts, cliques, budget, **_):
        part = budget.spent / len(cliques)
        measured = tuple(Measurement(tuple(each), 1 / part, part) for each in cliques)
        return NoisyTables(measured, tuple(fixed), "OpenDP 0.0")

    monkeypatch.setattr(task, "count_with_noise", same)
    for module in (task, private_source):
        monkeypatch.setattr(module, "secret_generator", lambda: np.random.default_rng(1))
    found = []
    for number, table in enumerate((people(300), people(40, seed=9), pa.concat_tables(
        [people(9), people(9).set_column(1, "sex", pa.array(["m"] * 9))]
    ))):  # fmt: skip
        folder = tmp_path / str(number)
        sf.decouple(table, NOISE, policy=POLICY, output=folder, format="csv")
        found.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    assert found[0] == found[1] == found[2]
    assert {"README.md", "codebook.csv", "schema.sql", "noisy_ill.csv"} <= {*found[0]}


def test_one_person_changes_one_cell_of_each_list_by_their_rows_at_most(own_noise, monkeypatch):
    seen = []

    def note(counts, cliques, budget, **settings):
        seen.append([counts.marginal(clique) for clique in cliques])
        return add_noise(counts, cliques, budget, **settings)

    monkeypatch.setattr(task, "count_with_noise", note)
    table = people(300)
    several = pa.concat_tables([table, *[table.slice(3, 1)] * 5])
    noise = {"epsilon": 0.5, "contributions": 2}
    for each in (table, several, table.slice(1)):
        made = sf.decouple(each, {"method": "break-merge", "noise": noise}, policy=POLICY)
    assert made.manifest.synthetic.contributions == 2
    assert made.manifest.synthetic.measurements[0].scale == pytest.approx(2 / 0.25)
    for before, after in pairwise(seen):
        for one, other in zip(before, after, strict=True):
            assert np.abs(one - other).sum() == (1 if before is seen[0] else 2)


def test_levels_are_those_that_are_stated(own_noise):
    ages = {"kind": "intervals", "widths": [10, 20]}
    line = {"role": "quasi-identifier", "domain": {"from": 18, "to": 79}, "hierarchy": ages}
    made = sf.decouple(people(900), NOISE, policy=with_columns(age={**line, "levels": [2, 2]}))
    shown = {*made.tables["noisy_groups"]["age"].to_pylist()}
    assert shown == {"0 to 19", "20 to 39", "40 to 59", "60 to 79", None}
    assert made.manifest.levels["age"] == 2
    assert sf.verify(made).verdict.holds
    for levels, why in (
        ([1, 2], "leaves open which level"),
        ([3, 3], "say.* nothing"),
        ([0, 0], "states raw values"),
    ):
        with pytest.raises(PolicyError, match=why):
            sf.decouple(people(), NOISE, policy=with_columns(age={**line, "levels": levels}))
    apart = {**line, "domain": {"from": 18, "to": 79, "cuts": [25]}, "levels": [1, 1]}
    with pytest.raises(PolicyError, match="parts the cell '18 to 24' of the domain"):
        sf.decouple(people(), NOISE, policy=with_columns(age=apart))


def test_columns_that_stay_together_are_counted_together(own_noise, tmp_path):
    pay = ["low", "high", None, "low"] * 225
    table = people(900).append_column("pay", pa.array(pay))
    policy = with_columns(pay={"role": "sensitive", "domain": ["low", "high"]})
    method = {**NOISE, "together": ["ill+pay"]}
    made = sf.decouple(table, method, policy=policy, output=tmp_path / "made", format="csv")
    assert [each.columns for each in made.manifest.synthetic.measurements] == [
        ("sex", "age"), ("sex", "age", "ill", "pay")
    ]  # fmt: skip
    assert sf.verify(tmp_path / "made").verdict.holds
    found = sf.estimate(tmp_path / "made", {"ill": "flu", "pay": "low"})
    real = sum(row["ill"] == "flu" and row["pay"] == "low" for row in table.to_pylist())
    assert abs(found.estimate - real) < 8 * deviation_of(4.0, pure=True) * math.sqrt(24)


# What is estimated.


def test_intervals_hold_what_is_there_about_as_often_as_they_say(own_noise, patience):
    table = people(600)
    table = table.append_column("pay", pa.array(["low", "low", "high"] * 200))
    policy = with_columns(pay={"role": "sensitive", "domain": ["low", "high"]})
    rows = table.to_pylist()
    questions = [
        {"ill": "flu"},
        {"sex": "f"},
        {"sex": "f", "age": "28 to 37", "ill": ["flu", "cold"]},
        {"sex": "m", "ill": "gout", "pay": "low"},
    ]
    low, high = 28, 37
    real = [
        sum(r["ill"] == "flu" for r in rows),
        sum(r["sex"] == "f" for r in rows),
        sum(r["sex"] == "f" and low <= r["age"] <= high and r["ill"] != "gout" for r in rows),
        sum(r["sex"] == "m" and r["ill"] == "gout" and r["pay"] == "low" for r in rows),
    ]
    held, off = np.zeros(4), np.zeros(4)
    runs = 60
    for _ in range(runs):
        made = sf.decouple(table, NOISE, policy=policy)
        for at, (asked, true) in enumerate(zip(questions, real, strict=True)):
            found = sf.estimate(made, asked)
            held[at] += found.least <= true <= found.most
            off[at] += found.estimate - true
            assert found.confidence == 0.95
            assert not found.exact
    # Of 60 draws, 51 or fewer hold with a chance below one in 20 000.
    assert (held >= 52).all(), held
    # Sums of noisy counts are not bent; 24 cells of scale 6 are off by 42 in one draw.
    assert abs(off[0] / runs) < 6 * 8.5 * math.sqrt(24) / math.sqrt(runs)


def test_an_estimate_says_that_counts_have_noise(made, own_noise):
    found = sf.estimate(made.folder, {"ill": "flu", "age": (20, 40)})
    assert "with 95 % confidence, for counts have noise" in str(found)
    assert found.to_dict()["confidence"] == 0.95
    # Cells that age parts count for the most, and not for the least.
    whole = sf.estimate(made.folder, {"ill": "flu", "age": (28, 37)})
    assert found.least <= whole.least
    assert found.most > whole.most
    nobody = sf.estimate(made.folder, {"ill": "gout", "age": (18, 27)})
    assert nobody.least == 0
    assert sf.estimate(made.folder, {"ill": "flu"}, policy=POLICY).confidence == 0.95
    with pytest.raises(ParameterError, match="original must be left out"):
        sf.estimate(made.folder, {"ill": "flu"}, original=people())
    with pytest.raises(sf.SfumatoError, match="plague"):
        sf.estimate(made.folder, {"ill": "plague"})


# What is spent and refused.


@pytest.mark.usefixtures("own_noise")
def test_what_is_spent_is_written_down_before_and_refused_beyond_the_limit(tmp_path, monkeypatch):
    account, output = tmp_path / "clinic.account", tmp_path / "out"
    sf.tools.account(account, epsilon=0.8)
    sf.decouple(people(), NOISE, policy=POLICY, account=account)
    assert sf.tools.account(account).spent == pytest.approx(0.5)
    with pytest.raises(InputError, match=r"its account allows 0\.8"):
        sf.decouple(people(), NOISE, policy=POLICY, account=account, output=output)
    assert not output.exists()

    def fail(*_, **__):
        raise RuntimeError

    monkeypatch.setattr(task, "count_with_noise", fail)
    little = {**NOISE, "noise": {"epsilon": 0.2}}
    with pytest.raises(RuntimeError):
        sf.decouple(people(), little, policy=POLICY, account=account, output=output)
    assert sf.tools.account(account).spent == pytest.approx(0.7)
    assert not output.exists()
    with pytest.raises(ParameterError, match="without noise nothing is spent"):
        sf.decouple(people(), "break-merge", policy=POLICY, account=account)


@pytest.mark.usefixtures("own_noise")
def test_the_command_publishes_and_refuses(tmp_path, monkeypatch):
    from pyarrow import csv
    from typer.testing import CliRunner

    from sfumato.cli.app import app

    monkeypatch.chdir(tmp_path)
    csv.write_csv(people(900), "people.csv")
    (tmp_path / "policy.yaml").write_text(sf.Policy(**POLICY).to_yaml(), encoding="utf-8")
    sf.tools.account("clinic.account", epsilon=1)
    asked = ["decouple", "people.csv", "-p", "policy.yaml", "--account", "clinic.account"]
    noise = ["--method", "break-merge", "--option", "noise={epsilon: 0.6}"]
    done = CliRunner().invoke(app, [*asked, *noise, "-o", "noisy"])
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "differential privacy for each person of at most 1 row: epsilon 0.6" in said
    assert CliRunner().invoke(app, ["verify", "noisy", "-p", "policy.yaml"]).exit_code == 0
    shown = CliRunner().invoke(app, ["estimate", "noisy", "--where", "ill=flu"])
    assert "with 95 % confidence" in shown.output
    for wrong in (noise, [], ["--method", "break-merge", "--option", "noise={epsilon: x}"]):
        assert CliRunner().invoke(app, [*asked, *wrong, "-o", "more"]).exit_code == 2
    assert not (tmp_path / "more").exists()
    assert sf.tools.account("clinic.account").spent == pytest.approx(0.6)


REFUSED = [
    ({"noise": {"epsilon": 0}}, {}, "epsilon"),
    ({"noise": {"epsilon": math.nan}}, {}, "epsilon"),
    ({"noise": {"epsilon": 1, "rho": 1}}, {}, "epsilon, or rho in its place"),
    ({"noise": {}}, {}, "epsilon, or rho in its place"),
    ({"noise": {"epsilon": "much"}}, {}, "epsilon"),
    ({"noise": {"epsilon": 1, "contributions": 0}}, {}, "contributions"),
    ({"noise": {"epsilon": 1, "unit": "city"}}, {}, "unit"),
    ({"noise": {"epsilom": 1}}, {}, "epsilom"),
    ({"noise": {"epsilon": 1e-7}}, {}, "would drown every count"),
    ({"method": "anatomy", "l": 2}, {}, "no parameter 'noise'"),
    ({}, {"seed": 1}, "of the table itself"),
    ({}, {"sensitive": ["ill"]}, "the policy says it"),
    ({}, {"policy": None}, "policy"),
    ({}, {"output": "table:released"}, "folder|table"),
    ({}, {"policy": with_columns(ill="sensitive")}, "has no public domain"),
    ({}, {"policy": with_columns(ill={"role": "plain", "domain": ["flu"]})}, "is plain"),
    ({}, {"policy": with_columns(ill={"role": "sensitive", "domain": ["flu"]})}, "no cell for"),
]


@pytest.mark.usefixtures("own_noise")
@pytest.mark.parametrize(("method", "more", "why"), REFUSED)
def test_what_cannot_be_is_refused_and_nothing_is_spent_or_written(method, more, why, tmp_path):
    account, output = tmp_path / "clinic.account", tmp_path / "out"
    sf.tools.account(account, epsilon=50)
    settings = {"policy": POLICY, "output": output, "account": account, **more}
    with pytest.raises(sf.SfumatoError, match=why):
        sf.decouple(people(), {**NOISE, **method}, **settings)
    assert sf.tools.account(account).spent == 0
    assert not output.exists()


@pytest.mark.usefixtures("own_noise")
def test_too_many_cells_and_releases_are_refused(tmp_path):
    wide = {"role": "quasi-identifier", "domain": {"from": 0, "to": 9999, "width": 1}}
    table = people().append_column("n", pa.array(range(400)))
    many = with_columns(n=wide, m=wide)
    with pytest.raises(InputError, match=r"cells would be counted with noise"):
        sf.decouple(table.append_column("m", table["n"]), NOISE, policy=many)
    grown = {**POLICY, "models": [{"model": "k-anonymity", "k": 2}]}
    release = sf.anonymize(people(), {k: v for k, v in grown.items() if k != "person"})
    with pytest.raises(InputError, match="of the table itself"):
        sf.decouple(release, NOISE)
    asked = {**POLICY, "decouple": NOISE}
    found = sf.compare(people(), {"noisy": {k: v for k, v in asked.items() if k != "person"}})
    assert "of the table itself" in str(found)


def test_no_ledger_begins_with_people_that_noise_made(made, tmp_path):
    with pytest.raises(InputError, match="has noisy counts"):
        sf.Ledger.start(made, tmp_path / "clinic.ledger", alpha=0.9)
    with pytest.raises(ParameterError, match="synthetic rows"):
        sf.tools.strangers(people(), made, people(seed=2))


def test_without_the_extra_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r'pip install "sfumato\[synthetic\]"'):
        sf.decouple(people(), NOISE, policy=POLICY)


# What the verifier finds.


def rewrite(folder, change):
    """Change a manifest and let its hashes be right."""
    from hashlib import sha256

    path = folder / "manifest.json"
    plain = json.loads(path.read_text(encoding="utf-8"))
    change(plain)
    for file in plain["files"]:
        content = (folder / file["name"]).read_bytes()
        file["sha256"] = sha256(content).hexdigest()
        if file["table"] != "qi":
            file["rows"] = content.count(b"\n") - 1
    path.write_text(json.dumps(plain), encoding="utf-8")


def check_named(folder, name):
    return next(each for each in sf.verify(folder).verdict.checks if each.name == name)


def test_people_who_are_not_in_noisy_counts_are_found(made):
    """Exact tables beside noisy ones would say everything."""
    path = made.folder / "sensitive_ill.csv"
    first, *rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
    group, at = first.index("group"), first.index("count")
    # Noise decides which groups have what, so take any two values of one group.
    one, other = next(
        (one, other)
        for one in rows
        for other in rows
        if other is not one and other[group] == one[group] and int(one[at]) > 1
    )
    one[at], other[at] = str(int(one[at]) - 1), str(int(other[at]) + 1)
    path.write_text("\n".join([*map(",".join, [first, *rows]), ""]), encoding="utf-8")
    rewrite(made.folder, lambda _: None)
    assert sf.verify(made.folder).answer != "yes"
    assert not sf.verify(made.folder).holds
    assert check_named(made.folder, "noisy counts").status == "broken"


def test_a_cell_that_is_left_out_is_found(made):
    path = made.folder / "noisy_ill.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines[:-1], ""]), encoding="utf-8")
    rewrite(made.folder, lambda _: None)
    assert check_named(made.folder, "domain").status == "broken"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda s: s.update(epsilon=0.1), "privacy budget"),
        (lambda s: s["measurements"][0].update(scale=40.0), "privacy budget"),
        (lambda s: s.update(contributions=2), "privacy budget"),
        (lambda s: s["measurements"].pop(), "privacy budget"),
        (lambda s: s.update(selection=0.1), "privacy budget"),
        (lambda s: s["domain"]["ill"]["values"].append("plague"), "domain"),
        (lambda s: s["domain"].pop("ill"), "domain"),
        (lambda s: s["domain"]["ill"].update(values=[["flu"]]), "domain"),
        (lambda s: s.update(noise="none"), "synthetic"),
    ],
)
def test_a_manifest_that_says_something_else_is_found(made, change, name):
    rewrite(made.folder, lambda plain: change(plain["synthetic"]))
    assert check_named(made.folder, name).status == "broken"
    assert sf.verify(made.folder).answer == "no"


def test_a_promise_without_noisy_counts_is_none(made):
    def without(plain):
        plain["files"] = [each for each in plain["files"] if each["table"] != "noisy"]

    rewrite(made.folder, without)
    assert check_named(made.folder, "manifest").status == "broken"


def test_noise_that_excludes_nothing_is_judged_as_none(own_noise):
    loud = sf.decouple(people(40), {**NOISE, "noise": {"epsilon": 20}}, policy=POLICY)
    found = sf.verify(loud)
    assert not found.beliefs
    assert found.answer == "no"
    assert found.at_risk


# What OpenDP draws.


@pytest.mark.usefixtures("synthetic", "patience")
@pytest.mark.parametrize("delta", [None, 1e-6])
def test_canaries_tell_no_more_than_is_promised_and_a_tenth_of_the_noise_does(delta):
    """A person is in one cell of each table: what speaks for them is the sum of the noise there."""
    from sfumato.synthesis.mechanisms import CountedCells, count_with_noise
    from tests.synthesis.test_mechanisms import lower_bound

    cells = np.stack([np.arange(4000) % 20, np.arange(4000) % 40])
    counts = CountedCells(("a", "b"), (20, 40), cells, np.full(4000, 10_000))
    budget = PrivacyBudget.of(epsilon=1.0, delta=delta)
    said = []
    for _ in range(12):
        found = count_with_noise(counts, [("a",), ("a", "b")], budget)
        noise = [
            each - counts.marginal(measured.columns)
            for each, measured in zip(found.counts, found.measurements, strict=True)
        ]
        # Counts are exact but for noise, however large: 2 million rows are in each cell of one.
        assert np.abs(noise[0]).max() < 100 * found.measurements[0].scale
        said += [noise[0].ravel(), noise[1].ravel()]
    assert math.fsum(each.spent for each in found.measurements) <= budget.spent * (1 + 1e-9)
    assert math.fsum(each.spent for each in found.measurements) >= budget.spent * 0.999
    noise = np.concatenate(said)
    wide = deviation_of(found.measurements[0].scale, pure=delta is None)
    assert np.std(noise) == pytest.approx(wide, rel=0.1)
    # One cell alone spends half; that of both together is told by two draws, each half as sure.
    both = noise[: len(noise) // 2 * 2].reshape(2, -1).sum(axis=0)
    assert lower_bound(both, 2) <= budget.epsilon
    assert lower_bound(both / 10, 2) > budget.epsilon


@pytest.mark.usefixtures("synthetic", "patience")
def test_a_table_is_published_by_opendp_verified_and_near_the_original():
    noise = {"epsilon": 1.0, "delta": 1e-6}
    made = sf.decouple(people(2000), {**NOISE, "noise": noise}, policy=POLICY)
    assert made.verdict.holds
    found = sf.estimate(made, {"ill": "flu"})
    real = people(2000)["ill"].to_pylist().count("flu")
    scale = made.manifest.synthetic.measurements[1].scale
    assert abs(found.estimate - real) < 6 * scale * math.sqrt(24)
