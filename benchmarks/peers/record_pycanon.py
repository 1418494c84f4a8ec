"""Write `tests/oracle/pycanon.json`: what pyCANON 1.3.6 says about twenty small clean tables.

It pins exact versions of NumPy and pandas, so it cannot live in our environment. Run
this in one of its own: `pip install pycanon==1.3.6`, then `python record_pycanon.py`.
"""

import json
import random
from collections import Counter
from pathlib import Path

import pandas as pd
from pycanon import anonymity


def rows_of(seed: int) -> list[tuple[str, int]]:
    """Every class holds every value: with values absent its δ-disclosure is wrong."""
    rng = random.Random(seed)
    rows = [(label, disease) for label in "ABC" for disease in (1, 2, 3, 4)]
    more = rng.randint(0, 60)
    return rows + [(rng.choice("ABC"), rng.choice((1, 1, 1, 2, 3, 4))) for _ in range(more)]


def figures(rows: list[tuple[str, int]]) -> dict[str, object]:
    frame = pd.DataFrame(rows, columns=["label", "disease"])
    texts = frame.assign(disease=frame["disease"].map(str))
    qi, sa = ["label"], ["disease"]
    alpha, k = anonymity.alpha_k_anonymity(frame, qi, sa)
    c, l = anonymity.recursive_c_l_diversity(frame, qi, sa)
    return {
        "k": int(anonymity.k_anonymity(frame, qi)),
        "l": int(anonymity.l_diversity(frame, qi, sa)),
        "alpha": float(alpha),
        "alpha k": int(k),
        "entropy l": int(anonymity.entropy_l_diversity(frame, qi, sa)),
        "recursive": [int(c), int(l)],
        "ordered t": float(anonymity.t_closeness(frame, qi, sa)),
        "equal t": float(anonymity.t_closeness(texts, qi, sa)),
        "basic beta": float(anonymity.basic_beta_likeness(frame, qi, sa)),
        "enhanced beta": float(anonymity.enhanced_beta_likeness(frame, qi, sa)),
        "delta": float(anonymity.delta_disclosure(frame, qi, sa)),
    }


if __name__ == "__main__":
    tables = []
    for seed in range(20):
        rows = rows_of(seed)
        counts = [[label, value, n] for (label, value), n in sorted(Counter(rows).items())]
        tables.append({"counts": counts, "figures": figures(rows)})
    lines = ",\n".join(json.dumps(table) for table in tables)
    project = Path(__file__).resolve().parents[2]
    (project / "tests" / "oracle" / "pycanon.json").write_text(f"[\n{lines}\n]\n")
