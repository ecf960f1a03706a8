"""The command line, as tests/cli runs it."""

import importlib.util

from places import ROOT

_spec = importlib.util.spec_from_file_location("command_of_cli", ROOT / "tests" / "cli" / "command.py")
_module = importlib.util.module_from_spec(_spec)
__import__("sys").modules["command_of_cli"] = _module
_spec.loader.exec_module(_module)
querycloak, querycloak_process = _module.querycloak, _module.querycloak_process
