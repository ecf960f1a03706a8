"""Faults of semantic-dp: its weights, its rows, its budget, and what it says."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["SEMANTIC_DP"]

DP = "methods/dp"
METHOD = f"{DP}/semantic_dp.py"
ROWS = f"{DP}/_semantic_dp_rows.py"
PAPER = f"{DP}/_semantic_dp_paper.py"
CALIBRATION = f"{DP}/_semantic_dp_calibration.py"
LOSS = f"{DP}/_semantic_dp_loss_kernels.py"
MECHANISM = f"{DP}/_semantic_dp_mechanism.py"

COMPOSITION = f"{DP}/test_composition.py"
UNITS_ADD_UP = f"{COMPOSITION}::test_the_draws_of_every_user_add_up_to_at_most_epsilon"
ROWS_ADD_UP = f"{COMPOSITION}::test_the_rows_of_every_user_add_up_to_at_most_epsilon"
OF_ROWS = f"{DP}/test_semantic_dp_rows.py"
R_ROWS = f"{OF_ROWS}::test_every_user_has_exactly_r_rows_whatever_was_asked"
MEAN = f"{OF_ROWS}::test_rows_follow_the_mean_over_the_units"
OF_MECHANISM = f"{DP}/test_semantic_dp_mechanism.py"
WITHIN = f"{OF_MECHANISM}::test_no_pair_of_inputs_differs_by_more_than_epsilon"
AT_ANCHORS = f"{DP}/test_semantic_dp_calibration.py::test_the_worst_case_at_an_anchor_is_that_of_the_formula"

WEIGHTS = [
    fault(
        "semantic-dp: weights with all of epsilon",
        CALIBRATION,
        "return max(self._between(low, epsilon, domain), epsilon / 2)",
        "return epsilon",
        WITHIN,
    ),
    fault(
        "semantic-dp: half of epsilon is left",
        CALIBRATION,
        "return max(self._between(low, epsilon, domain), epsilon / 2)",
        "return epsilon / 2",
        WITHIN,
    ),
    fault(
        "semantic-dp: a bound that is too low by a fiftieth",
        CALIBRATION,
        "return bound * (1 + 2.0**-48) <= epsilon",
        "return bound * 0.98 <= epsilon",
        WITHIN,
    ),
    fault(
        "semantic-dp: the rate of another domain",
        CALIBRATION,
        "float(self._known[k][domain])",
        "float(self._known[k][0])",
        f"{DP}/test_semantic_dp_calibration.py::test_several_domains_are_calibrated_one_by_one",
    ),
    fault(
        "worst case: inputs of other topics are left out",
        LOSS,
        "if other != g and",
        "if other == g and",
        AT_ANCHORS,
    ),
    fault(
        "worst case: the smallest total for the largest",
        LOSS,
        "min(low, weight / found[MOST])",
        "min(low, weight / found[LEAST])",
        f"{DP}/test_semantic_dp_calibration.py::test_the_worst_case_of_an_uneven_tree_is_that_of_the_formula",
    ),
    fault("worst case: half of it", LOSS, "math.log(high / low)", "math.log(high / low) / 2", AT_ANCHORS, WITHIN),
    fault(
        "semantic-dp: draws with the weights of another epsilon",
        f"{DP}/_semantic_dp_kernels.py",
        "at = order[state[DONE]]\n        c, t = concept[at], table[at]",
        "at = order[state[DONE]]\n        c, t = concept[at], 0 * table[at]",
        f"{OF_MECHANISM}::test_mixed_inputs_draw_from_their_own_row",
    ),
]

USER_SHAPE = [
    fault(
        "rows: all of epsilon for each",
        ROWS,
        "math.nextafter(settings.epsilon / r, 0.0)",
        "float(settings.epsilon)",
        ROWS_ADD_UP,
    ),
    fault(
        "rows: shares are rounded up", ROWS, "settings.epsilon / r, 0.0", "settings.epsilon / r, math.inf", ROWS_ADD_UP
    ),
    fault(
        "rows: as many as the user has units",
        ROWS,
        'random.child("order").permutation(drawn.size)',
        "np.flatnonzero(np.tile(np.arange(r), len(people)) < np.repeat(np.maximum(units.number, 1), r))",
        R_ROWS,
    ),
    fault(
        "rows: none for a user without a unit",
        ROWS,
        'random.child("order").permutation(drawn.size)',
        "np.flatnonzero(np.repeat(units.number, r))",
        R_ROWS,
    ),
    fault(
        "rows: the root for a user without a unit",
        ROWS,
        "(mechanism.domains[0] + number)",
        "(mechanism.domains[0] + 0 * number)",
        f"{OF_ROWS}::test_every_row_is_one_label_and_nothing_else",
    ),
    fault(
        "rows: always the first unit",
        ROWS,
        "units.find(owner[chosen], number[chosen])",
        "units.find(owner[chosen], 0 * number[chosen])",
        MEAN,
    ),
    fault(
        "rows: all rows of a user from the same words",
        ROWS,
        "rows = streams.numbered(r)",
        "rows = streams.take(owner)",
        MEAN,
    ),
    fault(
        "rows: small numbers are more likely",
        ROWS,
        "bad = np.flatnonzero(out > most)",
        "bad = np.flatnonzero(out < 0)",
        f"{OF_ROWS}::test_words_beyond_the_last_full_multiple_are_drawn_again",
    ),
    fault(
        "rows: in the order in which they were drawn",
        ROWS,
        'random.child("order").permutation(drawn.size)',
        "np.arange(drawn.size)",
        f"{OF_ROWS}::test_rows_are_put_in_random_order",
    ),
    fault(
        "rows: who cannot pay has rows of their own units",
        ROWS,
        "mechanism.covers(concepts.concept) & takes_part[concepts.user]",
        "mechanism.covers(concepts.concept)",
        f"{OF_ROWS}::test_who_cannot_pay_draws_blindly_and_the_others_do_not",
    ),
    fault(
        "rows: the number of users tells who paid",
        ROWS,
        "people = np.unique(log.user)",
        "people = np.flatnonzero(takes_part)",
        f"{OF_ROWS}::test_who_cannot_pay_draws_blindly_and_the_others_do_not",
    ),
    fault(
        "rows: a domain per topic passes",
        METHOD,
        'if self.domain == "topics":',
        'if self.domain == "":',
        f"{OF_ROWS}::test_what_a_whole_log_cannot_be_promised_with_is_refused",
    ),
    fault(
        "semantic-dp: a mapping learned from the log passes",
        METHOD,
        "learned=concepts.learned",
        "learned=False",
        f"{OF_ROWS}::test_a_mapping_learned_from_the_log_does_not_pass_the_gate",
    ),
]

PAPER_SHAPE = [
    fault(
        "semantic-dp: epsilon for each query",
        PAPER,
        "settings.epsilon / np.bincount(user, minlength=users)[user]",
        "np.full(len(user), settings.epsilon)",
        UNITS_ADD_UP,
    ),
    fault(
        "semantic-dp: epsilon for each of a number of queries",
        PAPER,
        "promised(settings) / (settings.per_user_queries * settings.epsilon_times)",
        "promised(settings)",
        UNITS_ADD_UP,
    ),
    fault(
        "semantic-dp: shares are rounded up",
        PAPER,
        "np.nextafter(share, 0.0)",
        "np.nextafter(share, 9.0)",
        UNITS_ADD_UP,
        f"{DP}/test_semantic_dp.py::test_draws_of_a_user_never_add_up_to_more_than_epsilon",
    ),
    fault(
        "semantic-dp: further draws are not promised",
        f"{DP}/_semantic_dp_statement.py",
        "float(settings.epsilon) * settings.epsilon_times",
        "float(settings.epsilon)",
        f"{DP}/test_semantic_dp.py::test_times_epsilon_buys_further_draws_at_the_same_share",
    ),
    fault(
        "semantic-dp: epsilon for a query is promised for users",
        METHOD,
        "unit=settings.epsilon_for",
        'unit="user"',
        f"{DP}/test_semantic_dp.py::test_epsilon_for_a_query_is_for_each_unit_and_promises_nothing_for_users",
    ),
    fault(
        "semantic-dp: a query of more units than are left",
        f"{DP}/_contribution_kernels.py",
        "<= rest[user[i]]",
        "<= rest[user[i]] + 1",
        f"{DP}/test_semantic_dp.py::test_taking_what_fits",
    ),
]

SEMANTIC_DP: list[Fault] = [*WEIGHTS, *USER_SHAPE, *PAPER_SHAPE]
