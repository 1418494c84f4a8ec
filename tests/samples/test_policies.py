"""The sample policies are read by Sfumato and fit their tables."""

import pytest

from sfumato import samples
from sfumato.policy import Policy


@pytest.mark.parametrize("name", ["health", "incognito", "patients", "synthetic", "synthetic-wide"])
def test_a_sample_policy_loads_and_its_hierarchies_cover_the_table(name):
    invented = name.startswith("synthetic")
    table = samples.synthetic(2000, seed=5) if invented else samples.table(name)
    policy = Policy.load(samples.policy_path(name))
    policy.check_against(table.column_names)
    for column, rule in policy.columns.items():
        if rule.hierarchy is not None:
            values = table[column].drop_null().unique().to_pylist()
            ladder = rule.hierarchy.build(column, values).bind(column, [*values, None])
            assert len(ladder.labels[-1]) == 1
            assert ladder.height >= (rule.levels[1] if rule.levels else 1)


def test_the_levels_of_the_incognito_example_are_the_printed_ones():
    columns = Policy.load(samples.policy_path("incognito")).columns
    table = samples.table("incognito")
    zipcode = columns["zipcode"].hierarchy.build("zipcode", table["zipcode"].unique().to_pylist())
    assert columns["zipcode"].levels == (0, 2)
    assert set(zipcode.labels[1]) == {"2203*", "2204*"}
    assert set(zipcode.labels[2]) == {"220**"}
    statuses = table["marital_status"].unique().to_pylist()
    marital = columns["marital_status"].hierarchy.build("marital_status", statuses)
    assert [set(labels) for labels in marital.labels] == [
        {"Married", "Divorced", "Widow", "Single"},
        {"Been Married", "Never Married"},
        {"*"},
    ]
