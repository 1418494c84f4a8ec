"""Verify a table of a database, against what it is said to keep or its own manifest."""

from collections.abc import Mapping

from sfumato.errors import InputError, UnknownColumnError
from sfumato.verifier.database import Relation
from sfumato.verifier.files import foreign_in
from sfumato.verifier.folder import columns_check, manifest_check, promises_in
from sfumato.verifier.manifest import stored_manifest
from sfumato.verifier.promises import Promises
from sfumato.verifier.recompute import recompute
from sfumato.verifier.verdict import Check, Verdict, status


def verify_relation(relation: Relation, promises: Promises) -> Verdict:
    """Recompute what a table of a database is said to keep; see `verify_file`.

    >>> people = Relation(("people",), {"age": "text"}, "duckdb", lambda sql: [("2*", 3)])
    >>> verify_relation(people, Promises(["age"], models=[{"model": "k-anonymity", "k": 3}])).holds
    True
    """
    return Verdict(tuple(recompute(relation, promises)))


def verify_stored(
    relation: Relation,
    manifest: str,
    *,
    population: object = None,
    generalization: Mapping[str, Mapping[str | None, object]] | None = None,
) -> Verdict:
    """Recompute every promise that the manifest of a table makes; see `verify_folder`.

    Promises: the table holds the columns and rows that the manifest says, and every model
    holds in it with the figures it claims. Does not promise that the table is the one that was
    published: in a database there is no checksum, and whoever may write there can change both.
    What the database refuses to answer is an error, not a broken promise.

    Args:
        relation: The table.
        manifest: What its manifest says, as it is written.
        population: Path or table of the population, for models that compare with one.
        generalization: Per column, the label each raw text of the population became.
    """
    try:
        claims = stored_manifest(manifest)
    except InputError as error:
        return Verdict((Check("manifest", "broken", detail=str(error)),))
    checks = [manifest_check(claims)]
    promises = promises_in(claims, population, generalization)
    try:
        foreign = foreign_in(relation)
        checks.append(Check("metadata", status(holds=not foreign), detail=foreign))
        checks.append(columns_check(relation, claims))
        checks += recompute(relation, promises)
    except UnknownColumnError as error:
        checks.append(Check("data", "broken", detail=str(error)))
    return Verdict(tuple(checks))
