"""Profiles of one's own, written in YAML: clauses, each with one of the checks there are."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

from sfumato.dataclasses import dataclass
from sfumato.errors import PolicyError
from sfumato.policy.document import (
    Fault,
    KeyPath,
    LinePlaces,
    faults_of,
    parse,
    policy_error,
    read,
    read_file,
    show,
)
from sfumato.policy.parts import choose
from sfumato.profiles.base import Clause, Profile
from sfumato.profiles.checks import CHECKS

_KEYS = ("name", "title", "source", "note", "clauses")

EXAMPLE = Path(__file__).with_name("example.yaml")
"""A profile to begin with."""


@dataclass(frozen=True)
class WrittenProfile(Profile):
    """A rule that is written in a file.

    ```yaml
    name: our-office
    title: Rule of our office
    source: Handbook of 2024
    clauses:
      - clause: "1"
        text: at least 5 people look alike
        source: section 3
        check: smallest-group
        at_least: 5
      - {clause: "2", text: the recipient has signed, check: person}
    ```

    Every clause has one of the checks `no-identifiers`, `smallest-group`, `largest-risk`,
    `largest-share`, `nobody-singled-out`, `not-linkable`, `nobody-at-risk` and `person`.

    Args:
        file: The file.
    """

    name: ClassVar[str] = "file"
    title: ClassVar[str] = "A rule of your own"
    in_words: ClassVar[str] = (
        "The clauses that a file lists, each with one of the checks there are."
    )

    file: str

    def __post_init__(self) -> None:
        self._read()

    def _read(self) -> "_Text":
        path = Path(self.file)
        return _Text.of(read_file(path), str(path))

    def clauses(self) -> Sequence[Clause]:
        return self._read().clauses

    @classmethod
    def example(cls) -> Self:
        return cls(str(EXAMPLE))

    @property
    def called(self) -> str:
        return self._read().name

    @property
    def headed(self) -> str:
        return self._read().title

    @property
    def cited(self) -> str:
        return self._read().source

    @property
    def remark(self) -> str:
        return self._read().note


@dataclass(frozen=True)
class _Text:
    name: str
    title: str
    source: str
    note: str
    clauses: tuple[Clause, ...]

    @classmethod
    def of(cls, text: str, origin: str) -> Self:
        document = parse(text, origin=origin)
        root, places = document.root, document.places
        if not isinstance(root, Mapping) or not isinstance(root.get("clauses"), list):
            raise PolicyError(
                f"{origin}: a profile is a mapping with the keys name, source and clauses, a list. "
                f"Got {show(root)}"
            )
        faults: list[tuple[KeyPath, str]] = [
            ((str(key),), f"no key {key!r} in a profile. Known: {', '.join(_KEYS)}.")
            for key in root
            if key not in _KEYS
        ]
        said = {key: str(root.get(key, "")) for key in _KEYS[:4]}
        faults += [((), f"{key} is missing") for key in ("name", "source") if not said[key]]
        clauses = []
        for at, written in enumerate(root["clauses"]):
            try:
                clauses.append(_clause(written, said["source"]))
            except (Fault, PolicyError) as error:
                faults += faults_of(error, "clauses", at)
        if not root["clauses"]:
            faults.append((("clauses",), "there is no clause, so nothing would be checked"))
        if faults:
            raise policy_error(faults, places or LinePlaces(origin))
        title = said["title"] or said["name"]
        return cls(said["name"], title, said["source"], said["note"], tuple(clauses))


def _clause(written: object, source: str) -> Clause:
    if not isinstance(written, Mapping):
        raise Fault(f"must be a mapping with clause, text and check, got {show(written)}")
    missing = [key for key in ("clause", "text", "check") if key not in written]
    if missing:
        raise Fault(f"{missing[0]} is missing: a clause has clause, text and check")
    own = ("clause", "text", "source")
    check = choose(CHECKS, "check", {k: v for k, v in written.items() if k not in own})
    where = f"{source}, {read(str, written['source'])}" if "source" in written else source
    return Clause(read(str, written["clause"]), read(str, written["text"]), where, check)
