"""What may protect a sensitive column, by the values it has."""

import pyarrow as pa

from sfumato.drafting.protection import protections
from sfumato.models import AlphaKAnonymity
from sfumato.policy import ColumnRule
from sfumato.tables import open_table

AMOUNTS = [float(100 + 7 * i) for i in range(3000)]


def named(amounts):
    domain = open_table(pa.table({"pay": amounts})).domains(["pay"])["pay"]
    first = protections(ColumnRule(role="sensitive"), domain, 5)[0]
    return {
        value for m in first if isinstance(m, AlphaKAnonymity) for value in map(float, m.protected)
    }


def test_of_many_numbers_that_is_named_which_many_people_have():
    # The shares of some numbers stood beside the names of others, where there were over a thousand.
    for zeros_at in (0, 1500, 3000):
        assert named([*AMOUNTS[:zeros_at], *[0.0] * 2000, *AMOUNTS[zeros_at:]]) == {0.0}


def test_no_number_of_few_people_is_named():
    assert named(AMOUNTS) == set()
    assert named([*AMOUNTS, *[0.0] * 5000]) == set()
