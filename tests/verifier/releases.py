"""Write small releases the way their maker would, with figures worked out by hand."""

import hashlib
import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

TABLE_2 = {
    "age": ["[30-50]"] * 5 + ["[51-90]"] * 5,
    "gender": ["F"] * 5 + ["M"] * 5,
    "zipcode": ["[13000-23000]"] * 5 + ["[24000-58000]"] * 5,
    "government": [
        *("State-gov", "State-gov", "Federal-gov", "Private", "Local-gov"),
        *("Private", "Self-emp-not-inc", "Private", "Private", "Federal-gov"),
    ],
    "marital-status": [
        *("Never-Married", "Never-Married", "Married", "Divorced", "Separated"),
        *("Married", "Married", "Married", "Divorced", "Never-Married"),
    ],
    "salary": [
        *("<=50k", "<=50k", "<=50k", "<=50k", ">50k"),
        *(">50k", "<=50k", ">50k", "<=50k", "<=50k"),
    ],
}
"""The 5-anonymous table of ten census records, two classes of five."""

QUASI_IDENTIFIERS = ["age", "gender", "zipcode"]

MODELS = [
    {"model": "k-anonymity", "k": 5, "measured": {"k": 5}},
    # 4 different values in each class; the most frequent has 2 of 5 and 3 of 5 rows.
    {"model": "distinct-l-diversity", "column": "marital-status", "l": 3, "measured": {"l": 3}},
    {"model": "probabilistic-l-diversity", "column": "salary", "l": 1.25, "measured": {"l": 1.25}},
]


def write_data(table: pa.Table, path, form: str, delimiter: str = ",") -> None:
    if form == "csv":
        options = pyarrow.csv.WriteOptions(delimiter=delimiter)
        pyarrow.csv.write_csv(table, path, options)
    elif form == "parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path, compression="uncompressed")


def write_release(
    folder, columns=None, *, form="csv", delimiter=",", roles=None, described=None, **changes
):
    """Write a release folder and give it back; `changes` replace parts of the manifest."""
    table = columns if isinstance(columns, pa.Table) else pa.table(columns or TABLE_2)
    roles = roles or {
        name: "quasi-identifier" if name in QUASI_IDENTIFIERS else "sensitive"
        for name in table.column_names
    }
    folder.mkdir(exist_ok=True)
    name = f"data.{form}"
    write_data(table, folder / name, form, delimiter)
    manifest = {
        "format": 1,
        "sfumato": "0.1.0",
        "files": [{"name": name, "format": form, "rows": table.num_rows, "sha256": ""}],
        "columns": described or [{"name": name, "role": role} for name, role in roles.items()],
        "rows": {"published": table.num_rows, "suppressed": 0, "suppression": "remove"},
        "missing": "own-value",
        "models": MODELS,
        **changes,
    }
    if form == "csv":
        manifest["files"][0]["delimiter"] = delimiter
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    seal(folder)
    return folder


def edit_manifest(folder, change) -> None:
    """Apply a function to the manifest as a dictionary."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")


def seal(folder) -> None:
    """Let the manifest hold the checksum of the data as it is now, and drop the evidence.

    Whoever can forge the one can leave out the other; only a signature would tell.
    """
    (folder / "evidence.json").unlink(missing_ok=True)

    def change(manifest):
        for file in manifest["files"]:
            content = (folder / file["name"]).read_bytes()
            file["sha256"] = hashlib.sha256(content).hexdigest()

    edit_manifest(folder, change)
