"""Weka's ICS search, as Debian packages it: an outside judge that shares no code with us."""

import shutil
import tempfile
from pathlib import Path

import pytest

JAR = Path("/usr/share/java/weka.jar")

_SEARCH = "weka.classifiers.bayes.net.search.ci.ICSSearchAlgorithm"
_ESTIMATOR = "weka.classifiers.bayes.net.estimate.SimpleEstimator"


class Weka:
    """One Java with Weka in it, for any number of tables. It comes with the extra `spark`."""

    def __enter__(self):
        if not (JAR.is_file() and shutil.which("java")):
            pytest.fail(f"no Weka: install Debian's package weka, which brings {JAR}, and java")
        from py4j.java_gateway import JavaGateway

        # Compiling thoroughly would take longer than the search.
        self.gateway = JavaGateway.launch_gateway(
            classpath=str(JAR), die_on_exit=True, javaopts=["-XX:TieredStopAtLevel=1"]
        )
        return self

    def __exit__(self, *_):
        self.gateway.shutdown()
        self.gateway.java_process.stdin.close()
        self.gateway.java_process.wait()

    def parents(self, codes, sizes, *, most_given: int = 2) -> dict[int, set[int]]:
        """Give the parents of each column: `codes[c, i]` is the value of column c in row i.

        Weka wants one column to be the class; the search treats it like any other, and the
        last is as good as any.
        """
        weka = self.gateway.jvm.weka
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.arff"
            table.write_text(_arff(codes, sizes))
            rows = weka.core.converters.ConverterUtils.DataSource.read(str(table))
        rows.setClassIndex(len(sizes) - 1)
        network = weka.classifiers.bayes.BayesNet()
        arguments = f"-D -Q {_SEARCH} -- -cardinality {most_given} -S BAYES"
        network.setOptions(weka.core.Utils.splitOptions(f"{arguments} -E {_ESTIMATOR} -- -A 0.5"))
        network.buildClassifier(rows)
        return {
            child: {network.getParent(child, i) for i in range(network.getNrOfParents(child))}
            for child in range(len(sizes))
        }


def _arff(codes, sizes) -> str:
    head = ["@relation t"]
    for column, size in enumerate(sizes):
        head.append(f"@attribute c{column} {{{','.join(f'v{v}' for v in range(size))}}}")
    rows = (",".join(f"v{v}" for v in row) for row in codes.T.tolist())
    return "\n".join([*head, "@data", *rows, ""])
