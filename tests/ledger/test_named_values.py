"""Models that name values: newcomers need not have every one of them."""

import pyarrow as pa
import pytest

import sfumato as sf


@pytest.mark.parametrize(
    "model",
    [
        sf.models.AlphaKAnonymity("ill", alpha=0.5, k=2, protected=("hiv",)),
        sf.models.CategoryShare("ill", share=0.7, categories=(("hiv",), ("flu", "gout"))),
    ],
)
def test_an_increment_without_a_value_that_is_protected(tmp_path, model):
    policy = sf.Policy(columns={"age": "quasi-identifier", "ill": "sensitive"}, models=[model])
    table = pa.table({"age": ["30s"] * 4, "ill": ["hiv", "flu", "gout", "asthma"]})
    release = sf.decouple(table, policy=policy)
    ledger = sf.Ledger.start(release, tmp_path / "clinic.ledger", alpha=0.6, k=2, policy=policy)
    new = pa.table({"age": ["30s"] * 4, "ill": ["flu", "asthma", "asthma", "gout"]})
    assert ledger.publish(new).admitted > 0


def test_a_misspelt_value_is_still_refused(tmp_path):
    model = sf.models.AlphaKAnonymity("ill", alpha=0.5, k=2, protected=("hvi",))
    policy = sf.Policy(columns={"age": "quasi-identifier", "ill": "sensitive"}, models=[model])
    table = pa.table({"age": ["30s"] * 4, "ill": ["hiv", "flu", "gout", "asthma"]})
    release = sf.decouple(table, quasi_identifiers=["age"], sensitive=["ill"])
    ledger = sf.Ledger.start(release, tmp_path / "clinic.ledger", alpha=0.6, k=2, policy=policy)
    new = pa.table({"age": ["30s"] * 2, "ill": ["flu", "gout"]})
    with pytest.raises(sf.errors.PolicyError, match="'hvi'"):
        ledger.publish(new)


@pytest.mark.parametrize("harmless", [("none",), ("None",), ()])
def test_a_comparison_limits_the_values_that_publishing_limits(tmp_path, harmless):
    """Before, `compare` told people at risk of having what the policy calls harmless."""
    ill = {"role": "sensitive", "harmless": harmless}
    columns = {"age": "quasi-identifier", "ill": ill}
    policy = sf.Policy(columns=columns, models=[sf.models.KAnonymity(4)])
    table = pa.table({"age": ["30s"] * 4, "ill": ["hiv", "none", "none", "none"]})
    release = sf.decouple(table, policy=policy)
    path = tmp_path / "clinic.ledger"
    ledger = sf.Ledger.start(release, path, alpha=0.5, policy=policy, above=True)
    new = pa.table({"age": ["30s"] * 4, "ill": ["flu", "none", "none", "none"]})
    done = ledger.publish(new)
    assert done.admitted == (4 if harmless else 0)
    if harmless:
        assert not done.composition.suffers
        assert not ledger.compare(1, 2).suffers
    else:
        assert ledger.publish(pa.table({"age": ["30s"] * 4, "ill": list("abcd")})).admitted
        assert not ledger.compare(1, 3).suffers
