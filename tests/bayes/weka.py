"""Weka's ICS search, as Debian packages it: an outside judge that shares no code with us."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

JAR = Path("/usr/share/java/weka.jar")

_SEARCH = "weka.classifiers.bayes.net.search.ci.ICSSearchAlgorithm"
_ESTIMATOR = "weka.classifiers.bayes.net.estimate.SimpleEstimator"


def need_weka() -> None:
    """Skip the test that asks if Weka is not installed.

    Where `SFUMATO_REQUIRE_WEKA` is set its absence is a failure, so that a build cannot be
    green because nothing was compared.
    """
    if JAR.is_file() and shutil.which("java"):
        return
    message = f"no Weka: install Debian's package weka, which brings {JAR} and java"
    if os.environ.get("SFUMATO_REQUIRE_WEKA"):
        pytest.fail(message)
    pytest.skip(message)


def parents_by_weka(codes, sizes, *, most_given: int = 2) -> dict[int, set[int]]:
    """Give the parents of each column: `codes[c, i]` is the value of column c in row i.

    Weka wants one column to be the class; the search treats it like any other, and the
    last is as good as any. What it prints of the network is all that is used.
    """
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.arff"
        table.write_text(_arff(codes, sizes))
        arguments = ["-no-cv", "-v", "-D", "-Q", _SEARCH, "--", "-cardinality", str(most_given)]
        arguments += ["-S", "BAYES", "-E", _ESTIMATOR, "--", "-A", "0.5"]
        # Compiling thoroughly would take longer than the search.
        java = ["java", "-XX:TieredStopAtLevel=1", "-cp", str(JAR)]
        done = subprocess.run(
            [*java, "weka.classifiers.bayes.BayesNet", "-t", str(table), *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
    lines = re.findall(r"^c(\d+)\(\d+\):(.*)$", done.stdout, flags=re.MULTILINE)
    assert len(lines) == len(sizes), done.stdout + done.stderr
    return {int(child): {int(p) for p in re.findall(r"c(\d+)", rest)} for child, rest in lines}


def _arff(codes, sizes) -> str:
    head = ["@relation t"]
    for column, size in enumerate(sizes):
        head.append(f"@attribute c{column} {{{','.join(f'v{v}' for v in range(size))}}}")
    rows = (",".join(f"v{v}" for v in row) for row in codes.T.tolist())
    return "\n".join([*head, "@data", *rows, ""])
