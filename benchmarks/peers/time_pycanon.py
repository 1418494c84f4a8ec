"""Time pyCANON on a table: five figures, CPU seconds of all of them, as JSON.

Run by `python -m benchmarks --peers check-table` in an environment of its own.
"""

import json
import sys
import time

import pandas as pd
from pycanon import anonymity

if __name__ == "__main__":
    file, sensitive, *names = sys.argv[1:]
    frame = pd.read_csv(file, sep=";", dtype=str)
    start = time.process_time()
    c, l = anonymity.recursive_c_l_diversity(frame, names, [sensitive])
    figures = {
        "k": int(anonymity.k_anonymity(frame, names)),
        "distinct l": int(anonymity.l_diversity(frame, names, [sensitive])),
        "entropy l": int(anonymity.entropy_l_diversity(frame, names, [sensitive])),
        "recursive c": float(c),
        "recursive l": int(l),
        "t": float(anonymity.t_closeness(frame, names, [sensitive])),
    }
    print(json.dumps({"cpu": time.process_time() - start, **figures}))
