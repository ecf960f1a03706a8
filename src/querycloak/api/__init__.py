"""The package from Python: read a log, anonymize it, attack and measure the release, write it.

>>> import querycloak as qc
>>> log = qc.QueryLog.of(["ann", "bob", "cem"], ["tea", "tea", "who is cem"])
>>> release = qc.anonymize(log, "sweep", min_query_users=2, seed=7)
>>> release
LogRelease(sweep, 2 rows)
>>> {result.attack: round(result.rate, 2) for result in qc.attack(log, release, names=["record-linkage"])}
{'record-linkage': 0.5, 'record-linkage, all users': 0.33}

A keyword that a function does not take is refused with the nearest one:

>>> qc.attack(log, release, taxonmy="wordnet")
Traceback (most recent call last):
...
querycloak.errors.ParameterError: attack() has no argument 'taxonmy'. Did you mean 'taxonomy'? It takes: also, \
directory, learn_from_clicks, log, mapping, names, progress, release, rerun, resolver, seed, taxonomy.
"""

from __future__ import annotations

from querycloak.api.experiments import audit, compare, reproduce
from querycloak.api.knowledge import explain, generate, load_directory, load_resolver, map_log, write_generated
from querycloak.api.logs import read_log
from querycloak.api.releases import anonymize, attack, check, measure, read_release, verify
from querycloak.descriptions import MethodDescription, describe_method, list_methods
from querycloak.evaluation.workbench import Workbench, load_taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.logs.sink import write_log
from querycloak.releases.files import write_release
from querycloak.releases.release import Release
from querycloak.releases.truth_file import read_truth, write_truth

__all__ = [
    "MethodDescription",
    "QueryLog",
    "Release",
    "Workbench",
    "anonymize",
    "attack",
    "audit",
    "check",
    "compare",
    "describe_method",
    "explain",
    "generate",
    "list_methods",
    "load_directory",
    "load_resolver",
    "load_taxonomy",
    "map_log",
    "measure",
    "read_log",
    "read_release",
    "read_truth",
    "reproduce",
    "verify",
    "write_generated",
    "write_log",
    "write_release",
    "write_truth",
]
