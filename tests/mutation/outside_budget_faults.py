"""Faults by which one user's data reaches a private release outside its budget, or budget is spent for nothing."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["OUTSIDE_BUDGET"]

PUBLISH = "releases/test_publish.py::TestDifferentialPrivacy"
COMMANDS = "cli/test_dp_commands.py"

OUTSIDE_BUDGET: list[Fault] = [
    fault(
        "gate: the form of a private release is that of the records",
        "releases/publish.py",
        "form=None if table.form is None else table.form.of_schema()",
        "form=table.form",
        "releases/test_public_form.py",
    ),
    fault(
        "semantic-dp: ids look as those of the log",
        "methods/dp/semantic_dp.py",
        'digits = False if settings.shape == "user" else None',
        "digits = None",
        "methods/dp/test_ids_of_releases.py",
    ),
    fault(
        "reading: times that look otherwise are missing",
        "logs/builder.py",
        "times = parse_each(texts, pattern) if self._guessed else parse_as(texts, pattern)",
        "from querycloak.logs.times import parse_times\n        times = parse_times(texts, pattern)",
        "methods/dp/test_time_files.py",
    ),
    fault(
        "reading: digits that fit two patterns are read as those of most",
        "logs/builder.py",
        "and self._guessed and not _surely_seconds(batch, 2 * column)",
        "and not self._guessed",
        "methods/dp/test_file_schema.py::test_the_times_of_one_user_do_not_change_the_times_of_others",
    ),
    fault(
        "reading: the pattern of most is tried first",
        "logs/times.py",
        "odd |= texts.str.contains(_SURER[pattern])",
        "pass",
        "methods/dp/test_file_schema.py::test_the_times_of_one_user_do_not_change_the_times_of_others",
    ),
    fault(
        "reading: further roles are found among the keys of JSON records",
        "logs/formats/jsonlines.py",
        "if mapping is not None and names_all(mapping):",
        "if mapping is not None and names_all(mapping) and len(mapping) > 9:",
        "methods/dp/test_file_schema.py::test_a_key_of_one_user_does_not_change_the_account_or_the_columns",
    ),
    fault(
        "gate: columns that were found among records",
        "releases/checks.py",
        "    if found:",
        "    if found is None:",
        "methods/dp/test_file_schema.py::test_the_gate_refuses_columns_found_among_records",
    ),
    fault(
        "private methods take columns that were found among records",
        "methods/dp/_spending.py",
        "if form is not None and form.found:",
        "if form is not None and len(form.found) > 9:",
        "methods/dp/test_file_schema.py::test_columns_found_among_records_are_refused",
    ),
    fault(
        "gate: exact counts among the numbers of the model",
        "releases/checks.py",
        "if any(not name.startswith(OF_MECHANISMS)",
        "if any(not name",
        f"{PUBLISH}::test_an_exact_count_among_the_numbers_of_the_model",
    ),
    fault(
        "gate: a share that was never used passes",
        "releases/checks.py",
        "if unused:",
        "if unused is None:",
        f"{PUBLISH}::test_a_share_that_no_mechanism_used",
    ),
    fault(
        "account: a cost below zero",
        "releases/account.py",
        "math.isfinite(number) and number >= 0",
        "math.isfinite(number)",
        "releases/test_ledger.py::test_nothing_is_given_back_by_a_cost_below_zero",
    ),
    fault(
        "ledger: what bounds nothing for a person is charged",
        "releases/ledger.py",
        "line.relation in {CONCEPT, CONCEPTS}",
        "line.relation in {CONCEPT}",
        "releases/test_ledger.py::test_what_bounds_nothing_for_a_person_is_refused_and_costs_nothing",
    ),
    fault(
        "budget: a share of nothing is its delta",
        "releases/budget.py",
        "if not epsilon:  # rounded",
        "if epsilon < 0:  # rounded",
        "releases/test_budget.py::test_a_share_that_is_rounded_to_nothing_is_refused_and_is_not_its_delta",
    ),
    fault(
        "set union: noise that overflows is found after the ledger was charged",
        "methods/dp/_set_union_table.py",
        "gaussian_scale(1.0, rho *",
        "gaussian_scale(0.0, rho *",
        f"{COMMANDS}::test_numbers_too_small_for_any_noise_are_refused_before_anything_is_spent",
    ),
]
