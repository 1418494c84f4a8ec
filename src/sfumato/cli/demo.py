"""`sfumato demo`: the whole chain on invented people, in seconds."""

import io
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.command import BROKEN, command
from sfumato.cli.output import clean, progress_bar, say, show
from sfumato.errors import OutputError

if TYPE_CHECKING:
    from sfumato.policy import Policy
    from sfumato.releases.release import Release
    from sfumato.showing.content import Content, ContentTable


@command(
    examples="sfumato demo\nsfumato demo --rows 20000 -o release --keep\n"
    "sfumato demo --rows 1000 --table patients.csv",
    python="people, policy = sf.samples.synthetic(5000, seed=1), sf.samples.synthetic_policy()\n"
    'release = sf.anonymize(people, policy, method="bottom-up")\n'
    "print(release, sf.detect(release))\n"
    'decoupled = sf.decouple(release, output="demo-release")\n'
    'print(sf.verify("demo-release"), sf.breach(decoupled))\n'
    "others = sf.samples.synthetic(5000, seed=2)\n"
    "first = sf.decouple(sf.anonymize(others, policy))\n"
    'ledger = sf.Ledger.start(first, "demo.ledger", alpha=0.5, policy=policy, source=others)\n'
    "print(ledger.publish(sf.samples.synthetic(2500, seed=3, after=5000)))",
)
def demo(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="The release; a former one is replaced."
        ),
    ] = Path("demo-release"),
    rows: Annotated[int, typer.Option(metavar="N", help="How many people to invent.")] = 5000,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep",
            help="Keep what is private: the invented data, the policy and the ledger, in "
            "FOLDER-input beside it.",
        ),
    ] = False,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the invented people to this CSV file and do nothing else: a table to try "
            "the other commands on.",
        ),
    ] = None,
) -> None:
    """See the whole chain on invented people.

    Hospital patients are invented, their risk is shown, they are anonymised, what still leaks is
    detected, the release is decoupled and verified. Then the patients of another hospital begin a
    ledger, and more of them are published on it. With the extra synthetic, rows that no patient has
    are drawn, too.
    """
    from sfumato.files.private import refuse_inside_release
    from sfumato.releases.places import refuse_what_is_there

    if table is not None:
        refuse_inside_release(table, "the invented data")
        if os.path.lexists(table):
            raise OutputError(f"{str(table)!r} exists. Choose another name.")
        _write_people(table, rows)
        say(f"{rows} invented people are in {clean(table)}. Next: sfumato init {clean(table)}")
        return
    refuse_what_is_there(output, force=True)
    kept = output.with_name(f"{output.name}-input")
    if keep:
        refuse_inside_release(kept / "people.csv", "the invented data")
    with tempfile.TemporaryDirectory(prefix="sfumato-demo-") as temporary:
        chain = Chain(Path(temporary), output, rows)
        holds = chain.run()
        say(
            f"\nThe release is in {clean(output)}. Your own data: sfumato init DATA, then "
            "sfumato anonymize."
        )
        if keep:
            kept.mkdir(exist_ok=True)
            for file in chain.private:
                shutil.copy2(file, kept / file.name)
            say(f"The invented data, the policy and the ledger are in {clean(kept)}.")
    if not holds:
        raise typer.Exit(BROKEN)


# The steps of the demo: each does one thing a user would do, and shows what came of it.


_SEED = 1
"""The invented people are always the same; the order of the release is not."""

_METHOD = "bottom-up"
"""Five thousand people who are known by six columns leave little of them at one level each."""

_ALPHA = 0.5
_EPSILON = 0.4
_FEWEST_TO_DRAW = 2000
"""Of fewer people noise leaves little."""

_MOST_RULES = 5


def _write_people(path: Path, rows: int) -> None:
    from pyarrow import csv

    from sfumato import samples
    from sfumato.files import write_file

    text = io.BytesIO()
    csv.write_csv(samples.synthetic(rows, seed=_SEED), text)
    write_file(path, text.getvalue(), private="the invented data")


