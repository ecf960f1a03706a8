"""Faults of what a verdict rests on: bounds, proofs, and who asked a text in another spelling."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["VERDICTS"]

ADVICE = "evaluation/test_advice.py"
ASKERS = "releases/test_askers.py"

VERDICTS = [
    fault(
        "bound: a k of 1 hides somebody",
        "releases/statement.py",
        "k >= 2 and",
        "k >= 1 and",
        "releases/test_statement.py::test_a_k_that_hides_nobody_bounds_nothing",
    ),
    fault(
        "bound: counts although the attack beats it",
        "attacks/result.py",
        "or self.low > self.bound",
        "",
        f"{ADVICE}::test_a_bound_that_the_attack_beats_does_not_count",
    ),
    fault(
        "proof: any delta will do",
        "evaluation/advice.py",
        "0 <= delta * people < 1",
        "0 <= delta < 1",
        f"{ADVICE}::test_a_delta_must_be_below_one_person",
    ),
    fault(
        "askers: invisible characters make another text",
        "releases/_respelled.py",
        r"\p{Cf}",
        "",
        f"{ASKERS}::test_a_text_in_another_spelling_is_still_its_askers",
    ),
    fault(
        "gate: a label excuses the query of one person",
        "releases/text_checks.py",
        "asked > 0 or text",
        "text",
        "releases/test_publish.py::test_a_label_that_few_people_asked_is_refused",
    ),
    fault(
        "limits: the rate counts, not the upper end",
        "attacks/result.py",
        "return self.lift_high",
        "return self.lift",
        f"{ADVICE}::test_the_upper_end_counts_not_the_rate",
    ),
    fault(
        "advice: own texts are left out",
        "evaluation/advice.py",
        "*_attacks(run, limits), *_texts(run, limits)]",
        "*_attacks(run, limits)]",
        f"{ADVICE}::test_own_texts_and_identifiers",
    ),
    fault(
        "advice: what could not be tested was passed",
        "evaluation/advice.py",
        "if name not in NEED_OTHER_RELEASES:",
        "if False:",
        f"{ADVICE}::test_an_attack_that_could_not_be_run_was_not_passed",
    ),
    fault(
        "advice: as good as blind is useful",
        "evaluation/utility.py",
        "self.low > self.blind_high",
        "self.low >= self.blind_high",
        f"{ADVICE}::test_a_release_that_is_no_better_than_blind_is_not",
    ),
    fault(
        "check: a seed does no harm",
        "evaluation/check.py",
        "if broken or seeded or grave",
        "if broken or grave",
        "evaluation/test_verdicts.py::test_a_release_made_with_a_seed_is_never_released",
    ),
    fault(
        "trials: people held out are left in",
        "evaluation/trials.py",
        "self._order[round(HELD_OUT_SHARE * len(self._order)) :]",
        "self._order",
        "evaluation/test_trials.py::test_people_held_out_are_not_in_it",
    ),
    fault(
        "trials: a ledger is spent",
        "evaluation/trials.py",
        "if k not in LEAVE_TRACES}",
        "if True}",
        "evaluation/test_trials.py::test_a_ledger_is_neither_read_nor_spent",
    ),
    fault(
        "membership: worse than guessing looks safer than it is",
        "attacks/membership.py",
        "up = max(0.5 - middle, 0.0)",
        "up = 0.0",
        "attacks/test_membership.py::test_worse_than_guessing_counts_as_guessing",
    ),
    fault(
        "limits: above a limit of 0 is not far above",
        "evaluation/limits.py",
        "return math.inf if limit == 0 and result.judged > 0 else 0.0",
        "return 0.0",
        "evaluation/test_limits.py",
    ),
    fault(
        "halves: a random half is called the earlier",
        "attacks/halves.py",
        "'a random' if self.known.time is None else 'the earlier'",
        "'the earlier'",
        "attacks/test_halves.py",
    ),
    fault(
        "Kolmogorov-Smirnov: as far apart is not counted",
        "measures/against_bound.py",
        "if abs(there) < apart:",
        "if abs(there) <= apart:",
        "measures/test_stream_measures.py",
    ),
    fault(
        "classes: of equal logs another than the first is shown",
        "releases/classes.py",
        "number[np.argsort(first_user)] = np.arange(len(first_user))",
        "number[np.argsort(-first_user)] = np.arange(len(first_user))",
        "attacks/test_similarity.py",
    ),
]
