"""QueryCloak: publish, share or analyse a web-search query log without exposing the people who searched.

Every public name is listed in `__all__`, and loaded when it is first used, so that importing the package is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from querycloak._version import __version__

if TYPE_CHECKING:
    from querycloak.api import (
        anonymize,
        attack,
        audit,
        check,
        compare,
        describe_method,
        explain,
        generate,
        list_methods,
        load_directory,
        load_resolver,
        load_taxonomy,
        map_log,
        measure,
        read_log,
        read_release,
        read_truth,
        reproduce,
        verify,
        write_generated,
        write_log,
        write_release,
        write_truth,
    )
    from querycloak.attacks.result import AttackResult, Baseline
    from querycloak.catalog import Check, Method
    from querycloak.descriptions import MethodDescription
    from querycloak.display import ResultList
    from querycloak.errors import (
        CheckFailedError,
        GateError,
        InputError,
        OutputError,
        ParameterError,
        PluginError,
        PluginWarning,
        QueryCloakError,
        TaxonomyError,
        UnknownNameError,
        UserError,
    )
    from querycloak.evaluation.audit_result import Audit
    from querycloak.evaluation.check import ReleaseCheck
    from querycloak.evaluation.comparison import Comparison
    from querycloak.evaluation.limits import Limits
    from querycloak.evaluation.workbench import Workbench
    from querycloak.generator.generated_log import GeneratedLog
    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.named import Knowledge
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.form import Column, LogForm
    from querycloak.logs.formats.plugins import Format
    from querycloak.logs.query_log import QueryLog
    from querycloak.logs.read_options import ReadOptions
    from querycloak.measures.score import Score
    from querycloak.progress import Progress
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release, Truth
    from querycloak.releases.statement import PrivacyStatement
    from querycloak.releases.verify import Finding
    from querycloak.settings import Settings, setting

__all__ = [
    "AttackResult",
    "Audit",
    "Baseline",
    "Check",
    "CheckFailedError",
    "Column",
    "Comparison",
    "Finding",
    "Format",
    "GateError",
    "GeneratedLog",
    "InputError",
    "Knowledge",
    "Limits",
    "LogForm",
    "Method",
    "MethodDescription",
    "OutputError",
    "ParameterError",
    "PluginError",
    "PluginWarning",
    "PrivacyStatement",
    "Progress",
    "QueryCloakError",
    "QueryLog",
    "Randomness",
    "ReadOptions",
    "Release",
    "ReleaseCheck",
    "ResultList",
    "Score",
    "Settings",
    "SiteDirectory",
    "Taxonomy",
    "TaxonomyError",
    "Truth",
    "UnknownNameError",
    "UserError",
    "Workbench",
    "__version__",
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
    "setting",
    "verify",
    "write_generated",
    "write_log",
    "write_release",
    "write_truth",
]

_HOME = {
    "AttackResult": "attacks.result",
    "Audit": "evaluation.audit_result",
    "Baseline": "attacks.result",
    "Check": "catalog",
    "CheckFailedError": "errors",
    "GateError": "errors",
    "Column": "logs.form",
    "Comparison": "evaluation.comparison",
    "Limits": "evaluation.limits",
    "ReleaseCheck": "evaluation.check",
    "Finding": "releases.verify",
    "Format": "logs.formats.plugins",
    "GeneratedLog": "generator.generated_log",
    "InputError": "errors",
    "Knowledge": "knowledge.named",
    "LogForm": "logs.form",
    "Method": "catalog",
    "MethodDescription": "descriptions",
    "OutputError": "errors",
    "ParameterError": "errors",
    "PluginError": "errors",
    "PluginWarning": "errors",
    "PrivacyStatement": "releases.statement",
    "Progress": "progress",
    "QueryCloakError": "errors",
    "QueryLog": "logs.query_log",
    "Randomness": "randomness",
    "ReadOptions": "logs.read_options",
    "Release": "releases.release",
    "ResultList": "display",
    "Score": "measures.score",
    "Settings": "settings",
    "SiteDirectory": "knowledge.directory",
    "Taxonomy": "knowledge.taxonomy",
    "TaxonomyError": "errors",
    "Truth": "releases.release",
    "UnknownNameError": "errors",
    "UserError": "errors",
    "Workbench": "evaluation.workbench",
    "setting": "settings",
}
"""Where a name is; every other name of `__all__` is in `querycloak.api`."""


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'querycloak' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"querycloak.{_HOME.get(name, 'api')}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
