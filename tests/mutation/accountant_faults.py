"""Faults of the accountant: what is taken, added up, turned into something else, drawn, and kept in the ledger."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["ACCOUNTANT"]

BUDGET = "releases/budget.py"
COMPOSITION = "releases/composition.py"
LEDGER = "releases/ledger.py"
CHAIN = "releases/ledger_chain.py"
NOISE = "methods/dp/_noise.py"
TAKES = "releases/test_budget.py"
WHATEVER = f"{TAKES}::test_whatever_is_taken_the_total_is_at_most_what_was_asked"
SUMS = "releases/test_budget_composition.py"
BEST = f"{SUMS}::test_the_total_is_the_best_of_all_valid_sums"
TURNED = f"{SUMS}::test_a_rho_is_turned_into_epsilon_on_the_safe_side"
SPENDS = "releases/test_ledger.py"
NOTICED = "releases/test_ledger_chain.py"
GAUSSIAN = "methods/dp/test_noise.py::test_gaussian_noise_has_the_exact_probabilities[1.0-0.5-3]"
GATE = "releases/test_publish.py::TestDifferentialPrivacy"
CHARGED = "methods/dp/test_spending.py"

TAKING = [
    fault(
        "budget: what was taken before is forgotten",
        BUDGET,
        "compose((*self.lines, line), self.delta)",
        "compose((line,), self.delta)",
        WHATEVER,
    ),
    fault(
        "budget: the reserved delta buys rho too",
        BUDGET,
        "rounded_down(Fraction(self.delta) - Fraction(self.reserved_delta))",
        "self.delta",
        f"{TAKES}::test_the_reserved_delta_is_not_in_rho",
    ),
    fault(
        "budget: the rest of rho forgets the epsilon taken",
        BUDGET,
        "left = Fraction(self.epsilon) - epsilon, ",
        "left = Fraction(self.epsilon), ",
        f"{TAKES}::test_the_rest_is_rho_next_to_what_was_added",
    ),
    fault(
        "budget: any relation will do",
        BUDGET,
        "if relation not in {None, self.relation}:",
        "if relation == '':",
        f"{TAKES}::test_a_share_of_another_relation_is_refused",
    ),
    fault(
        "budget: taken after the ledger was charged",
        BUDGET,
        "if self.closed:",
        "if self.closed is None:",
        f"{TAKES}::test_nothing_is_taken_from_a_closed_budget",
    ),
    fault(
        "gate: the ledger was never charged",
        "releases/checks.py",
        " and not budget.closed:",
        " and budget.closed:",
        GATE,
    ),
    fault(
        "gate: the account of the method's choice",
        "releases/publish.py",
        "statement = replace(statement, account=account)",
        "statement = replace(statement, account=statement.account)",
        GATE,
    ),
]

ADDING = [
    fault("composition: more delta than was asked for", COMPOSITION, "if left < 0:", "if left < -1:", BEST),
    fault("composition: delta is forgotten", COMPOSITION, "delta += Fraction(line.delta)", "delta += 0", BEST),
    fault(
        "composition: the largest rho counts",
        COMPOSITION,
        "rho += Fraction(line.rho)",
        "rho = max(rho, Fraction(line.rho))",
        BEST,
    ),
    fault(
        "composition: rho of pure is epsilon squared",
        COMPOSITION,
        "epsilon * epsilon / 2",
        "epsilon * epsilon / 4",
        BEST,
    ),
    fault(
        "composition: a pure epsilon goes by way of rho",
        COMPOSITION,
        "    yield added, turned\n    for",
        "    for",
        f"{SUMS}::test_a_pure_epsilon_stays_what_it_is",
    ),
    fault(
        "composition: the delta of thresholds is used twice",
        COMPOSITION,
        "(found := _epsilon(turned, left))",
        "(found := _epsilon(turned, Fraction(delta)))",
        BEST,
    ),
    fault(
        "composition: epsilon with a delta is turned into rho",
        COMPOSITION,
        "        if line.delta:\n",
        "        if line.delta > 1:\n",
        f"{SUMS}::test_many_small_ones_are_cheaper_by_way_of_rho",
    ),
    fault(
        "composition: half of the sensitivity",
        COMPOSITION,
        "converted.map(sensitivity)",
        "converted.map(sensitivity / 2)",
        TURNED,
    ),
    fault(
        "composition: rho on the unsafe side",
        COMPOSITION,
        "while gaussian.map(sensitivity) < rho:",
        "while False:",
        f"{SUMS}::test_no_rho_is_turned_by_less_than_itself",
    ),
    fault(
        "composition: rounding down for up",
        COMPOSITION,
        "Fraction(near) >= exact else",
        "Fraction(near) <= exact else",
        f"{SUMS}::test_rounding_goes_the_way_it_says",
    ),
    fault(
        "composition: the search ends above",
        COMPOSITION,
        "            low = middle\n",
        "            low = middle * 1.001\n",
        f"{SUMS}::test_the_largest_rho_is_within_epsilon_and_near_it",
    ),
]

DRAWING = [
    fault(
        "noise: Gaussian of half the scale",
        NOISE,
        "return sensitivity / math.sqrt(2 * rho)",
        "return sensitivity / 2 / math.sqrt(2 * rho)",
        GAUSSIAN,
    ),
    fault(
        "noise: Gaussian of half the scale where it is drawn",
        NOISE,
        "np.exp(-off * off / 2)",
        "np.exp(-off * off)",
        GAUSSIAN,
    ),
    fault(
        "noise: the library is not asked",
        NOISE,
        "if not mechanism.map(sensitivity) <= most:",
        "if most < 0:",
        "methods/dp/test_noise.py::test_a_scale_that_the_library_does_not_confirm_is_refused",
    ),
    fault(
        "noise: scales too wide pass",
        NOISE,
        "if not (rho > 0 and sensitivity < _WIDEST * math.sqrt(2 * rho)):",
        "if not rho > 0:",
        "methods/dp/test_noise.py::test_noise_too_wide_for_64_bits_is_refused",
    ),
]

KEEPING = [
    fault(
        "ledger: what was spent is forgotten",
        LEDGER,
        "fits((*each, *account), state.epsilon",
        "fits(tuple(account), state.epsilon",
        f"{SPENDS}::test_spends_and_then_leaves_out",
    ),
    fault(
        "ledger: who cannot pay takes part",
        LEDGER,
        "takes_part = can_pay[which] if",
        "takes_part = can_pay[which] | True if",
        f"{SPENDS}::test_spends_and_then_leaves_out",
    ),
    fault(
        "ledger: who takes part is not charged",
        LEDGER,
        "np.sort(people[takes_part])",
        "np.sort(people[takes_part][:0])",
        f"{SPENDS}::test_spends_and_then_leaves_out",
    ),
    fault(
        "ledger: everybody's budget ends with the first",
        LEDGER,
        "takes_part = can_pay[which] if",
        "takes_part = can_pay[which] & can_pay.all() if",
        f"{SPENDS}::test_spends_and_then_leaves_out",
    ),
    fault(
        "ledger: a failure keeps half",
        "releases/_ledger_file.py",
        '"ROLLBACK"',
        '"COMMIT"',
        f"{SPENDS}::test_a_failure_between_two_writes_keeps_neither",
    ),
    fault(
        "ledger: people without the key",
        LEDGER,
        "blake2b(n.encode(), key=self._key,",
        "blake2b(n.encode(),",
        f"{SPENDS}::test_two_ledgers_know_a_person_by_different_names",
    ),
    fault(
        "ledger: ids are not normalised",
        LEDGER,
        "normal_person(user, fold_case=state.fold_case) for",
        "user for",
        f"{SPENDS}::test_spellings_of_an_id_are_one_person",
    ),
    fault(
        "ledger: case is never folded",
        "releases/people.py",
        "normal.casefold() if fold_case else normal",
        "normal",
        "releases/test_people.py",
    ),
    fault(
        "ledger: format characters make a person",
        "releases/people.py",
        '{"Cc", "Cf"}',
        '{"Cc"}',
        "releases/test_people.py",
    ),
    fault(
        "ledger: one person is two users",
        LEDGER,
        "        if twice:",
        "        if twice < 0:",
        f"{SPENDS}::test_two_users_who_are_one_person_are_refused",
    ),
    fault(
        "ledger: any log may spend",
        LEDGER,
        "if state.log != log.strip():",
        "if not log:",
        f"{SPENDS}::test_the_ledger_of_another_log_is_refused_untouched",
    ),
    fault(
        "ledger: a price above the budget is charged",
        LEDGER,
        "            _check_price(state, account)\n",
        "",
        f"{SPENDS}::test_a_release_above_the_whole_budget_is_refused_and_costs_nothing",
    ),
    fault(
        "chain: rows are not checked",
        CHAIN,
        "if row.head != head_of_row(row, before):",
        "if not row.head:",
        f"{NOTICED}::test_a_changed_number",
    ),
    fault(
        "chain: a row does not cover the row before",
        CHAIN,
        '"before": before.hex()',
        '"before": ""',
        f"{NOTICED}::test_the_hash_covers_every_number_and_the_row_before",
    ),
    fault(
        "chain: a missing row is passed over",
        CHAIN,
        "if row.number != expected:",
        "if row.number < expected:",
        f"{NOTICED}::test_a_deleted_row",
    ),
    fault(
        "chain: the end may be cut off",
        CHAIN,
        "if len(state.rows) < state.length:",
        "if state.length < 0:",
        f"{NOTICED}::test_the_last_rows_deleted",
    ),
    fault(
        "chain: the budget may be changed",
        CHAIN,
        "if start != state.start:",
        "if not start:",
        f"{NOTICED}::test_a_changed_budget",
    ),
    fault(
        "chain: the head given is not looked for",
        CHAIN,
        "if head not in heads:",
        "if not heads:",
        f"{NOTICED}::test_an_older_copy_is_noticed_by_a_head_kept_elsewhere",
    ),
    fault(
        "chain: overspending is not recounted",
        CHAIN,
        "if not all(fits(",
        "if not any(fits(",
        f"{NOTICED}::test_overspending_by_another_program_is_noticed",
    ),
    fault(
        "spending: who cannot pay is counted all the same",
        "methods/dp/frequent_queries.py",
        "return log if rows.all() else log.take(rows)",
        "return log",
        CHARGED,
    ),
    fault(
        "spending: histograms of who cannot pay",
        "methods/dp/histogram_dp.py",
        "taken &= takes_part[concepts.user]",
        "taken &= True",
        CHARGED,
    ),
    fault(
        "spending: only some of the account is charged",
        "methods/dp/_spending.py",
        "budget.lines, method",
        "budget.lines[:1], method",
        CHARGED,
    ),
    fault(
        "verify: any account is enough",
        "releases/verify_promises.py",
        "holds = epsilon <= promised[0] and",
        "holds =",
        "releases/test_verify_promises.py::test_the_account_is_added_up_again",
    ),
]

ACCOUNTANT: list[Fault] = [*TAKING, *ADDING, *DRAWING, *KEEPING]
