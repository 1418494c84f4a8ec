"""Count, anonymise, decouple, verify and sign in SQLite; run by `test_plugin` in a process."""

import json
import sqlite3
import sys

import pyarrow as pa

import sfumato as sf
from sfumato.tables import open_table
from sfumato.verifier import Check

NAMES = ["age", 'the "sex"', "height", "ill"]
ROWS = [
    (
        20 + i % 7,
        None if i == 59 else "fmF"[i % 3],
        None if i % 11 == 5 else 1.5 + i % 4 / 8,
        ["flu", "hiv", "gout", None][i * 7 % 4],
    )
    for i in range(60)
]
POLICY = sf.Policy(
    columns={
        "age": "quasi-identifier",
        'the "sex"': "quasi-identifier",
        "height": "quasi-identifier",
        "ill": "sensitive",
    },
    models=[sf.models.KAnonymity(4), sf.models.DistinctLDiversity("ill", 2)],
)
ADDRESS = "sqlite:///clinic.db?table="


def fill():
    """Make the table, with a column that takes F and f for one value."""
    with sqlite3.connect("clinic.db") as connection:
        connection.execute(
            'CREATE TABLE people (age INTEGER, "the ""sex""" TEXT COLLATE NOCASE, height, ill TEXT)'
        )
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", ROWS)
    connection.close()
    return pa.table([list(column) for column in zip(*ROWS, strict=True)], names=NAMES)


def counted(source, columns):
    counts = open_table(source).count(columns)
    cells = [
        [counts.columns[c].values[code] for c, code in enumerate(codes)] for codes in counts.codes.T
    ]
    return [[*map(str, each), int(rows)] for each, rows in zip(cells, counts.rows, strict=True)]


def failed(checks: list[Check]) -> list[str]:
    return [f"{check.name}: {check.detail}" for check in checks if check.status == "broken"]


def main():
    embedded = fill()
    found = {"counts": counted(ADDRESS + "people", NAMES)}
    found["embedded counts"] = counted(embedded, NAMES)

    key = sf.evidence.SigningKey.generate()
    release = sf.anonymize(
        ADDRESS + "people", POLICY, output="table:released", key=key, even_so=True
    )
    again = sf.anonymize(embedded, POLICY)
    found["released"] = counted(ADDRESS + "released", NAMES)
    found["embedded released"] = counted(again.table, NAMES)
    assert not failed(release.verdict.checks)
    found["verified"] = sf.verify(ADDRESS + "released").verdict.holds

    local = sf.anonymize(ADDRESS + "people", POLICY, method="mondrian", output="table:local")
    found["local rows"] = local.manifest.to_dict()["rows"]
    embedded_local = sf.anonymize(embedded, POLICY, method="mondrian")
    found["embedded local rows"] = embedded_local.manifest.to_dict()["rows"]

    parts = sf.decouple(ADDRESS + "released", output="table:parts", key=key, even_so=True)
    found["decoupled"] = sf.verify(ADDRESS + "parts").verdict.holds and parts.verdict.holds

    found["signed"] = sf.check_evidence(ADDRESS + "released", key.public).holds
    connection = sqlite3.connect("clinic.db")
    connection.execute("UPDATE released SET ill = 'plague' WHERE rowid = 1")
    connection.commit()
    found["tampered"] = sf.check_evidence(ADDRESS + "released", key.public).holds
    # A pair of connection and name is found by its library; in a transaction, nothing is committed.
    connection.execute("BEGIN")
    sf.anonymize((connection, "people"), POLICY, output="table:taken_back")
    connection.rollback()
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
    connection.close()
    found["left"] = [name for name in names if name.startswith(("sfumato_", "taken_back"))]
    json.dump(found, sys.stdout, default=str)


if __name__ == "__main__":
    main()
