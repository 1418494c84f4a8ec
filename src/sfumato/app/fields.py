"""The fields of a form or of an address, read strictly."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from urllib.parse import parse_qs

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError

_MOST_FIELDS = 20_000


@dataclass(frozen=True)
class Fields:
    """The fields that came with a request, and the language that the answer should have."""

    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    language: str = "en"

    @classmethod
    def of(cls, text: str, language: str) -> "Fields":
        """Return the fields of a form or an address.

        >>> Fields.of("k=5&column=age&column=sex", "en").texts("column")
        ['age', 'sex']
        """
        try:
            fields = parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError as error:
            raise InputError(f"the form has more than {_MOST_FIELDS} fields") from error
        return cls(fields, language)

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    def texts(self, name: str) -> list[str]:
        """Return all texts of a field, in their order."""
        return list(self.fields.get(name, ()))

    def text(self, name: str, default: str | None = None) -> str:
        """Return the text of a field; an error if there is none and no default."""
        found = self.fields.get(name)
        if found:
            return found[-1]
        if default is None:
            raise InputError(f"the page did not send {name!r}. Load it again, and repeat the step.")
        return default

    def integer(self, name: str, default: int | None = None) -> int:
        """Return a field as a whole number."""
        given = self.text(name, None if default is None else str(default)).strip()
        try:
            return int(given)
        except ValueError:
            raise InputError(f"{name} must be a whole number, as in 5, got {given!r}") from None

    def number(self, name: str, default: float | None = None) -> float:
        """Return a field as a number; a comma may be its decimal sign."""
        given = self.text(name, None if default is None else str(default)).strip()
        try:
            return float(given.replace(",", "."))
        except ValueError:
            raise InputError(f"{name} must be a number, as in 0.5, got {given!r}") from None

    def flag(self, name: str) -> bool:
        """Return whether a box is ticked."""
        return self.text(name, "") not in ("", "0", "off", "false")
