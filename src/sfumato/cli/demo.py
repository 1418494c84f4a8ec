"""`sfumato demo`: the whole chain on invented people, in seconds."""

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.endings import BROKEN
from sfumato.cli.progress import progress_bar
from sfumato.cli.show import cell, clean, say, show

if TYPE_CHECKING:
    from rich.text import Text

_SEED = 1
"""The invented people are always the same; the order of the release is not."""


@command(
    examples="sfumato demo\nsfumato demo --rows 20000 -o release --keep",
    python="people = sf.samples.synthetic(5000, seed=1)\n"
    "release = sf.anonymize(people, sf.samples.synthetic_policy())\n"
    "print(release, release.verdict)",
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
            "--keep", help="Keep the invented data and the policy, in FOLDER-input beside it."
        ),
    ] = False,
) -> None:
    """See the whole chain on invented people.

    Hospital patients are invented, their risk is shown, they are anonymised, and the
    release is verified.
    """
    from sfumato.release import refuse_what_is_there

    refuse_what_is_there(output, force=True)
    with tempfile.TemporaryDirectory(prefix="sfumato-demo-") as temporary:
        people, policy = _invent(Path(temporary), rows)
        holds = _chain(people, policy, output)
        if keep:
            kept = output.with_name(f"{output.name}-input")
            kept.mkdir(exist_ok=True)
            for file in (people, policy):
                shutil.copyfile(file, kept / file.name)
            say(f"The invented data and the policy are in {clean(kept)}.")
    if not holds:
        raise typer.Exit(BROKEN)


def _invent(folder: Path, rows: int) -> tuple[Path, Path]:
    """Write the invented people and their policy, as a user would have them."""
    from pyarrow import csv

    from sfumato import samples

    table = samples.synthetic(rows, seed=_SEED)
    people, policy = folder / "people.csv", folder / "policy.yaml"
    csv.write_csv(table, people)
    shutil.copyfile(samples.synthetic_policy(), policy)
    show(
        _title(f"1. {rows} invented patients"),
        cell(f"{table.num_columns} columns: {', '.join(table.column_names)}"),
    )
    return people, policy


def _chain(people: Path, policy: Path, output: Path) -> bool:
    """Inspect, anonymise and verify, and show each; say whether the promises hold."""
    from sfumato.cli.views import exposure_view, release_view, sizes_view, verdict_view
    from sfumato.tasks.anonymize import anonymize
    from sfumato.tasks.inspect import inspect
    from sfumato.tasks.verify import verify

    with progress_bar() as progress:
        before = inspect(people, policy=policy, progress=progress)
    show("", _title("2. What the data gives away as it is"), *exposure_view(before))
    with progress_bar() as progress:
        release = anonymize(people, policy, output=output, force=True, progress=progress)
    show("", _title("3. Anonymised, with as little loss as possible"), *release_view(release))
    after = inspect(output / release.manifest["files"][0]["name"], policy=policy)
    show(
        "", cell("How many people share their class, before and after:"), sizes_view(before, after)
    )
    verdict = verify(output, policy)
    show("", _title("4. Verified from the written file alone"), *verdict_view(verdict))
    say(
        f"\nThe release is in {clean(output)}. Your own data: sfumato init DATA, "
        "then sfumato anonymize."
    )
    return verdict.holds


def _title(text: str) -> "Text":
    return cell(text, "bold")
