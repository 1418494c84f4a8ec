"""A release is a function of the published rows and of what is public, and of nothing else.

Two tables that differ in suppressed rows alone (`pairs.py`) are released with the same policy and
seed. Where the same rows are published, everything in both release folders must be the same
(`alike.py`), and so must what the program answers, and what is made of the releases: whatever
differs tells of people who were left out.

Which rows are suppressed may depend on all of them, so a pair in which that comes out otherwise is
not compared, but counted: see `Traces.tally`. Nor is one whose first releases publish other rows,
and so have other findings, where findings are refined. On rows that miss a quasi-identifier, where
such rows are suppressed, not even that may depend: they are gone before anything is decided.
"""

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

import sfumato as sf
from sfumato.errors import SfumatoError
from tests.fuzz.alike import differences, differing
from tests.fuzz.guards import Case, Fault, Guard, refusals
from tests.fuzz.pairs import (
    GATE,
    TAG,
    draw_pair,
    first_rows,
    other_rows,
    policy_of,
    role_of,
    source_of,
    table_of,
    without_column,
    write_policy,
)
from tests.fuzz.recount import read_table
from tests.tables import databases

DECOUPLINGS: dict[str, dict[str, Any]] = {
    "break-merge": {},
    "anatomy": {"l": 2},
    "bucketization": {"l": 2},
    "slicing": {"l": 2},
    "association-hiding": {},
}
"""Settings of each decoupling; a test compares this with the registry."""


@dataclass(frozen=True)
class Seen:
    """The published rows of a table by their tags, and how each looks in its quasi-identifiers."""

    labels: Mapping[int, tuple[Any, ...]]
    items: Mapping[int, tuple[Any, ...]]
    """What is decided by, of all rows: quasi-identifiers and what models look at."""

    dealt: Mapping[int, tuple[Any, ...]]
    """The same without sets, on which is decided when classes are made."""

    @property
    def published(self) -> Counter[tuple[Any, ...]]:
        """What was decided on in the end."""
        return Counter(self.items[tag] for tag in self.labels)

    @property
    def classes(self) -> Counter[frozenset[tuple[Any, int]]]:
        """The contents of each class, whatever it is called."""
        alike: dict[Any, Counter[Any]] = {}
        for tag, cells in self.labels.items():
            alike.setdefault(cells, Counter())[self.dealt[tag]] += 1
        return Counter(frozenset(each.items()) for each in alike.values())

    @property
    def parted(self) -> bool:
        """Whether chance decided which of some rows that are alike is in which class."""
        places: dict[Any, set[Any]] = {}
        for tag, item in self.dealt.items():
            places.setdefault(item, set()).add(self.labels.get(tag))
        return any(len(each) > 1 for each in places.values())


def with_rows_told_apart(case: Case) -> Case:
    """Give a case in which chance deals rows to classes: classes that have other secrets then.

    What is decoupled is made of these, so it is not compared.
    """
    then = "nothing" if case["then"] == "decouple" else case["then"]
    return {**case, "tagged": True, "then": then}


