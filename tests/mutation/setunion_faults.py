"""Seeded faults of the set union: thresholds, weights, what a user keeps, the budget of the whole table."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["SET_UNION"]

DP = "methods/dp"
UNION = f"{DP}/test_set_union_composition.py"
THRESHOLD = f"{DP}/test_set_union_threshold.py"
CONTRIBUTION = f"{DP}/test_contribution.py"
TOGETHER = f"{UNION}::test_all_noise_together_keeps_epsilon_and_delta"
ALONE = f"{UNION}::test_what_one_user_alone_has_is_published_with_probability_delta_at_most"

SET_UNION = [
    fault(
        "set union: noise of half the scale",
        f"{DP}/_set_union.py",
        "sensitivity=unit, rho=rho,",
        "sensitivity=unit // 2, rho=rho,",
        TOGETHER,
    ),
    fault(
        "set union: rho of a round used twice",
        f"{DP}/_set_union.py",
        "sensitivity=unit, rho=rho,",
        "sensitivity=unit, rho=2 * rho,",
        TOGETHER,
    ),
    fault(
        "set union: a threshold one user too low",
        f"{DP}/_set_union.py",
        "looked_at[noisy >= least]",
        "looked_at[noisy >= least - unit]",
        f"{UNION}::test_an_item_is_chosen_at_the_threshold_and_not_below",
    ),
    fault(
        "set union: the threshold of one item for d",
        f"{DP}/_set_union_threshold.py",
        "(d * np.maximum(highest",
        "(np.maximum(highest",
        THRESHOLD,
    ),
    fault(
        "set union: the floor is not in the threshold",
        f"{DP}/_set_union_threshold.py",
        "return high + floor",
        "return high",
        f"{THRESHOLD}::test_what_one_user_adds_is_published_with_probability_delta_at_most",
    ),
    fault(
        "set union: the tail of continuous noise, one too thin",
        f"{DP}/_set_union_threshold.py",
        "dtype=np.float64) - 1.0) / scale",
        "dtype=np.float64) + 1.0) / scale",
        f"{THRESHOLD}::test_the_bound_of_the_tail_holds",
    ),
    fault(
        "set union: delta for each round in full",
        f"{DP}/_set_union_table.py",
        "budget.reserved_delta * plan.share * delta[i]",
        "budget.reserved_delta * plan.share",
        f"{UNION}::test_the_account_adds_up_to_what_was_asked_for",
    ),
    fault(
        "set union: counts for sensitivity 1",
        f"{DP}/_set_union_table.py",
        "sensitivity=person * math.sqrt(plan.counted)",
        "sensitivity=person * math.sqrt(1)",
        f"{UNION}::test_noise_for_one_item_would_be_too_little",
    ),
    fault(
        "set union: counts of the whole budget",
        f"{DP}/_set_union_table.py",
        "        rho=rho,\n        random=",
        "        rho=rho / plan.count_share,\n        random=",
        TOGETHER,
    ),
    fault(
        "set union: counts with the noise of the choice",
        f"{DP}/_set_union_table.py",
        '.child("counts")',
        '.child("choice 0")',
        TOGETHER,
    ),
    fault(
        "set union: a user counts in full everywhere",
        f"{DP}/_contribution.py",
        "np.flatnonzero(t > d)",
        "np.flatnonzero(t > d + 1)",
        f"{CONTRIBUTION}::test_people_equal_the_reference_and_keep_the_sensitivity",
    ),
    fault(
        "set union: weights are rounded up",
        f"{DP}/_contribution.py",
        "part * unit // np.maximum(root, 1)",
        "part * unit // np.maximum(root, 1) + 1",
        f"{CONTRIBUTION}::test_no_user_weighs_more_than_one",
    ),
    fault(
        "set union: weights 1 whatever their number",
        f"{DP}/_contribution.py",
        "np.add.reduceat(value, start)",
        "np.maximum.reduceat(value, start)",
        f"{CONTRIBUTION}::test_weights_equal_the_reference",
    ),
    fault(
        "set union: one item more of each user",
        f"{DP}/_contribution_kernels.py",
        "for i in range(d):",
        "for i in range(d + 1):",
        f"{CONTRIBUTION}::test_the_cheapest_are_kept",
    ),
    fault(
        "set union: a tie is broken by the code of an item",
        f"{DP}/_contribution_kernels.py",
        "                return False",
        "                pass",
        f"{CONTRIBUTION}::test_a_tie_is_drawn_again",
    ),
    fault(
        "set union: people once per row",
        f"{DP}/_contribution.py",
        "new[1:] = key[1:] != key[:-1]",
        "new[1:] = True",
        f"{CONTRIBUTION}::test_pairs_are_distinct_and_missing_items_left_out",
    ),
    fault(
        "set union: phrases that one person has are no candidates",
        f"{DP}/_set_union_items.py",
        "held = runs.of_text.take(forms.item)",
        "forms = forms.take((np.bincount(forms.item) > 1)[forms.item]); held = runs.of_text.take(forms.item)",
        f"{DP}/test_set_union_items.py::test_candidates_are_each_users_own_runs",
    ),
    fault(
        "set union: clicks of queries that were not chosen",
        f"{DP}/_set_union_items.py",
        "chosen[queries] = True",
        "chosen[:-1] = True",
        f"{DP}/test_set_union_items.py::test_clicks_are_of_chosen_queries",
    ),
    fault(
        "gate: URLs of a table without a threshold of their own",
        "releases/checks.py",
        'line.delta > 0 and line.purpose.startswith("threshold of clicks")',
        "line.rho >= 0",
        "releases/test_chosen_columns.py",
    ),
]
