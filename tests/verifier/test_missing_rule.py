"""Where a policy suppresses rows that miss a quasi-identifier, none may be left."""

import pyarrow as pa
import pytest

from sfumato.verifier import Promises, verify_file

MODELS = [{"model": "k-anonymity", "k": 2}]


@pytest.mark.parametrize(("ages", "status"), [(["2*", "2*"], "holds"), ([None, None], "broken")])
def test_suppress_means_that_no_quasi_identifier_is_missing(ages, status):
    verdict = verify_file(
        pa.table({"age": ages}), Promises(["age"], models=MODELS, missing="suppress")
    )
    assert verdict["missing values"].status == status
