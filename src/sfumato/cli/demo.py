"""`sfumato demo`: the whole chain on invented people, in seconds."""

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.command import BROKEN, command
from sfumato.cli.output import clean, progress_bar, say, show

if TYPE_CHECKING:
    from sfumato.content import Content
    from sfumato.releases.release import Release


@command(
    examples="sfumato demo\nsfumato demo --rows 20000 -o release --keep",
    python="people, policy = sf.samples.synthetic(5000, seed=1), sf.samples.synthetic_policy()\n"
    "release = sf.anonymize(people, policy)\n"
    "print(release, sf.detect(release))\n"
    'decoupled = sf.decouple(release, output="demo-release")\n'
    'print(sf.verify("demo-release"), sf.breach(decoupled))\n'
    'ledger = sf.Ledger.start(decoupled, "demo.ledger", alpha=0.5, policy=policy, source=people)\n'
    "print(ledger.publish(sf.samples.synthetic(500, seed=2)))",
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
) -> None:
    """See the whole chain on invented people.

    Hospital patients are invented, their risk is shown, they are anonymised, what still leaks is
    detected, the release is decoupled and verified, and more people are published on a ledger.
    """
    from sfumato.private import refuse_inside_release
    from sfumato.releases.places import refuse_what_is_there

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

_ALPHA = 0.5
_MOST_RULES = 5


class Chain:
    """The way from raw data to releases that grow.

    Args:
        private: A folder for what must not be published.
        output: The folder of the release.
        rows: How many people to invent; a tenth as many come later.
    """

    def __init__(self, private: Path, output: Path, rows: int) -> None:
        self._people = private / "people.csv"
        self._later = private / "later.csv"
        self._policy = private / "policy.yaml"
        self._ledger = private / "demo.ledger"
        self._whole = private / "anonymised"
        self._output = output
        self._rows = rows
        self._step = 0

    @property
    def private(self) -> tuple[Path, ...]:
        """The files a user may want to keep, and must not publish."""
        return self._people, self._later, self._policy, self._ledger

    def run(self) -> bool:
        """Run all steps, and return whether the promises hold."""
        self._invent()
        release = self._anonymize()
        self._detect(release)
        self._decouple(release)
        holds = self._verify()
        self._publish()
        return holds

    def _show(self, title: str, *contents: "Content") -> None:
        self._step += 1
        from sfumato.cli.terminal import print_title

        print_title(f"{self._step}. {title}", first=self._step == 1)
        show(*contents)

    def _invent(self) -> None:
        """Write the invented people and their policy, as a user would have them."""
        import shutil

        from pyarrow import csv

        from sfumato import samples
        from sfumato.content import Content

        table = samples.synthetic(self._rows, seed=_SEED)
        csv.write_csv(table, self._people)
        later = max(self._rows // 10, 1)
        csv.write_csv(samples.synthetic(later, seed=_SEED + 1), self._later)
        shutil.copyfile(samples.synthetic_policy(), self._policy)
        columns = f"{table.num_columns} columns: {', '.join(table.column_names)}"
        self._show(f"{self._rows} invented patients", Content(columns))

    def _anonymize(self) -> "Release":
        from sfumato.content import Content
        from sfumato.tasks.anonymize import anonymize
        from sfumato.tasks.draft import inspect

        with progress_bar() as progress:
            before = inspect(self._people, policy=self._policy, progress=progress)
        self._show("What the data gives away as it is", before.short_content())
        with progress_bar() as progress:
            release = anonymize(self._people, self._policy, output=self._whole, progress=progress)
        after = inspect(self._whole / release.manifest.files[0].name, policy=self._policy)
        self._show(
            "Anonymised, with as little loss as possible",
            release.content(),
            Content("People by the size of their class, before and after:", (before.sizes(after),)),
        )
        return release

    def _detect(self, release: "Release") -> None:
        from sfumato.content import Content, Sentence
        from sfumato.leaks.findings import rules_table
        from sfumato.tasks.detect import detect

        with progress_bar() as progress:
            findings = detect(release, progress=progress)
        rules = [rules_table(findings.leaks, _MOST_RULES)] if findings.leaks else []
        advice = Sentence(str(findings.advice()))
        self._show("What the release still tells", Content(findings.headline, (*rules, advice)))

    def _decouple(self, release: "Release") -> None:
        from sfumato.content import Content, Listing
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

        found = verify(self._output, self._policy)
        self._show("Verified and attacked, from the written tables alone", found.content())
        return found.holds

    def _publish(self) -> None:
        from sfumato.content import Content
        from sfumato.publishing.ledger import Ledger

        ledger = Ledger.start(
            self._output,
            self._ledger,
            alpha=_ALPHA,
            policy=self._policy,
            source=self._people,
        )
        done = ledger.publish(self._later)
        text = (
            f"{ledger.started}\n{done.headline}\n"
            "Who waits is published when enough others join their group.\n"
            f"Compared with the last release: {done.composition}"
        )
        self._show(f"{done.given} more patients, published on a ledger", Content(text))
