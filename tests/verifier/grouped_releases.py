"""Write decoupled releases the way their maker would: the printed tables of the census."""

import csv
import json

from tests.verifier.releases import seal

PEOPLE = [["1", "[30-50]", "F"]] * 5 + [["2", "[51-90]", "M"]] * 5
TABLES = {
    "marital-status": [
        *(["1", "Married", "1"], ["1", "Never-Married", "2"], ["1", "Divorced", "1"]),
        *(["1", "Separated", "1"], ["2", "Married", "3"], ["2", "Never-Married", "1"]),
        ["2", "Divorced", "1"],
    ],
    "salary": [
        *(["1", "<=50k", "4"], ["1", ">50k", "1"]),
        *(["2", "<=50k", "3"], ["2", ">50k", "2"]),
    ],
}
MODELS = [
    {"model": "k-anonymity", "k": 5, "measured": {"k": 5}},
    {"model": "distinct-l-diversity", "column": "marital-status", "l": 3, "measured": {"l": 3}},
    {"model": "probabilistic-l-diversity", "column": "salary", "l": 1.25, "measured": {"l": 1.25}},
    # Table: 7 of 10 low; group 1 has 4 of 5: the distance is 0.8 - 0.7.
    {"model": "t-closeness", "column": "salary", "t": 0.1, "measured": {"t": 0.1}},
]


def write_rows(path, header, rows):
    with path.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle, lineterminator="\n").writerows([header, *rows])


def read_rows(path):
    with path.open(encoding="utf-8", newline="") as handle:
        header, *rows = csv.reader(handle)
    return header, rows


def write_grouped(folder, **changes):
    """Write a decoupled release; `changes` replace parts of the manifest."""
    folder.mkdir()
    write_rows(folder / "qi.csv", ["group", "age", "gender"], PEOPLE)
    files = [{"name": "qi.csv", "table": "qi", "rows": 10}]
    for column, rows in TABLES.items():
        name = f"sensitive_{column}.csv"
        write_rows(folder / name, ["group", column, "count"], rows)
        files.append({"name": name, "table": "sensitive", "column": column, "rows": len(rows)})
    roles = {"age": "quasi-identifier", "gender": "quasi-identifier"}
    roles |= dict.fromkeys(TABLES, "sensitive")
    manifest = {
        "format": 1,
        "kind": "break-merge",
        "files": [{**file, "format": "csv", "delimiter": ",", "sha256": ""} for file in files],
        "columns": [{"name": name, "role": role} for name, role in roles.items()],
        "group": "group",
        "count": "count",
        "rows": {"published": 10, "suppressed": 0, "suppression": "remove"},
        "missing": "own-value",
        "models": MODELS,
        **changes,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    seal(folder)
    return folder
