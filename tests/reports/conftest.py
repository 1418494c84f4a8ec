"""Releases of every kind, made once, and what is left of a report without its markup."""

import datetime as dt
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pyarrow.csv
import pytest

import sfumato as sf

POLICY = """\
columns:
  patient_id: identifier
  name: identifier
  age: {role: quasi-identifier, hierarchy: {kind: intervals, widths: [10, 20, 40]}}
  sex: quasi-identifier
  postcode: {role: quasi-identifier, hierarchy: {kind: masking}}
  diagnosis: sensitive
  insurance: sensitive
  salary: sensitive
other: dropped
models:
  - {model: k-anonymity, k: 4}
  - {model: distinct-l-diversity, column: diagnosis, l: 2}
suppression: 5%
"""


@dataclass(frozen=True)
class House:
    """A folder with an original, its policy, and what was published."""

    folder: Path

    def __getattr__(self, name: str) -> Path:
        return self.folder / name

    @property
    def policy(self) -> Path:
        return self.folder / "policy.yaml"

    @property
    def people(self) -> Path:
        return self.folder / "people.csv"


@pytest.fixture(scope="session")
def house(tmp_path_factory) -> House:
    """Six hundred invented patients: released, broken, put into buckets, sliced, on a ledger."""
    home = House(tmp_path_factory.mktemp("house"))
    pyarrow.csv.write_csv(sf.samples.synthetic(600, seed=7), home.people)
    home.policy.write_text(POLICY, encoding="utf-8")
    sf.anonymize(home.people, home.policy, output=home.release)
    decoupled = sf.decouple(home.release, output=home.broken)
    roles = {"quasi_identifiers": ["age", "sex", "postcode"], "sensitive": ["diagnosis"]}
    sf.decouple(home.people, {"method": "anatomy", "l": 2}, output=home.anatomy, **roles)
    sf.decouple(home.people, "bucketization", output=home.buckets, **roles)
    sf.decouple(home.release, "association-hiding", output=home.hidden)
    sf.decouple(home.people, {"method": "slicing", "l": 2}, output=home.slices, **roles)
    sf.Ledger.start(decoupled, home.ledger, alpha=0.9, above=True)
    return home


@pytest.fixture(scope="session")
def bare_report(house):
    """A report on a kind of release by itself, made once."""
    return cache(lambda kind: sf.report(house.folder / kind, date=dt.date(2026, 11, 17)))


@pytest.fixture(scope="session")
def full_report(house):
    """A report on a kind of release with its original and its policy, made once."""
    given = {"data": house.people, "policy": house.policy}
    return cache(lambda kind: sf.report(house.folder / kind, **given))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.comments: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    handle_startendtag = handle_starttag

    def handle_data(self, data):
        self.texts.append(data)

    def handle_comment(self, data):
        self.comments.append(data)


def read_html(text: str) -> _Reader:
    """Read HTML as a browser would, and give its tags and texts."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader


def part_of(report, section: str, caption: str):
    """Find a table or some figures of a report by the section and the caption."""
    [found] = [s for s in report.document.sections if s.id == section]
    [part] = [p for p in found.parts if getattr(p, "caption", None) == caption]
    return part


def figure(report, section: str, caption: str, name: str):
    """Find one number of a report."""
    [value] = [v for n, v, _ in part_of(report, section, caption).items if n == name]
    return value
