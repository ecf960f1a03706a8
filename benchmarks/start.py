"""How long `querycloak --help` takes: 0.4 s or less, because nothing heavy is imported."""

import subprocess
import sys
import time

RUNS = 15


def main() -> int:
    times, bare = [], []
    for _ in range(RUNS):
        for words, out in ((["-m", "querycloak", "--help"], times), (["-c", "pass"], bare)):
            start = time.perf_counter()
            subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)
            out.append(time.perf_counter() - start)
    times.sort()
    print("                      median   fastest")
    print(f"querycloak --help     {times[RUNS // 2]:.3f} s  {times[0]:.3f} s   (aim: 0.4 s)")
    print(f"bare interpreter      {sorted(bare)[RUNS // 2]:.3f} s  {min(bare):.3f} s")
    return int(times[RUNS // 2] > 0.4)


if __name__ == "__main__":
    sys.exit(main())
