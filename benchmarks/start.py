"""How long the commands take on a small file, from start to end: what is paid before any work is done.

Aims: `querycloak --help` 0.4 s; `--version` and what a shell asks for on Tab 0.3 s; `map`, with WordNet, 0.5 s;
`stream` and `anonymize --method sweep` on 100 rows with categories 0.8 s. The interpreter alone, `import typer,
pydantic, numpy` (what `map` cannot do without) and `import numba, polars` are yardsticks of the machine. All are run in
turn, several times; the best of each counts. Processor time is shown too: it hardly depends on what else the machine
does. The bytecode of all modules is kept in a folder of the run, as it is next to an installed package.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 9
STREAM = ["-m", "querycloak", "stream", "--k", "2", "-i", "log.tsv", "-o", "stream.tsv"]
SWEEP = ["-m", "querycloak", "anonymize", "log.tsv", "-o", "release.tsv", "--method", "sweep"]
COMPLETION = ["-c", "import sys; sys.argv = ['querycloak']; from querycloak.cli import main; main()"]
ASKED = {
    "completion of a name": "querycloak anonymize --method s",
    "completion of an option": "querycloak anonymize --method=clump --",
}
COMMANDS = {
    "python -c pass": (["-c", "pass"], None),
    "import typer … numpy": (["-c", "import typer, pydantic, numpy"], None),
    "import numba, polars": (["-c", "import numba, polars"], None),
    "querycloak --help": (["-m", "querycloak", "--help"], 0.4),
    "querycloak --version": (["-m", "querycloak", "--version"], 0.3),
    "completion of a name": (COMPLETION, 0.3),
    "completion of an option": (COMPLETION, 0.3),
    "querycloak map": (["-m", "querycloak", "map", "jaguar car"], 0.5),
    "querycloak stream": (STREAM, 0.8),
    "querycloak anonymize": (SWEEP, 0.8),
}


def write_log(path):
    draw = random.Random(1)
    topics = ["Top/Arts/Music", "Top/Arts/Film", "Top/Sports/Ball", "Top/Home/Cook"]
    lines = ["user\tquery\ttime\tcategory"]
    lines += [
        f"u{i % 13}\tquery {draw.randrange(20)}\t2006-03-01 10:{i // 60:02}:{i % 60:02}\t{draw.choice(topics)}"
        for i in range(100)
    ]
    path.write_text("\n".join(lines) + "\n")


def seconds(title, words, folder):
    """Run one command; return its wall-clock time and its processor time."""
    line = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(Path(folder).resolve() / "bytecode")}
    if title in ASKED:
        line |= {"COMP_WORDS": ASKED[title], "COMP_CWORD": "3", "_QUERYCLOAK_COMPLETE": "complete_bash"}
    before, start = os.times(), time.perf_counter()
    subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, check=True, env={**os.environ, **line})
    wall, after = time.perf_counter() - start, os.times()
    return wall, (after.children_user - before.children_user) + (after.children_system - before.children_system)


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_log(folder / "log.tsv")
        for title, (words, _) in COMMANDS.items():  # the first run may compile and write caches
            seconds(title, words, folder)
        taken = {title: [] for title in COMMANDS}
        for _ in range(RUNS):
            for title, (words, _) in COMMANDS.items():
                taken[title].append(seconds(title, words, folder))
    late = 0
    print(f"best of {RUNS}                 wall  processor     aim")
    for title, (_, aim) in COMMANDS.items():
        wall, processor = (min(column) for column in zip(*taken[title], strict=True))
        print(f"{title:23} {wall:6.2f} s   {processor:6.2f} s" + (f"  {aim:.1f} s" if aim else ""))
        late += aim is not None and wall > aim
    return int(late > 0)


if __name__ == "__main__":
    sys.exit(main())