def _lost_and_kept(people: Path, published: Path, policy: "Policy") -> "ContentTable":
    """Return what became of the cells of each column, in shares of all rows."""
    from pyarrow import csv

    from sfumato.showing.content import ContentTable, Share
    from sfumato.text import STAR, text_of

    before, after = csv.read_csv(people), csv.read_csv(published)
    total = before.num_rows
    rows = []
    for name in before.column_names:
        kept = coarser = 0
        if name in after.column_names:
            values = {text_of(value) for value in before[name].unique().to_pylist()}
            for each in after[name].value_counts().to_pylist():
                label = text_of(each["values"])
                kept += each["counts"] if label in values else 0
                coarser += each["counts"] if label not in values and label != STAR else 0
        hidden = total - kept - coarser
        rows.append(
            (name, str(policy.role_of(name)), *(Share(n / total) for n in (kept, coarser, hidden)))
        )
    heads = ("column", "role", "as it was", "coarser", "hidden")
    return ContentTable.of("", heads, rows, most=None)


class Chain:
    """The way from raw data to releases that grow.

    Args:
        private: A folder for what must not be published.
        output: The folder of the release.
        rows: How many people to invent for each of two hospitals; half as many come later.
    """

    def __init__(self, private: Path, output: Path, rows: int) -> None:
        self._people = private / "people.csv"
        self._others = private / "others.csv"
        self._later = private / "later.csv"
        self._policy = private / "policy.yaml"
        self._ledger = private / "demo.ledger"
        self._whole = private / "anonymised"
        self._first = private / "first"
        self._output = output
        self._rows = rows
        self._step = 0

    @property
    def private(self) -> tuple[Path, ...]:
        """The files a user may want to keep, and must not publish."""
        return self._people, self._others, self._later, self._policy, self._ledger

    def run(self) -> bool:
        """Run all steps, and return whether the promises hold."""
        self._invent()
        release = self._anonymize()
        self._detect(release)
        self._decouple(release)
        holds = self._verify()
        self._publish()
        from sfumato.synthesis.opendp import has_extra

        if self._rows >= _FEWEST_TO_DRAW and has_extra():
            self._synthesize()
        return holds

    def _show(self, title: str, *contents: "Content") -> None:
        self._step += 1
        from sfumato.cli.terminal import print_title

        print_title(f"{self._step}. {title}", first=self._step == 1)
        show(*contents)

    def _invent(self) -> None:
        """Write the invented people and their policy, as a user would have them."""
        from pyarrow import csv

        from sfumato import samples
        from sfumato.showing.content import Content

        table = samples.synthetic(self._rows, seed=_SEED)
        csv.write_csv(table, self._people)
        later = max(self._rows // 2, 1)
        csv.write_csv(samples.synthetic(self._rows, seed=_SEED + 1), self._others)
        new = samples.synthetic(later, seed=_SEED + 2, after=self._rows)
        csv.write_csv(new, self._later)
        shutil.copyfile(samples.synthetic_policy(), self._policy)
        columns = f"{table.num_columns} columns: {', '.join(table.column_names)}"
        self._show(f"{self._rows} invented patients", Content(columns))

    def _anonymize(self) -> "Release":
        from sfumato.policy import Policy
        from sfumato.showing.content import Content
        from sfumato.tasks.anonymize import anonymize
        from sfumato.tasks.draft import inspect

        with progress_bar() as progress:
            before = inspect(self._people, policy=self._policy, progress=progress)
        self._show("What the data gives away as it is", before.short_content())
        policy = Policy.load(self._policy).with_method(_METHOD)
        with progress_bar() as progress:
            release = anonymize(self._people, policy, output=self._whole, progress=progress)
        published = self._whole / release.manifest.files[0].name
        after = inspect(published, quasi_identifiers=policy.quasi_identifiers)
        became = _lost_and_kept(self._people, published, policy)
        self._show(
            "Anonymised, each row only as far as it must be",
            Content(release.content().headline),
            Content("People by the size of their class, before and after:", (before.sizes(after),)),
            Content("What was lost, and what was kept:", (became,)),
        )
        return release

    def _detect(self, release: "Release") -> None:
        from sfumato.leaks.findings import rules_table
        from sfumato.showing.content import Content, Sentence
        from sfumato.tasks.detect import detect

        with progress_bar() as progress:
            findings = detect(release, progress=progress)
        rules = [rules_table(findings.leaks, _MOST_RULES)] if findings.leaks else []
        advice = Sentence(str(findings.advice()))
        self._show("What the release still reveals", Content(findings.headline, (*rules, advice)))

    def _decouple(self, release: "Release") -> None:
        from sfumato.showing.content import Content, Listing
        from sfumato.tasks.breach import breach
        from sfumato.tasks.decouple import decouple

        with progress_bar() as progress:
            tables = decouple(release, output=self._output, force=True, progress=progress)
        left = Listing.of(list(map(str, breach(tables).views)))
        self._show(
            "Decoupled: what is sensitive in tables of its own",
            tables.content(),
            Content("What is left to guess, by what is known:", (left,)),
        )

    def _verify(self) -> bool:
        from sfumato.tasks.verify import verify

        with progress_bar() as progress:
            found = verify(self._output, self._policy, progress=progress)
        self._show("Verified and attacked, from the written tables alone", found.content())
        return found.holds

    def _publish(self) -> None:
        """Publish the other hospital, and those who come later.

        Other people than before: a second release of the same people would tell more about them
        than each of the two.
        """
        from sfumato.ledger.publishing.ledger import Ledger
        from sfumato.showing.content import Content
        from sfumato.tasks.anonymize import anonymize
        from sfumato.tasks.decouple import decouple

        with progress_bar() as progress:
            whole = anonymize(self._others, self._policy, progress=progress)
            first = decouple(whole, output=self._first, progress=progress)
        with progress_bar("Deciding who may be published"):
            ledger = Ledger.start(
                first, self._ledger, alpha=_ALPHA, policy=self._policy, source=self._others
            )
            done = ledger.publish(self._later)
        text = (
            "Data that grow need one group for every newcomer, so each column has one level here: "
            f"{whole.content().headline}\n"
            f"{ledger.started}\n{done.headline}\n"
            "Who waits is published when enough others join their group.\n"
            f"Compared with the last release: {done.composition}"
        )
        title = f"Another hospital, and {done.given} more patients of it, on a ledger"
        self._show(title, Content(text))

    def _synthesize(self) -> None:
        """Draw rows of two columns, which takes seconds: each more takes longer."""
        from pyarrow import csv

        from sfumato.policy import Policy
        from sfumato.showing.content import Content, ContentTable, Listing, Share
        from sfumato.tasks.synthesize import synthesize
        from sfumato.tasks.verify import verify

        given = Policy.load(self._policy)
        columns = {
            "patient_id": "identifier",
            "age": _AGES,
            "diagnosis": given.columns["diagnosis"],
        }
        policy = Policy(
            columns=columns, other="dropped", person="patient_id", models=given.models[:1]
        )
        with progress_bar() as progress:
            made = synthesize(self._others, policy, epsilon=_EPSILON, progress=progress)
        real = csv.read_csv(self._others)["diagnosis"].to_pylist()
        drawn = made.table["diagnosis"].to_pylist()
        usual = sorted({*real}, key=real.count, reverse=True)[:_MOST_RULES]
        lines = [
            [name, Share(real.count(name) / len(real)), Share(drawn.count(name) / len(drawn))]
            for name in usual
        ]
        found = verify(made)
        self._show(
            "Synthetic rows, which no patient has",
            Content(f"{made.content().headline}"),
            Content(
                "How many have what:",
                (ContentTable.of("", ["diagnosis", "patients", "rows"], lines),),
            ),
            Content(
                "What anyone may come to believe:", (Listing.of(list(map(str, found.beliefs))),)
            ),
        )


_AGES = {"role": "quasi-identifier", "domain": {"from": 0, "to": 119, "width": 20}}
