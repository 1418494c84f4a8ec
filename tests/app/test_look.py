"""The step Look: the table beside its release, row by row, and what it is still good for."""

from collections import Counter

import pytest

import sfumato as sf
from sfumato.app.steps import look
from sfumato.comparison.before_after import BeforeAfter
from sfumato.errors import InputError

POLICY = """\
columns:
  age: {role: quasi-identifier, hierarchy: {kind: auto}}
  sex: {role: quasi-identifier, hierarchy: {kind: auto}}
  ill: sensitive
  name: identifier
models:
- {model: k-anonymity, k: 4}
suppression: 20%
"""
ILLS = ("flu", "gout", "<script>alert(1)</script>")


@pytest.fixture
def desk(make_desk):
    lines = ["name,age,sex,ill"]
    lines += [f"Ann{i},{20 + i * 7 % 40},{'mf'[i % 2]},{ILLS[i % 3]}" for i in range(80)]
    lines.append("Bob,99,m,flu")
    return make_desk("\n".join(lines) + "\n", POLICY)


def looked(client, desk):
    client.get("look")
    for name in (look.JOB, look.USE):
        job = desk.jobs.get(name)
        if job is not None:
            assert job.wait(60)
            assert job.error is None, job.error
        client.get("look")
    desk.jobs.get(look.USE).wait(60)
    return client.get("look").text


@pytest.mark.usefixtures("patience")
def test_rows_stand_before_and_after_and_values_command_no_browser(client, desk):
    page = looked(client, desk)
    assert "Published as it is" in page
    assert "≈" in page
    assert "<script>alert" not in page
    assert "Ann1<" not in page
    assert "of 4" in page


@pytest.mark.usefixtures("patience")
def test_rows_that_are_left_out_are_found(client, desk):
    looked(client, desk)
    told = client.get("look/rows", only="left out").text
    found = desk.jobs.get(look.JOB).result
    assert found.pairs.left_out == found.release.suppressed
    assert ("left out" in told) or found.pairs.left_out == 0


@pytest.mark.usefixtures("patience")
def test_pages_and_search(client, desk):
    looked(client, desk)
    assert "page 2 of" in client.get("look/rows", page="2").text
    assert "page 4 of 4" in client.get("look/rows", page="99").text
    assert "No row is like that." in client.get("look/rows", text="zzz").text
    assert "gout" in client.get("look/rows", text="GOUT").text


@pytest.mark.usefixtures("patience")
def test_distributions_associations_and_a_question(client, desk):
    page = looked(client, desk)
    assert "counting queries" in page
    assert "counting queries" in client.get("look/use").text
    assert "Cramér" in page
    assert "<svg" in client.get("look/column", column="age").text
    assert "nope" in client.get("look/column", column="nope").text
    told = client.get("look/question", column0="sex", value0="f", column1="ill", value1="gout").text
    assert "In your table" in told
    assert "at least one value" in client.get("look/question").text
    assert "error" in client.get("look/question", column0="sex", value0="nobody has it").text


@pytest.mark.usefixtures("patience")
def test_another_policy_is_looked_at_anew(client, desk):
    looked(client, desk)
    first = desk.jobs.get(look.JOB)
    desk.change(POLICY.replace("k: 4", "k: 5"), "promises", "k")
    assert "has changed since" in client.get("look/rows").text
    client.get("look")
    assert desk.jobs.get(look.JOB) is not first


@pytest.mark.usefixtures("patience")
def test_what_cannot_be_kept_is_said(client, desk):
    desk.change(POLICY.replace("k: 4", "k: 400"), "promises", "k")
    client.get("look")
    desk.jobs.get(look.JOB).wait(60)
    assert "No release can be made like this." in client.get("look").text


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "method", ["full-domain", "regional", "mondrian", "top-down", "bottom-up", "mdav"]
)
def test_pairs_add_up_to_the_release(desk, method):
    source = desk.require_source().address
    policy = desk.task_policy.with_method(method)
    release = sf.anonymize(source, policy)
    pairs = BeforeAfter.of(source, release)
    published = Counter(
        tuple(map(str, row.values()))
        for row in release.table.select(["age", "sex", "ill"]).to_pylist()
    )
    lines = [row for row in pairs.page(0, pairs.total) if row.after is not None]
    shown = Counter((*(str(cell.text) for cell in row.after), str(row.others[0])) for row in lines)
    assert sum(shown.values()) == release.manifest.rows.published
    # Which of equal rows go where is drawn, so illnesses may be dealt otherwise.
    without = Counter()
    for (age, sex, _), n in shown.items():
        without[age, sex] += n
    expected = Counter()
    for (age, sex, _), n in published.items():
        expected[age, sex] += n
    assert without == expected
    if not pairs.dealt:
        assert shown == published
    spread = pairs.distribution("age")
    assert sum(spread.before) == pytest.approx(1)
    assert sum(spread.after) == pytest.approx(1)


def test_only_the_owner_of_a_release_in_memory_has_pairs(desk, tmp_path):
    source = desk.require_source().address
    made = sf.anonymize(source, desk.task_policy, output=tmp_path / "made")
    assert made.recoding is None
    with pytest.raises(InputError, match="made in memory"):
        BeforeAfter.of(source, made)