class Traces(Guard):
    """Tables that differ in suppressed rows alone, released alike."""

    name = "traces"
    weight = 3.0
    few = 150
    sources: ClassVar[tuple[str, ...]] = (
        "csv", "csv", "parquet", "feather", "pandas", "polars", "encoded", "arrow", "xlsx", "sav",
    )  # fmt: skip
    outputs: ClassVar[tuple[str, ...]] = (
        "csv", "csv", "csv", "csv", "parquet", "parquet", "feather", "sav", "dta", "xlsx",
    )  # fmt: skip
    afterwards: ClassVar[tuple[str, ...]] = (
        "nothing",
        "nothing",
        "report",
        "verify",
        "command",
        "decouple",
        "refine",
    )

    def __init__(self) -> None:
        self.tally: Counter[str] = Counter()
        """What became of the pairs: how many were compared, and why others were not."""

    def close(self) -> None:
        if self.tally:
            told = ", ".join(f"{what} {n}" for what, n in self.tally.most_common())
            sys.stdout.write(f"{self.name}: of {self.tally.total()} pairs {told}\n")
            self.tally.clear()

    def draw(self, rng: random.Random) -> Case:
        case = draw_pair(rng)
        case["source"] = rng.choice(self.sources)
        case["output"] = rng.choice(self.outputs)
        case["tagged"] = rng.random() < 0.4
        case["then"] = rng.choice(self.afterwards)
        if "items" in case["columns"] and case["output"] in ("sav", "dta", "xlsx"):
            case["output"] = "csv"  # Others hold no lists.
        makes = {column["make"] for column in case["columns"].values()}
        if case["source"] == "xlsx" and "day" in makes:
            case["source"] = "sav"  # Sheets have no days before 1900.
        if case["source"] == "xlsx":
            case["tagged"] = True  # Nor has a table in a sheet an empty row.
        if case["then"] == "decouple":
            method = rng.choice([*DECOUPLINGS])
            case["decouple"] = {"method": method, **DECOUPLINGS[method]}
        return case

    def smaller(self, case: Case) -> Iterator[Case]:
        yield from super().smaller(case)
        for i in range(len(case["odd"])):
            if len(case["odd"]) > 1:
                yield {**case, "odd": case["odd"][:i] + case["odd"][i + 1 :]}
        for at, name in enumerate(case["columns"], start=1):
            if name != GATE and len(case["columns"]) > 1:
                yield without_column(case, at, name)
        for key in ("loss", "search", "sensitive_blind", "sampling_fraction"):
            if key in case["policy"]:
                yield {**case, "policy": {k: v for k, v in case["policy"].items() if k != key}}
        if case["then"] != "nothing":
            yield {**case, "then": "nothing"}
        yield from nearer(case)

    def attempt(self, case: Case, folder: Path) -> None:
        with refusals():
            self.tally[self.follow(case, folder)] += 1
            return
        self.tally["refused"] += 1

    def follow(self, case: Case, folder: Path) -> str:
        """Release both tables and compare what came out; return what became of the pair."""
        one = first_rows(case)
        before = self.publish(case, one, folder)
        if all(each["row"][0] in before.labels for each in case["odd"]):
            return "all published"
        other = other_rows(case, set(before.labels))
        try:
            after = self.publish(case, other, folder)
        except SfumatoError:
            with refusals():
                raise
            return "refused then"
        told = [sorted(map(str, set(seen.labels.values()))) for seen in (before, after)]
        stars = case["policy"]["suppression"].get("rows") == "star"
        if before.published != after.published or (stars and len(one) != len(other)):
            # Rows that miss a cell are gone before anything is decided, if as many may be.
            if case["hidden"] == "missing" and len(one) == len(other):
                raise Fault(f"other rows are published, {self.kind_of(case)}", f"{told}")
            return "other rows"
        if before.classes != after.classes:
            if why := self.why_refined_otherwise(case, one, other, folder):
                return why
            raise Fault(f"another decision, {self.kind_of(case)}", f"{told[0]} | {told[1]}")
        return self.look_at_files(case, (one, other), (before, after), folder)

    def look_at_files(
        self, case: Case, tables: Sequence[Sequence[Any]], seen: Sequence[Seen], folder: Path
    ) -> str:
        """Compare what is written of two tables of which the same rows are published."""
        one, other = tables
        parted = seen[0].parted
        if set(seen[0].labels) != set(seen[1].labels) or depends_on_chance(case, parted=parted):
            return "others drawn"
        asked, case = case, with_rows_told_apart(case) if parted else case
        folders = [folder / name / "release" for name in ("one", "other")]
        releases = [
            self.make(case, rows, folder, output)
            for rows, output in zip(tables, folders, strict=True)
        ]
        found = list(self.compare(case, releases, folders, numbers=len(one) != len(other)))
        if parted:
            # What else these rows hold may be in another class.
            found = [each for each in found if not _DEALT.match(each)]
        if found:
            if why := self.why_refined_otherwise(asked, one, other, folder):
                return why
            raise self.fault(case, found)
        return "compared in part" if parted else "compared"

    def why_refined_otherwise(
        self, case: Case, one: Sequence[Any], other: Sequence[Any], folder: Path
    ) -> str | None:
        """Return why releases were asked for different things; None if there is no reason.

        What is refined is what was found in a first release, so it is a function of the rows
        which that one publishes. They may be others than those of the refined release.
        """
        if case["then"] != "refine":
            return None
        first = {**case, "then": "nothing"}
        asked = [self.asked_in_refining(first, rows, folder) for rows in (one, other)]
        if asked[0] == asked[1]:
            return None
        seen = [self.publish(first, rows, folder) for rows in (one, other)]
        if any(each.parted for each in seen):
            # Chance decided which secrets are in which class, and so what there was to refine.
            return "others drawn"
        return None if seen[0].published == seen[1].published else "others found"

    def asked_in_refining(self, first: Case, rows: Sequence[Any], folder: Path) -> list[Any]:
        """Return what the findings of a first release ask for, with the numbers or without."""
        found = []
        for tagged in (True, False):
            policy = sf.Policy(**policy_of(first, folder, tagged=tagged))
            source = self.give(table_of(first, rows, tagged=tagged), first, folder)
            findings = sf.detect(self.release(first, source, policy), support=2)
            found.append((findings.alpha, findings.advice().generalise))
        return found

    # Releasing.

    def publish(self, case: Case, rows: Sequence[Any], folder: Path) -> Seen:
        """Return which rows are published, and how they look."""
        policy = sf.Policy(**policy_of(case, folder, tagged=True))
        source = self.give(table_of(case, rows, tagged=True), case, folder)
        release = self.release(case, source, policy)
        quasi = release.manifest.with_role("quasi-identifier")
        labels = {
            int(row[TAG]): tuple(row[name] for name in quasi)
            for row in read_table(release.table)
            if row[TAG] is not None
        }
        judged = {model.get("column") for model in case["policy"]["models"]}
        derived = {"pid", "items"}
        places = {
            name: i for i, (name, column) in enumerate(case["columns"].items(), start=1)
            if name in judged | derived or role_of(column["rule"]) == "quasi-identifier"
        }  # fmt: skip
        years = {row[0]: years_of(case, row) for row in rows}
        items = {row[0]: (years[row[0]], *(row[i] for i in places.values())) for row in rows}
        places.pop("items", None)
        dealt = {row[0]: (years[row[0]], *(row[i] for i in places.values())) for row in rows}
        return Seen(labels, items, dealt)

    def make(self, case: Case, rows: Sequence[Any], folder: Path, output: Path) -> Any:
        """Release a table into a folder."""
        output.parent.mkdir()
        policy = policy_of(case, folder, tagged=case["tagged"])
        table = table_of(case, rows, tagged=case["tagged"])
        source = self.give(table, case, folder)
        if case["then"] == "command" and isinstance(source, Path):
            return self.run(source, policy, case, output)
        into = {"output": output, "format": case["output"]}
        return self.release(case, source, sf.Policy(**policy), **into)

    def release(self, case: Case, source: object, policy: sf.Policy, **into: Any) -> Any:
        """Release a table, perhaps in the light of what is found in a first release of it."""
        if case["then"] != "refine":
            return sf.anonymize(source, policy, seed=case["seed"], **into)
        findings = sf.detect(sf.anonymize(source, policy, seed=case["seed"]), support=2)
        return sf.anonymize(source, policy, refine=findings, seed=case["seed"], **into)

    def run(self, source: Path, policy: Mapping[str, Any], case: Case, output: Path) -> Any:
        """Release a table by the command; return what it prints."""
        from typer.testing import CliRunner

        from sfumato.cli.app import app

        path = write_policy(policy, source.parent / "policy.yaml")
        options = ["-p", path, "-o", output, "--format", case["output"], "--seed", case["seed"]]
        done = CliRunner().invoke(app, ["anonymize", *map(str, (source, *options)), "--json"])
        if done.exit_code:
            raise Fault("the command fails where the function does not", done.output)
        return json.loads(done.stdout)

    def give(self, table: pa.Table, case: Case, folder: Path) -> object:
        return source_of(table, case["source"], folder)

    # Comparing.

    def compare(
        self, case: Case, releases: Sequence[Any], folders: Sequence[Path], *, numbers: bool
    ) -> Iterator[str]:
        """Yield what two releases differ in, and what is made of them.

        Args:
            case: The case.
            releases: Both.
            folders: Where they are.
            numbers: Whether there are more suppressed rows in one, which may be told.
        """
        yield from differences(*folders, told=TOLD if numbers else {})
        if numbers:
            return
        yield from differing(*map(answer_of, releases), "answer")
        if case["then"] in ("report", "verify") and same_order(*folders):
            texts = [about(case["then"], each) for each in folders]
            yield from differing(*texts, case["then"])
        elif case["then"] == "decouple":
            yield from self.compare_decoupled(case, folders)

    def compare_decoupled(self, case: Case, folders: Sequence[Path]) -> Iterator[str]:
        parts = [each.with_name("parts") for each in folders]
        for whole, broken in zip(folders, parts, strict=True):
            try:
                sf.decouple(
                    whole, case["decouple"], output=broken, format=case["output"], seed=case["seed"]
                )
            except SfumatoError:
                with refusals():
                    raise
                return
        for found in differences(*parts):
            yield f"{case['decouple']['method']} {found}"

    def kind_of(self, case: Case, column: str | None = None) -> str:
        """Return what tells a fault from others: the method, and how a column is recoded."""
        method = case["policy"]["method"]
        method = method["method"] if isinstance(method, dict) else method
        rules = {name: (each["make"], each["rule"]) for name, each in case["columns"].items()}
        rules |= {name: ("made", rule) for name, rule in case.get("made", {}).items()}
        found = []
        for name, (make, rule) in rules.items():
            if not isinstance(rule, dict) or make == "gate" or column not in (None, name):
                continue
            told = [make]
            for key in ("hierarchy", "as", "perturb"):
                value = rule.get(key)
                if value is not None:
                    told.append(str(value["kind"] if isinstance(value, dict) else value))
            if len(told) == 1:
                told.append("raw" if rule["role"] == "quasi-identifier" else rule["role"])
            found.append(" ".join(told))
        return f"{method}: {', '.join(found)}"

    def fault(self, case: Case, found: Sequence[str]) -> Fault:
        place = found[0].partition(": ")[0]
        column = re.search(r"/column (\w+?)(_low|_high)?$", place)
        named = {*case["columns"], *case.get("made", {})}
        if column is not None and column[1] in named:
            place = f"a column, {self.kind_of(case, column[1])}"
        else:
            place = f"{re.sub(r'data[.][a-z]+', 'data', place)}, {self.kind_of(case)}"
        return Fault(f"a trace of suppressed rows in {place}", "\n".join(found))


