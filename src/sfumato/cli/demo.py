"""`sfumato demo`: the whole chain on invented people, in seconds."""

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.endings import BROKEN
from sfumato.cli.show import clean, say


@command(
    examples="sfumato demo\nsfumato demo --rows 20000 -o release --keep",
    python="people, policy = sf.samples.synthetic(5000, seed=1), sf.samples.synthetic_policy()\n"
    "release = sf.anonymize(people, policy)\n"
    "print(release, sf.detect(release))\n"
    'broken = sf.decouple(release, output="demo-release")\n'
    'print(sf.verify("demo-release"), sf.breach(broken))\n'
    'sf.publish(broken, "demo.ledger", alpha=0.5, policy=policy, source=people)\n'
    'print(sf.publish(sf.samples.synthetic(500, seed=2), "demo.ledger"))',
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
    from sfumato.cli.demo_steps import Chain
    from sfumato.release import refuse_what_is_there

    refuse_what_is_there(output, force=True)
    with tempfile.TemporaryDirectory(prefix="sfumato-demo-") as temporary:
        chain = Chain(Path(temporary), output, rows)
        holds = chain.run()
        say(
            f"\nThe release is in {clean(output)}. Your own data: sfumato init DATA, then "
            "sfumato anonymize."
        )
        if keep:
            kept = output.with_name(f"{output.name}-input")
            kept.mkdir(exist_ok=True)
            for file in chain.private:
                shutil.copy2(file, kept / file.name)
            say(f"The invented data, the policy and the ledger are in {clean(kept)}.")
    if not holds:
        raise typer.Exit(BROKEN)
