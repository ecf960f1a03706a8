"""How plans are shared out among processes."""

from __future__ import annotations

import pytest

from querycloak.evaluation.plans import Plan, _shared_out


@pytest.mark.parametrize(
    ("methods", "processes", "tasks"),
    [
        ("sppppw", 2, ["s", "ppp", "p", "w"]),
        ("sppww", 2, ["s", "pp", "ww"]),
        ("pppp", 2, ["pp", "pp"]),
        ("pw", 4, ["p", "w"]),
        ("ppw", 3, ["p", "p", "w"]),
    ],
)
def test_plans_of_a_method_stay_together_up_to_an_even_share(methods, processes, tasks):
    plans = [Plan(f"{method} {i}", method, {}) for i, method in enumerate(methods)]
    shared = _shared_out(plans, processes)
    assert ["".join(plan.method for plan in task) for task in shared] == tasks
    assert [plan for task in shared for plan in task] == plans