def years_of(case: Case, row: Sequence[Any]) -> int | None:
    """Return the age of a row's person, if the case has it computed: it is decided by that."""
    steps = [step for step in case["policy"].get("derive", ()) if step["kind"] == "age"]
    if not steps:
        return None
    cells = dict(zip(case["columns"], row[1:], strict=True))
    born, at = cells[steps[0]["of"]], steps[0]["at"]
    at = cells.get(at, at)
    if born is None or at is None:
        return None
    # Days are written with the year first, so that months and days can be compared as texts.
    return int(at[:4]) - int(born[:4]) - (at[5:] < born[5:])


def depends_on_chance(case: Case, *, parted: bool) -> bool:
    """Return whether chance decides what is published besides the order of rows.

    The noise of a weight is drawn for each class, in the order in which they are met. Where rows
    that are alike are dealt to classes, so are the mean weight and the items of each.
    """
    rules = [each["rule"] for each in case["columns"].values()]
    weights = [rule for rule in rules if role_of(rule) == "weight"]
    noisy = any(isinstance(rule, dict) and "perturb" in rule for rule in weights)
    return noisy or (parted and any(role_of(rule) in ("weight", "set") for rule in rules))


def nearer(case: Case) -> Iterator[Case]:
    """Yield cases in which one cell more stays what it was."""
    for i, each in enumerate(case["odd"]):
        for j, row in enumerate(each["becomes"]):
            for at in range(1, len(row)):
                if row[at] is not None and row[at] != each["row"][at]:
                    new = [*row[:at], each["row"][at], *row[at + 1 :]]
                    becomes = [*each["becomes"][:j], new, *each["becomes"][j + 1 :]]
                    odd = [*case["odd"][:i], {**each, "becomes": becomes}, *case["odd"][i + 1 :]]
                    yield {**case, "odd": odd}


