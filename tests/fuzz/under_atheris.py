"""Let Atheris drive a reader, if the extra `fuzz` is installed; it needs clang to be built.

    python -m tests.fuzz.under_atheris csv -max_total_time=600

What follows the name of the target is for libFuzzer. A fault is kept in the corpus like any other.
"""

import base64
import sys
import tempfile
from pathlib import Path


def main() -> None:
    import atheris

    # Only what is imported here is watched by libFuzzer, so everything else is imported before.
    with atheris.instrument_imports(include=["sfumato"]):
        from tests.fuzz.guards import command_for, keep, minimize, try_case
        from tests.fuzz.readers import TARGETS, Readers, seeds

    name = sys.argv.pop(1) if len(sys.argv) > 1 else ""
    if name not in TARGETS:
        sys.exit(f"name a target: {', '.join(TARGETS)}")
    guard = Readers()

    def one_input(data: bytes) -> None:
        case = {"target": name, "data": base64.b64encode(data).decode()}
        fault = try_case(guard, case)
        if fault is not None:
            small, fault = minimize(guard, case, fault)
            sys.exit(f"{fault}\n{command_for(keep(guard, small))}")

    with tempfile.TemporaryDirectory(prefix="sfumato-atheris-") as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for i, data in enumerate(seeds(name)):
            (corpus / str(i)).write_bytes(data)
        atheris.Setup([*sys.argv, f"-artifact_prefix={folder}/", str(corpus)], one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
