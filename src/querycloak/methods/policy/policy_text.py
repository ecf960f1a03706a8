"""A policy as text: TOML with one table per rule, read with errors that name file and line, and written again.

    name = "example"

    [query_users]
    people = 30

    [ids]
    per = "session"
    gap = 30

Tables come in the order in which the rules are applied (`rules.py`). tomllib does not tell on which line a value is, so
that is looked up in the text: by the line that begins with its table or its name.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from querycloak.errors import InputError, ParameterError, UnknownNameError
from querycloak.methods.policy.rules import RULES

if TYPE_CHECKING:
    from querycloak.methods.policy.rule import Rule

__all__ = ["PolicyRules", "parse_policy"]

HEAD: Final = ("name", "about")
"""What a file may say before its rules: texts."""
_AT: Final = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True)
class PolicyRules:
    """The rules of a policy."""

    rules: dict[str, Rule]
    """by name, in the order in which they are applied"""
    name: str = ""
    about: str = ""

    def text(self) -> str:
        """Return the rules as a file that gives the same ones, every setting with its value."""
        lines = [f"{key} = {_value(text)}" for key, text in (("name", self.name), ("about", self.about)) if text]
        for name, rule in self.rules.items():
            lines += ["", f"[{name}]"] if lines else [f"[{name}]"]
            values = {f.name: getattr(rule, f.name) for f in fields(rule)}
            lines += [f"{key} = {_value(value)}" for key, value in values.items() if value is not None]
        return "\n".join(lines) + "\n"


def parse_policy(text: str, path: str) -> PolicyRules:
    """Read the text of a policy; `path` is what errors call it."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = _AT.search(str(error))
        wrong = int(at[1]) if at and at[1] else text.count("\n") + 1
        problem = str(error)[: at.start()] if at else str(error)
        raise InputError.at(path, f"not TOML: {problem[:1].lower()}{problem[1:]}", wrong) from None
    head = {key: found.pop(key) for key in HEAD if key in found}
    for key, value in head.items():
        if not isinstance(value, str):
            raise InputError.at(path, f"{key} must be a text, got {value!r}", _line_of(text, key))
    rules: dict[str, Rule] = {}
    for name, values in found.items():
        line = _line_of(text, name)
        if name not in RULES:
            problem = str(UnknownNameError.of("rule", name, RULES)).removesuffix(".")
            raise InputError.at(path, problem, line)
        if not isinstance(values, dict):
            raise InputError.at(path, f"{name} is a rule: expected a table [{name}] with its settings", line)
        _check_order(path, name, rules, line)
        rules[name] = _rule(path, text, name, values)
    if not rules:
        raise InputError.at(path, f"no rule in it; there are: {', '.join(RULES)}")
    _check_together(path, text, rules)
    return PolicyRules(rules, head.get("name", ""), head.get("about", ""))


def _check_order(path: str, name: str, before: dict[str, Rule], line: int | None) -> None:
    """Refuse a rule that comes after one which is applied later: a reader would take the file for the order of use."""
    order = list(RULES)
    later = [other for other in before if order.index(other) > order.index(name)]
    if later:
        problem = f"{name} comes after {later[0]}, and is applied before it; write rules in this order: "
        raise InputError.at(path, problem + ", ".join(order), line)


def _rule(path: str, text: str, name: str, values: dict[str, Any]) -> Rule:
    """Make the settings of a rule."""
    kind = RULES[name].settings
    known = [f.name for f in fields(kind)]
    for key in values:
        if key not in known:
            problem = str(UnknownNameError.of(f"setting of {name}", key, known)).removesuffix(".")
            raise InputError.at(path, problem, _line_of(text, name, key))
    missing = [key for key in kind.required if key not in values]
    if missing:
        raise InputError.at(path, f"{name} needs {', '.join(missing)}", _line_of(text, name))
    try:
        return kind(**values)
    except ParameterError as error:
        problem = str(error).removesuffix(".").replace(f"{kind.__name__}.", f"{name}.", 1)
        key = problem.removeprefix(f"{name}.").split(" ", 1)[0]
        raise InputError.at(path, problem, _line_of(text, name, key)) from None


def _check_together(path: str, text: str, rules: dict[str, Rule]) -> None:
    """Refuse rules that contradict each other."""
    per = getattr(rules.get("ids"), "per", "none")
    if "as_counts" in rules and per != "none":
        problem = f'as_counts publishes no ids, and ids.per is "{per}": leave one of them out, or set ids.per = "none"'
        raise InputError.at(path, problem, _line_of(text, "as_counts"))
    kept = getattr(rules.get("columns"), "keep", ())
    lost = [name for name in getattr(rules.get("columns"), "round", {}) if name not in kept]
    if lost:
        problem = f"columns.round names {lost[0]!r}, which columns.keep does not publish"
        raise InputError.at(path, problem, _line_of(text, "columns", "round"))


def _line_of(text: str, table: str, key: str | None = None) -> int | None:
    """Find the line of a table, or of a key in it: that of the table where the key is not found; None = not found."""
    found, inside = None, False
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[+\s*[\"']?([\w-]+)", line)
        if header:
            inside = header[1] == table
        named = header is not None and inside
        named |= re.match(rf"\s*[\"']?{re.escape(table)}[\"']?\s*[.=]", line) is not None and not header
        if named and found is None:
            found = number
        if key is not None:
            own = inside and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[.=]", line)
            dotted = re.match(rf"\s*{re.escape(table)}\s*\.\s*{re.escape(key)}\s*[.=]", line)
            if own or dotted:
                return number
    return found


def _value(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_value(k)} = {_value(v)}" for k, v in value.items()) + " }" if value else "{}"
    return str(value)
