"""Run methods on real executors and kill one in the middle: `python executor_kills.py METHOD …` prints what was found.

Each method runs twice with the same seed: undisturbed, then with a killed executor. The second run must end, pass the
gate, and publish the very same table.
"""

import json
import os
import signal
import sys
import threading
import time

import psutil

MASTER = "local-cluster[2,1,2048]"
LONGEST_WAIT = 0.1
USERS, EVENTS = 100, 1_500
SETTINGS = {
    "policy": {"rules": "duckduckgo-2026"},
    "frequent-queries": {"epsilon": 50.0, "delta": 0.01},
    "synthetic-dp": {"epsilon": 50.0, "delta": 0.01},
    "plain-microaggregation": {"blocks": "40"},
    "semantic-microaggregation": {"blocks": "40"},
}
"""where the defaults would publish nothing of so small a log, or make one block of it"""


def log_rows():
    """Return rows of a generated log."""
    import querycloak as qc

    log = qc.generate(users=USERS, queries=EVENTS, seed=3, categories=True).log
    columns = (log.user, log.query, log.time, log.url, log.category)
    words = (log.users.to_list(), log.queries.to_list(), None, log.urls.to_list(), log.categories.to_list())
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield tuple(
            value if texts is None else None if value < 0 else texts[value]
            for value, texts in zip(row, words, strict=True)
        )


def executors():
    """Return the processes that are executors of this process's cluster."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if any("CoarseGrainedExecutorBackend" in word for word in process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


class Killer(threading.Thread):
    """Kill one executor with its Python processes when so many jobs of a group have begun.

    It waits until tasks are running; where these are too short to be seen, it kills between them: what the executor
    kept is gone.
    """

    def __init__(self, context, group, jobs):
        super().__init__(daemon=True)
        self.context, self.group, self.jobs = context, group, jobs
        self.killed = 0
        self.ended = threading.Event()

    def run(self):
        tracker = self.context.statusTracker()
        begun = None
        while not self.ended.wait(0.002):
            if begun is None and len(tracker.getJobIdsForGroup(self.group)) < self.jobs:
                continue
            begun = begun or time.monotonic()
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            running = any(stage is not None and stage.numActiveTasks for stage in stages)
            if running or time.monotonic() > begun + LONGEST_WAIT:
                victim = executors()[0]
                for process in [victim, *victim.children(recursive=True)]:
                    process.send_signal(signal.SIGKILL)
                self.killed += 1
                return


def published(session, frame, method, group):
    """Return the sorted rows of a release, its statement, and how many jobs it took."""
    from querycloak.spark import anonymize

    session.sparkContext.setJobGroup(group, group)
    table, statement = anonymize(frame, method, seed=11, **SETTINGS.get(method, {}))
    rows = sorted(table.collect(), key=repr)
    jobs = len(session.sparkContext.statusTracker().getJobIdsForGroup(group))
    session.catalog.clearCache()
    return rows, statement, jobs


def main(methods):
    """Print one line of JSON for each method."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from querycloak.spark.session import running_session

    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # Java compiles quickly, not well
    options = {
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": quick,
        "spark.executor.extraJavaOptions": quick,
    }
    schema = "user string, query string, time bigint, url string, category string"
    with running_session(MASTER, options) as session:
        frame = session.createDataFrame(list(log_rows()), schema)  # on the driver: it survives an executor
        for method in methods:
            print("FOUND " + json.dumps(tried(session, frame, method)), flush=True)


def tried(session, frame, method):
    """Run a method undisturbed, then with a killed executor; return what was found."""
    start = time.perf_counter()
    rows, statement, jobs = published(session, frame, method, f"{method} undisturbed")
    killer = Killer(session.sparkContext, f"{method} killed", max(1, jobs // 2))
    killer.start()
    again, second, _ = published(session, frame, method, f"{method} killed")
    killer.ended.set()
    killer.join()
    return {
        "method": method,
        "rows": len(rows),
        "killed": killer.killed,
        "same table": rows == again,
        "same statement": statement == second,
        "seconds": round(time.perf_counter() - start, 1),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
