"""Hold people in the data and strangers against synthetic rows: whom do attacks find?"""

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.errors import InputError, ParameterError, require_int
from sfumato.policy import GivenPolicy, policy_of
from sfumato.releases.opening import PublishedTable, open_release
from sfumato.releases.preparing import open_prepared
from sfumato.schema import Role
from sfumato.synthesis.domain import ColumnDomain
from sfumato.synthesis.strangers import Strangers, attribute, copies, membership

_FEWEST = 20
_MOST = 100_000
"""People of each side who are asked about: of more, some are drawn."""


def strangers(
    original: object,
    release: object,
    others: object,
    *,
    policy: GivenPolicy | None = None,
    seed: int = 0,
) -> Strangers:
    """Attack synthetic rows, on people who are in the data and on others who are not.

    Three attacks run on both sides: whether a row like a person's is published, whether a person
    is taken for one in the data by the ratio of likelihoods, and whether each sensitive value is
    guessed by what others know. What succeeds on both sides alike is true of people in general.
    What is gained beyond that is of those in the data alone, and the promise says how much it can
    be. Intervals take people for independent of each other.

    Does not promise: that no better attack is there. That is the promise's, and needs no attack.
    The result is private: it is computed from the data.

    Args:
        original: The table that the rows were made of.
        release: What `synthesize` published, or its folder.
        others: A table of people of the same kind who are not in the data: rows kept back before.
        policy: The policy, if it derives columns that the table does not have.
        seed: Which people are drawn, if there are many, and which others the adversary knows.
    """
    require_int("seed", seed, at_least=0)
    given = policy_of(policy)
    opened = open_release(release, given)
    drawn = None if opened.record is None else opened.record.drawn
    if drawn is None or opened.record is None or not isinstance(opened, PublishedTable):
        raise ParameterError(
            "release", release, "synthetic rows", why="of all others verify runs the attacks"
        )
    domains = [ColumnDomain.read(name, plain) for name, plain in drawn.domain.items()]
    names = [domain.name for domain in domains]
    rng = np.random.default_rng(seed)
    [published] = opened.counts(tuple(names)).tables
    sides = [open_prepared(each, given).count(names) for each in (original, others)]
    tables = tuple(_cells(each, domains, rng) for each in (published, *sides))
    if min(each.shape[1] for each in tables) < _FEWEST:
        raise InputError(
            f"fewer than {_FEWEST} rows on one side: chance would decide. Keep back more people."
        )
    whole, inside, outside = tables
    roles = {column.name: column.role for column in opened.record.columns}
    known = [at for at, name in enumerate(names) if roles[name] == Role.QUASI_IDENTIFIER.value]
    secret = [at for at, name in enumerate(names) if roles[name] == Role.SENSITIVE.value]
    found = (
        copies(whole, inside, outside),
        membership(whole, inside, outside, rng),
        *(attribute(names[at], at, known, (whole, inside, outside)) for at in secret if known),
    )
    return Strangers(found, drawn.epsilon, drawn.delta)


def _cells(
    counts: FrequencySet, domains: list[ColumnDomain], rng: np.random.Generator
) -> np.ndarray:
    """Return the cells of all rows, by columns and rows; values without a cell share one more."""
    item = np.repeat(np.arange(len(counts)), counts.rows)
    if len(item) > _MOST:
        item = rng.choice(item, _MOST, replace=False)
    found = []
    for domain in domains:
        cells = [domain.cell_of(value) for value in counts.column(domain.name).values]
        lookup = np.array([domain.size if c is None else c for c in cells], dtype=np.int64)
        found.append(lookup[counts.codes_of(domain.name)[item]])
    return np.stack(found)
