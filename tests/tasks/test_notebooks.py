"""Every result shows itself in a notebook, shortly, and whatever the data holds is only text."""

import pyarrow as pa
import pytest

import sfumato as sf

EVIL = "<script>alert(1)</script>"
AGE = f"age{EVIL}"
TABLE = pa.table(
    {
        AGE: [f"{20 + i % 4 * 10}s{EVIL}" for i in range(60)],
        "zip": [str(i % 3) for i in range(60)],
        "ill": [f"{EVIL}{i % 5}" for i in range(60)],
        "pay": [f"{('lo', 'hi')[i % 2]}{EVIL}" for i in range(60)],
    }
)
POLICY = sf.Policy(
    columns={AGE: "quasi-identifier", "zip": "quasi-identifier"}
    | {"ill": "sensitive", "pay": "sensitive"},
    models=[sf.models.KAnonymity(2)],
)
ROLES = {"quasi_identifiers": [AGE, "zip"], "sensitive": ["ill"]}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return sf.anonymize(TABLE, POLICY, output=tmp_path_factory.mktemp("notebook") / "release")


RESULTS = {
    "release": lambda release: release,
    "verdict": lambda release: release.verdict,
    "break-merge": lambda release: sf.decouple(release, "break-merge"),
    "anatomy": lambda _: sf.decouple(TABLE, {"method": "anatomy", "l": 2}, **ROLES),
    "bucketization": lambda _: sf.decouple(TABLE, "bucketization", **ROLES),
    "hiding": lambda release: sf.decouple(release, "association-hiding"),
    "slicing": lambda _: sf.decouple(TABLE, {"method": "slicing", "l": 2}, **ROLES),
    "verify": sf.verify,
    "evidence": sf.check_evidence,
    "report": sf.report,
    "utility": lambda release: sf.utility(TABLE, release),
    "utilities": lambda release: sf.utility(TABLE, {EVIL: release}),
    "membership": lambda release: sf.tools.membership(TABLE, release),
    "memberships": lambda release: sf.tools.membership(TABLE, {EVIL: release}),
    "estimate": lambda release: sf.estimate(release, {"ill": f"{EVIL}1"}),
    "correlations": sf.tools.correlations,
    "hierarchies": lambda _: sf.tools.hierarchies(TABLE, POLICY),
    "trace": lambda _: sf.tools.trace(TABLE, POLICY),
    "lattice": lambda _: sf.tools.lattice(TABLE, POLICY, subsets=True),
    "detect": sf.detect,
    "breach": lambda release: sf.breach(sf.decouple(release, "break-merge")),
    "explain": lambda release: sf.explain(release, {"zip": "1"}),
    "diff": lambda release: sf.diff(release, sf.anonymize(TABLE, POLICY, method="mondrian")),
    "compare": lambda _: sf.compare(TABLE, {EVIL: POLICY}),
    "inspect": lambda _: sf.inspect(TABLE, policy=POLICY),
    "protect": lambda _: sf.protect(TABLE, POLICY),
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_itself_and_runs_nothing(release, name):
    result = RESULTS[name](release)
    shown = result._repr_html_()
    assert "<script" not in shown
    assert 50 < len(shown) < 20_000
    assert repr(result)


def test_an_answer_is_short_where_it_is_not_asked_for_more(release):
    found = sf.verify(release)
    checks, attacks = len(found.checks), len(found.attacks)
    assert repr(found) == f"<Assessment: {found.answer}, {checks} checks, {attacks} attacks>"


def test_a_refined_release_says_that_nothing_is_proven():
    """It has no search any more: classes that leaked were merged after it."""
    release = sf.protect(TABLE, POLICY).release
    assert release.manifest.search is None
    assert "(full-domain and refined, a heuristic)" in str(release)
    assert "refined" in repr(release)
