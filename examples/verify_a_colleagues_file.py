"""Check what others say is safe: a release folder, and a plain CSV file.

The verifier needs neither the original data nor trust in whoever made the file.
"""

import csv
import tempfile
from pathlib import Path

import sfumato as sf


def main() -> None:
    """Verify a good release, the same one after a careless correction, and a plain file."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        release = _a_colleagues_release(folder / "release")
        print("As it came:", str(sf.verify(release)).splitlines()[0])

        _correct_by_hand(release / "data.csv")
        print("After somebody corrected a row by hand:")
        for check in sf.verify(release).checks:
            if check.status != "holds":
                print(f"  {check.name}: {check.status}")

        plain = folder / "published.csv"
        plain.write_text("age,ward,illness\n30-39,A,flu\n30-39,A,flu\n40-49,B,gout\n40-49,B,flu\n")
        claim = sf.Policy(
            columns={
                "age": "quasi-identifier",
                "ward": "quasi-identifier",
                "illness": "sensitive",
            },
            models=[sf.models.KAnonymity(2), sf.models.DistinctLDiversity("illness", l=2)],
        )
        print("A plain file that is said to be 2-anonymous and 2-diverse:")
        print(sf.verify(plain, claim))


def _a_colleagues_release(folder: Path) -> Path:
    people = sf.samples.synthetic(2000, seed=11)
    policy = sf.Policy(
        columns={
            "age": {
                "role": "quasi-identifier",
                "hierarchy": sf.hierarchy.Intervals(widths=[10, 20, 40]),
            },
            "sex": "quasi-identifier",
            "diagnosis": "sensitive",
        },
        other="dropped",
        models=[sf.models.KAnonymity(5)],
        suppression=0.02,
    )
    sf.anonymize(people, policy, output=folder, format="csv")
    return folder


def _correct_by_hand(file: Path) -> None:
    with file.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.reader(handle))
    rows[1][0] = "exactly 37"
    with file.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
