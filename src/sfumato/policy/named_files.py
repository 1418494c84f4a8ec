"""The files that a policy names, wherever it does: those of hierarchies, keys, populations."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from os import PathLike
from typing import NamedTuple

from sfumato.derivations import Derivation
from sfumato.errors import PolicyError
from sfumato.files import is_address
from sfumato.hierarchy import HierarchyBuilder
from sfumato.policy.policy import Policy


class NamedFile(NamedTuple):
    """A file, or a table of a database, that a policy names."""

    place: str
    """Where it is named, as in `columns.zip.hierarchy.file`."""

    name: str
    """How it is named."""

    @property
    def is_address(self) -> bool:
        """Whether it is the address of a table in a database."""
        return is_address(self.name)


def named_files(policy: Policy, *members: object) -> list[NamedFile]:
    r"""Return everything outside of itself that a policy names.

    Fields that hold a path are found by their type, others because their class lists them in
    `names_files`. A class of a plug-in that places files by itself, and lists none, is refused:
    what it opens cannot be told.

    Args:
        policy: The policy.
        members: What was made of its choices from families above it, such as its method.

    Example:
        >>> policy = Policy.from_yaml(
        ...     "columns: {zip: {role: quasi-identifier, hierarchy: {kind: csv, file: zip.csv}}}\n"
        ...     "models: [{model: k-anonymity, k: 2}]"
        ... )
        >>> named_files(policy)
        [NamedFile(place='columns.zip.hierarchy.file', name='zip.csv')]
    """
    found = list(_find(policy, ""))
    for member in members:
        found += _find(member, str(getattr(member, "name", "")))
    return found


def _find(value: object, place: str) -> Iterator[NamedFile]:
    if isinstance(value, PathLike):
        yield NamedFile(place, os.fspath(value))
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _find(each, _within(place, str(key)))
    elif isinstance(value, list | tuple | set | frozenset):
        for at, each in enumerate(value):
            yield from _find(each, f"{place}[{at}]")
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _find_in_fields(value, place)


def _find_in_fields(member: object, place: str) -> Iterator[NamedFile]:
    kind = type(member)
    listed: tuple[str, ...] = getattr(kind, "names_files", ())
    for base in (HierarchyBuilder, Derivation):
        own = getattr(kind, "relative_to", None) is not base.relative_to
        if isinstance(member, base) and own and not listed:
            raise PolicyError(
                f"{place}: {kind.__name__} does not say which of its settings name files, so it "
                "cannot be held to a folder. List them in its names_files"
            )
    for field in fields(member):  # type: ignore[arg-type] # the caller has looked
        if field.name.startswith("_"):
            continue
        value, where = getattr(member, field.name), _within(place, field.name.removesuffix("_"))
        if field.name in listed and isinstance(value, str):
            yield NamedFile(where, value)
        else:
            yield from _find(value, where)


def _within(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
