"""ZIP areas: the first three digits of ZIP codes, and 000 where few people live."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from sfumato.dataclasses import dataclass
from sfumato.errors import HierarchyError, InputError, some
from sfumato.files import read_small
from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder
from sfumato.lists import read_lists
from sfumato.text import STAR, text_of
from sfumato.typing import Value

SMALL_AREAS = Path(__file__).with_name("zip_areas.txt")
"""The list that comes with Sfumato: of the census of 2000."""

_LARGEST = 1_000_000
"""Bytes of a list."""


def small_zip_areas(path: str | Path | None = None) -> frozenset[str]:
    """Return the initial three digits of ZIP codes whose areas hold 20 000 people or fewer.

    >>> len(small_zip_areas()), "036" in small_zip_areas()
    (17, True)

    Args:
        path: A list of them, in lines or between blanks or commas; None takes the census of 2000.
    """
    if path is None:
        return frozenset(read_lists(SMALL_AREAS)["small areas"].split())
    data = read_small(Path(path), "a list of ZIP areas", _LARGEST, hint="It has a few lines.")
    lines = data.decode("utf-8", "replace").splitlines()
    said = " ".join(line for line in lines if not line.lstrip().startswith(("#", "[")))
    found = re.split(r"[\s,;]+", said.strip())
    wrong = [each for each in found if not re.fullmatch(r"\d{3}", each)]
    if wrong:
        raise InputError(
            f"{path}: {wrong[0]!r} is not the beginning of a ZIP code. Write three digits for each "
            "area, as in 036, 059, 063."
        )
    return frozenset(found)


@dataclass(frozen=True)
class ZipAreas(HierarchyBuilder):
    """ZIP codes of the USA become three digits: 94110 → 941 → `*`, and 03601 → 000 → `*`.

    That is what the Safe Harbor rule of HIPAA (45 CFR 164.514(b)(2)(i)(B)) allows of places smaller
    than a state: the initial three digits, and 000 for areas of 20 000 people or fewer. Allow no
    level below with `levels: [1, 2]`. Codes with nine digits count by their first five, and
    numbers that lost their zeros by what they were.

    Args:
        small_areas: A file with the three digits of areas of 20 000 people or fewer, by newer
            figures of the Census Bureau; without it, the 17 of the census of 2000.

    Example:
        >>> ZipAreas().build("zip", ["94110", "94115", "03601", 2139]).labels[1:]
        (('941', '000', '021'), ('*',))
    """

    name: ClassVar[str] = "zip-areas"
    title: ClassVar[str] = "ZIP areas"
    in_words: ClassVar[str] = "ZIP codes keep three digits, or 000 where few people live."
    translations: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "de": {
            "ZIP areas": "ZIP-Gebiete",
            "ZIP codes keep three digits, or 000 where few people live.": (
                "ZIP-Codes behalten drei Ziffern, oder 000, wo wenige Menschen wohnen."
            ),
        }
    }
    names_files: ClassVar[tuple[str, ...]] = ("small_areas",)
    labels_show_level: ClassVar[bool] = True
    is_common: ClassVar[bool] = True

    small_areas: str | None = None

    @property
    def fixed_height(self) -> int | None:
        return 2

    def build(
        self,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
    ) -> Hierarchy:
        small = small_zip_areas(self.small_areas)
        wrong = [value for value in values if area_of(value) is None]
        if wrong:
            raise HierarchyError(
                f"{column!r} cannot be generalised as ZIP codes: {len(wrong)} of its {len(values)} "
                f"values are none: {some(wrong[:5])}. Write five digits, as in 03601 or "
                "03601-1234, or choose another hierarchy, such as masking."
            )

        def path(value: Value) -> tuple[str, ...]:
            area = area_of(value)
            return ("000" if area in small else str(area), STAR)

        return Hierarchy.from_function(column, values, path)

    @classmethod
    def example_values(cls) -> list[Value]:
        return ["94110", "94115", "03601", "10001-1234"]


_ZIP = re.compile(r"(\d{3,5})(?:\.0)?|(\d{5})[- ]?\d{4}|(\d{3})[*xX]{2}")


def area_of(value: Value) -> str | None:
    """Return the initial three digits of a ZIP code; None if it is none.

    >>> [area_of(value) for value in ("03601", 3601, "10001-1234", "941**", "AB1 2CD")]
    ['036', '036', '100', '941', None]
    """
    found = _ZIP.fullmatch(text_of(value).strip())
    if found is None:
        return None
    digits = next(group for group in found.groups() if group)
    return digits if len(digits) == 3 else digits.zfill(5)[:3]
