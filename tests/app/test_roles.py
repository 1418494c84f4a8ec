"""The roles step: what a change of role leaves open is drafted when it is asked for."""

import pytest

from sfumato.hierarchy import Automatic
from sfumato.models import DistinctLDiversity
from sfumato.schema import Role
from tests.app.test_promises import TABLE

POLICY = """\
# agreed on Monday
columns:
  # in fives
  age: {role: quasi-identifier, hierarchy: {kind: intervals, widths: [5]}}
  sex: quasi-identifier
  disease: {role: sensitive, known: false}
  pay: dropped
models:
- {model: k-anonymity, k: 2}
"""


@pytest.fixture
def desk(make_desk):
    return make_desk(TABLE, POLICY)


@pytest.mark.usefixtures("patience")
def test_hierarchies_and_promises_are_drafted_for_changed_roles_and_the_rest_stays(client, desk):
    before = desk.policy
    assert "left-open" not in client.get("roles").text
    client.post("roles/set", column="pay", role="quasi-identifier")
    assert desk.policy.columns["pay"].hierarchy == Automatic()
    assert "left-open" in client.get("roles").text
    assert client.post("roles/redraft").status == 200
    assert desk.policy.columns["pay"].hierarchy != Automatic()
    assert "left-open" not in client.get("roles").text
    client.post("roles/set", column="pay", role="sensitive")
    assert DistinctLDiversity(column="pay", l=2) in desk.policy.models
    assert client.post("roles/redraft").status == 200
    assert DistinctLDiversity(column="pay", l=2) not in desk.policy.models
    assert desk.policy.role_of("pay") is Role.SENSITIVE
    # What was written by hand is as it was.
    for name in ("age", "sex", "disease"):
        assert desk.policy.columns[name] == before.columns[name]
    assert desk.text.startswith("# agreed on Monday\ncolumns:\n  # in fives\n")
    assert desk.policy.models[0] == before.models[0]
