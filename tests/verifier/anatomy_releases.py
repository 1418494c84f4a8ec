"""The printed example of bucketization, written the way its maker would."""

import json

from tests.verifier.grouped_releases import write_rows
from tests.verifier.releases import seal

NAMES = ["zip", "age", "sex"]
PRINTED_PEOPLE = [
    *(["1", "47677", "29", "F"], ["1", "47602", "22", "F"], ["1", "47678", "27", "M"]),
    *(["2", "47905", "43", "M"], ["2", "47909", "52", "F"], ["2", "47906", "47", "M"]),
    *(["3", "47605", "30", "M"], ["3", "47673", "36", "M"], ["3", "47607", "32", "M"]),
]
"""Nine people with exact quasi-identifiers, in three buckets."""

PRINTED_VALUES = [
    *(["1", "OvarianCancer", "2"], ["1", "ProstateCancer", "1"]),
    *(["2", "Flu", "1"], ["2", "HeartDisease", "2"]),
    *(["3", "HeartDisease", "1"], ["3", "Flu", "2"]),
]
"""The sensitive table beside them."""

PROMISES = [
    # Two values in every bucket, and the more frequent has two of three rows.
    {"model": "distinct-l-diversity", "column": "disease", "l": 2, "measured": {"l": 2}},
    {"model": "probabilistic-l-diversity", "column": "disease", "l": 1.5, "measured": {"l": 1.5}},
]


def write_anatomy(folder, people=PRINTED_PEOPLE, values=PRINTED_VALUES, **changes):
    """Write an anatomised release; `changes` replace parts of the manifest."""
    folder.mkdir()
    write_rows(folder / "qi.csv", ["bucket", *NAMES], people)
    write_rows(folder / "sensitive_disease.csv", ["bucket", "disease", "count"], values)
    files = [
        {"name": "qi.csv", "table": "qi", "rows": len(people)},
        {
            "name": "sensitive_disease.csv",
            "table": "sensitive",
            "column": "disease",
            "rows": len(values),
        },
    ]
    columns = [{"name": name, "role": "quasi-identifier"} for name in NAMES]
    manifest = {
        "format": 1,
        "kind": "anatomy",
        "files": [{**file, "format": "csv", "delimiter": ",", "sha256": ""} for file in files],
        "columns": [*columns, {"name": "disease", "role": "sensitive"}],
        "group": "bucket",
        "count": "count",
        "rows": {"published": len(people), "suppressed": 0, "suppression": "remove"},
        "missing": "own-value",
        "models": PROMISES,
        **changes,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    seal(folder)
    return folder
