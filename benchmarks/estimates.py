"""Measures how long methods take, for the table of `querycloak.evaluation.estimates`, and how far off that table is.

    python benchmarks/estimates.py 300 12000
    python benchmarks/estimates.py 2000 80000 [method …]

One line per method: processor seconds of a release, and of a release with all attacks, tasks and measures (three draws,
as `compare` has it), each with the estimate and their ratio. A ratio above 3 or below 1/3 of what takes 3 s or more is
told at the end.
"""

import os
import sys
import time
from types import SimpleNamespace

os.environ["NUMBA_NUM_THREADS"] = "1"

import querycloak as qc
from querycloak.catalog import METHODS
from querycloak.evaluation import assess
from querycloak.evaluation.compare import compare, plan_runs
from querycloak.evaluation.estimates import MAPPING, NAIVE, RATES
from querycloak.evaluation.workbench import Workbench

assess.time = SimpleNamespace(perf_counter=time.process_time)  # a busy machine stretches that little
WORTH_IT = 3.0


class Told:
    """Prints finished runs."""

    def start(self, step, total=None):
        """Say nothing."""

    def advance(self, units=1):
        """Say nothing."""

    def note(self, text):
        """Print a finished run."""
        print(text, file=sys.stderr, flush=True)


def main() -> int:
    users, queries = map(int, sys.argv[1:3])
    log = qc.generate(users=users, queries=queries, seed=5).log
    bench = Workbench(log)
    start = time.process_time()
    assert bench.concepts is not None
    rows, far = len(log), []
    print(f"{rows:,} rows; mapping {time.process_time() - start:.2f} s, estimate {MAPPING.seconds(rows):.2f}")
    found = compare(bench, plan_runs(sys.argv[3:] or sorted(METHODS), {}, 3), processes=1, progress=Told())
    for run in found.runs:
        if run.error is not None or (not run.baseline and run.method not in RATES):
            print(f"{run.name:28} {run.error or 'has no rate'}")
            continue
        release, whole = (None, NAIVE) if run.baseline else RATES[run.method]
        cells = []
        for took, rate in ((run.seconds["anonymize"], release), (sum(run.seconds.values()), whole)):
            estimate = rate.seconds(rows) if rate else took
            cells.append(f"{took:8.2f} s  estimate {estimate:8.2f}")
            if max(took, estimate) >= WORTH_IT and not 1 / 3 <= estimate / max(took, 1e-3) <= 3:
                far.append(run.name)
        print(f"{run.name:28} {'   '.join(cells)}")
    print(f"off by more than a factor of 3: {', '.join(far) or 'none'}")
    return int(bool(far))


if __name__ == "__main__":
    sys.exit(main())
