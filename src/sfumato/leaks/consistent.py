"""Tables that fit a broken release: what an adversary without further knowledge must imagine."""

import numpy as np

from sfumato.broken import Broken
from sfumato.counts import FrequencySet, group, sums


def random_table(broken: Broken, rng: np.random.Generator) -> FrequencySet:
    """Draw one of the tables that fit: each column's values dealt out at random in each group.

    Every such table is equally likely to somebody who sees the broken release only, so
    what depends on what in it, beyond the groups, is chance.

    Example:
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "high")]
        >>> counts = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> broken = Broken.of(counts, ["age"], ["ill", "pay"])
        >>> table = random_table(broken, np.random.default_rng(1))
        >>> table.total, table.value_counts("pay").tolist()
        (2, [1, 1])
    """
    of_row = np.repeat(np.arange(len(broken)), broken.sizes)
    codes = [labels[of_row] for labels in broken.labels]
    for table in broken.sensitive:
        values = np.repeat(table.value, table.rows)
        order = np.lexsort((rng.random(len(values)), np.repeat(table.group, table.rows)))
        codes.append(values[order])
    columns = (*broken.quasi_identifiers, *(table.column for table in broken.sensitive))
    groups = group(codes, [len(column.values) for column in columns], n=broken.total)
    ones = np.ones(broken.total, dtype=np.int64)
    distinct = np.array([code[groups.first] for code in codes], dtype=np.int32)
    return FrequencySet(
        columns, distinct.reshape(len(columns), groups.n), sums(groups.of_item, ones, groups.n)
    )
