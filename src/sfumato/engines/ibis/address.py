"""Addresses of tables: `duckdb:///people.db?table=patients` and the like."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from sfumato.errors import InputError, ParameterError

Name: TypeAlias = tuple[str, ...]
"""A table's name in parts: schema and table, or only the table."""


@dataclass(frozen=True)
class Address:
    """Where a table is. Its text form never shows a password.

    >>> address = Address.parse("postgres://ann:secret@db.example:5433/clinic?table=ward.people")
    >>> address.table, address.host, address.port, str(address)
    (('ward', 'people'), 'db.example', 5433, 'postgres://db.example:5433/clinic, table ward.people')
    """

    scheme: str
    host: str | None
    port: int | None
    path: str
    """What stands after the host and its slash."""

    table: Name
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Take an address apart, or say which part is wrong without repeating it."""
        try:
            parts = urlsplit(text)
            port = parts.port
            options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True)
        except ValueError:
            scheme = text.partition("://")[0]
            raise InputError(
                f"the {scheme} address cannot be read. {_HOW} Write special characters of "
                "names and passwords as %40 and the like."
            ) from None
        tables = [value for key, value in options if key == "table"]
        if len(tables) != 1 or not tables[0]:
            raise InputError(f"the {parts.scheme} address does not name one table. {_HOW}")
        return cls(
            scheme="postgres" if parts.scheme == "postgresql" else parts.scheme,
            host=parts.hostname,
            port=port,
            path=unquote(parts.path[1:]),
            table=name_of(tables[0]),
            user=None if parts.username is None else unquote(parts.username),
            password=None if parts.password is None else unquote(parts.password),
            options=tuple((key, value) for key, value in options if key != "table"),
        )

    @property
    def database(self) -> tuple[str, str, int | None, str]:
        """What two tables of one database have in common.

        >>> one = Address.parse("postgres://ann@db/clinic?table=people")
        >>> one.database == Address.parse("postgres://bob@db:5432/clinic?table=released").database
        True
        """
        path = str(Path(self.path).resolve()) if self.scheme == "duckdb" else self.path
        port = self.port or {"postgres": 5432, "spark": 7077}.get(self.scheme)
        return self.scheme, self.host or "", port, path

    def __str__(self) -> str:
        port = "" if self.port is None else f":{self.port}"
        return f"{self.scheme}://{self.host or ''}{port}/{self.path}, table {written(self.table)}"


_HOW = (
    "Write duckdb:///file.db?table=people, postgres://user@host/database?table=schema.people "
    "or spark:///?table=people."
)


def sibling(address: str, table: str) -> str:
    """Give the address of another table in the same database.

    >>> sibling("postgres://ann:secret@db/clinic?table=people", "released")
    'postgres://ann:secret@db/clinic?table=released'
    """
    parts = urlsplit(address)
    options = [(k, v) for k, v in parse_qsl(parts.query, keep_blank_values=True) if k != "table"]
    query = urlencode([*options, ("table", table)], quote_via=quote)
    return f"{parts.scheme}://{parts.netloc}{parts.path}?{query}"


def public(address: str) -> str:
    """Leave out of an address who connects, and how.

    >>> public("postgres://ann:secret@db/clinic?sslmode=require&table=people")
    'postgres://db/clinic?table=people'
    """
    scheme, _, rest = address.partition("://")
    place, _, options = rest.partition("?")
    tables = [option for option in options.split("&") if option.startswith("table=")]
    return f"{scheme}://{place.rpartition('@')[2]}" + "".join(f"?{table}" for table in tables[:1])


def name_of(text: str | Name) -> Name:
    """Read a table's name; a part with a dot in it stands in double quotes.

    >>> name_of("ward.people"), name_of('"my.ward"."say ""hi"" twice"')
    (('ward', 'people'), ('my.ward', 'say "hi" twice'))
    """
    parts = text if isinstance(text, tuple) else _parts(text)
    if not 1 <= len(parts) <= 3 or any(not part or "\0" in part for part in parts):
        raise ParameterError("table", text, "a name such as people or schema.people", why=_QUOTES)
    return tuple(parts)


_QUOTES = 'write names that have dots in them in double quotes, as in "my.schema".people'


def _parts(text: str) -> list[str]:
    parts: list[str] = [""]
    quoted = False
    i = 0
    while i < len(text):
        letter = text[i]
        if quoted and text[i : i + 2] == '""':
            parts[-1] += '"'
            i += 1
        elif letter == '"' and (quoted or not parts[-1]):
            quoted = not quoted
        elif letter == "." and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
        i += 1
    return [] if quoted else parts


def written(name: Name) -> str:
    """Write a name for people, so that `name_of` reads it again.

    >>> written(("my.ward", "people"))
    '"my.ward".people'
    """
    return ".".join(
        '"' + part.replace('"', '""') + '"' if "." in part or '"' in part else part for part in name
    )


def quoted(name: Name, mark: str = '"') -> str:
    """Write a name into a statement: whatever is in it, it stays one name.

    >>> quoted(("ward", 'x"; DROP TABLE people; --'))
    '"ward"."x""; DROP TABLE people; --"'
    """
    return ".".join(mark + part.replace(mark, mark * 2) + mark for part in name)
