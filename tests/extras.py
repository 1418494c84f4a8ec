"""Every extra for users, installed from a wheel where nothing else is, and a first example of it.

    python -m tests.extras dist/sfumato-0.3.0-py3-none-any.whl [EXTRA ...]

`make extras` builds the wheel before. Each extra gets an environment of its own, so that none
works only because another one is there.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PEOPLE = """
import sfumato as sf
people = sf.samples.synthetic(300, seed=1)
columns = {"age": {"role": "quasi-identifier", "hierarchy": "auto"}, "diagnosis": "sensitive"}
policy = sf.Policy(columns=columns, other="dropped", models=[sf.models.KAnonymity(5)])
"""

FIRST = {
    "pandas": """
import pandas as pd
import sfumato as sf
table = pd.DataFrame({"age": [34, 36, 38, 52, 55, 58], "ill": list("aabbab")})
release = sf.anonymize(table, quasi_identifiers=["age"], sensitive=["ill"], k=3)
assert isinstance(release.table, pd.DataFrame)
""",
    "polars": """
import polars as pl
import sfumato as sf
table = pl.DataFrame({"age": [34, 36, 38, 52, 55, 58], "ill": list("aabbab")})
release = sf.anonymize(table, quasi_identifiers=["age"], sensitive=["ill"], k=3)
assert isinstance(release.table, pl.DataFrame)
""",
    "bayes": PEOPLE
    + """
found = sf.detect(sf.anonymize(people, policy, output="release"), learner="pyagrum-pc")
assert str(found)
""",
    "ml": PEOPLE
    + """
release = sf.anonymize(people, policy)
assert "decision tree" in str(sf.utility(people, release, classify="diagnosis"))
""",
    "sign": PEOPLE
    + """
import subprocess, sys
from pathlib import Path
command = Path(sys.executable).parent / "sfumato"
subprocess.run([command, "keygen", "-o", "publisher"], check=True)
sf.anonymize(people, policy, output="release", key="publisher.key")
subprocess.run([command, "check-evidence", "release", "--public-key", "publisher.pub"], check=True)
""",
    "office": PEOPLE
    + """
import pandas, pyreadstat
pyreadstat.write_sav(people.to_pandas(), "people.sav")
sf.anonymize("people.sav", policy, output="release")
from pathlib import Path
assert [*Path("release").glob("*.sav")]
""",
    "excel": PEOPLE
    + """
import xlsxwriter
book = xlsxwriter.Workbook("people.xlsx")
sheet = book.add_worksheet()
for x, name in enumerate(people.column_names):
    sheet.write_column(0, x, [name, *people[name].to_pylist()])
book.close()
sf.anonymize("people.xlsx", policy, output="release")
from pathlib import Path
assert [*Path("release").glob("*.xlsx")]
""",
    "synthetic": """
import pyarrow as pa
import sfumato as sf
table = pa.table({"sex": ["f", "m"] * 500, "ill": ["flu", "gout", "flu", "flu"] * 250})
policy = {
    "columns": {
        "sex": {"role": "quasi-identifier", "domain": ["f", "m"]},
        "ill": {"role": "sensitive", "domain": ["flu", "gout"]},
    },
    "models": [{"model": "k-anonymity", "k": 5}],
}
assert sf.synthesize(table, policy, epsilon=1.0).table.num_rows
""",
    "duckdb": PEOPLE
    + """
import duckdb
with duckdb.connect("people.duckdb") as connection:
    connection.register("given", people)
    connection.execute("create table people as select * from given")
sf.anonymize("duckdb:///people.duckdb?table=people", policy, output="table:released")
""",
    # No server is here: the library is, and says so.
    "postgres": PEOPLE
    + """
address = "postgres://reader@127.0.0.1:1/clinic?table=people&connect_timeout=1"
try:
    sf.anonymize(address, policy, output="table:released")
except sf.errors.SfumatoError as error:
    assert "127.0.0.1" in str(error), error
else:
    raise AssertionError("no error without a server")
""",
    "spark": PEOPLE
    + """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
rows = spark.range(200).selectExpr("20 + id % 40 AS age", "cast(id % 3 AS string) AS diagnosis")
sf.anonymize(rows, policy, output="table:released")
assert spark.table("released").count() == 200
spark.stop()
""",
    "app": """
import re, subprocess, sys, time, urllib.request
from pathlib import Path
command = Path(sys.executable).parent / "sfumato"
with open("log", "w") as log:
    app = subprocess.Popen([command, "app", "--no-browser"], stdout=log, stderr=log)
try:
    while not (address := re.search(r"http://\\S+", Path("log").read_text())):
        assert app.poll() is None, Path("log").read_text()
        time.sleep(0.1)
    # The token opens the door once; after that a cookie does.
    reader = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    assert b"Sfumato" in reader.open(address[0], timeout=60).read()
finally:
    app.terminate()
    app.wait()
""",
}
"""Extras, and a program that works with nothing but them."""


def main(wheel: str, *names: str) -> None:
    """Install and try each extra, or those that are named."""
    path = Path(wheel).resolve()
    for name in names or FIRST:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "alone"
            venv.create(place, with_pip=True)
            python = place / "bin" / "python"
            install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([python, *install, f"{path}[{name}]"], check=True)
            (Path(folder) / "first.py").write_text(FIRST[name], encoding="utf-8")
            subprocess.run([python, "first.py"], cwd=folder, check=True)
        sys.stdout.write(f"{name}: installed alone, and its first example runs\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
