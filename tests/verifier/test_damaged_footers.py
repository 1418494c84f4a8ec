"""Parquet files whose footer was damaged: refused or read, and never the end of the program."""

from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import SfumatoError
from sfumato.verifier import Promises, verify_file

PROMISES = Promises(["a"], ["b"], [{"model": "k-anonymity", "k": 2}])


@pytest.mark.usefixtures("patience")
def test_any_bit_of_a_footer_may_be_wrong(tmp_path, some):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": ["x", "y"] * 9, "b": [1, 2] * 9}), path)
    data = path.read_bytes()
    size = int.from_bytes(data[-8:-4], "little")
    bits = np.random.default_rng(1).permutation(size * 8)[: some(200, of=4000)]
    for bit in bits.tolist():
        changed = bytearray(data)
        changed[len(data) - 8 - size + bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with suppress(SfumatoError):
            verify_file(path, PROMISES)
