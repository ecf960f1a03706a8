"""Speed of generated logs: a million query events in 30 s or less, the compilation of the kernel counted apart."""

import resource
import tempfile
import time
from pathlib import Path

from querycloak.generator.generated_log import generate
from querycloak.generator.settings import Generate
from querycloak.generator.write import write_generated
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.randomness import Randomness


def main() -> None:
    wordnet = load_wordnet()
    started = time.perf_counter()
    generate(Generate(users=10, queries=100), wordnet, Randomness(seed=1))
    print(f"first log, kernel compiled or from the cache: {time.perf_counter() - started:.1f} s")
    print(f"{'query events':>12} {'users':>8} {'rows':>10} {'generate':>9} {'write':>7}")
    for queries in (10_000, 100_000, 1_000_000):
        settings = Generate(users=queries // 44, queries=queries)
        started = time.perf_counter()
        made = generate(settings, wordnet, Randomness(seed=1))
        generated = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            write_generated(made, Path(folder) / "log.tsv", truth=True)
        written = time.perf_counter()
        sizes = f"{queries:>12,} {settings.users:>8,} {len(made.log):>10,}"
        print(f"{sizes} {generated - started:>7.1f} s {written - generated:>5.1f} s")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