_DEALT = re.compile(r"([\w-]+ )?\w+[.]\w+/(rows|records):|answer/warnings/")
"""What depends on which of the rows that are alike is in which class: what else a row holds, and
what is said of columns that are published as they are."""

TOLD = {
    "manifest.json": r'"suppressed": \d+|"(discernibility|average-class-size)": [\d.e+]+',
    "evidence.json": r'"suppressed":\d+',
    "README.md": r" \S+ rows of the original were left out\.",
}
"""How many rows were suppressed may be told; where that changes, so do these."""


def answer_of(release: Any) -> Any:
    """Return what the program answers, as with --json, without paths and hashes.

    The bound of a search is for its maker alone, and is not published.
    """
    answer = release if isinstance(release, dict) else release.to_dict()
    text = json.dumps(
        {key: value for key, value in answer.items() if key not in ("folder", "bound", "excess")},
        default=str,
    )
    for file in answer["manifest"].get("files", ()):
        text = text.replace(file["sha256"], "hash")
    return json.loads(text)


def same_order(one: Path, other: Path) -> bool:
    """Return whether rows are in the same order, too: what is said of a release may show some."""
    return all(path.read_bytes() == (other / path.name).read_bytes() for path in one.glob("data.*"))


def about(what: str, folder: Path) -> str:
    """Return what is said of a release, without its path."""
    if what == "report":
        text = sf.report(folder, public=True).to_html()
    else:
        text = json.dumps(sf.verify(folder).to_dict(), default=str, indent=1)
    return text.replace(str(folder), "folder")


class DuckdbTraces(Traces):
    """The same where rows stay in DuckDB."""

    name = "duckdb-traces"
    weight = 1.0
    few = 25
    sources = ("duckdb",)
    afterwards = ("nothing",)
    outputs = ("csv", "parquet")

    @cached_property
    def database(self) -> Any:
        return databases.DuckDB()

    def close(self) -> None:
        super().close()
        if "database" in self.__dict__:
            self.database.connection.close()
            del self.__dict__["database"]

    def give(self, table: pa.Table, case: Case, folder: Path) -> object:
        self.database.clear()
        return self.database.stored(table, "given")
