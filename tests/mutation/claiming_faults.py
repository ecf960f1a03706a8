"""Seeded faults of claiming, membership and intersection: lines that make an attacker look weaker, or stronger."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["CLAIMING"]

CLAIMING = [
    fault(
        "claim: what is known is claimed",
        "attacks/claim.py",
        "new = texts[~is_known[texts]]",
        "new = texts",
        "attacks/test_claim.py::test_a_claim_of_the_known_half_is_none",
    ),
    fault(
        "claim: the baseline is about people inside",
        "attacks/claim.py",
        "& ~trial.inside)",
        "& trial.inside)",
        "attacks/test_claim.py::test_a_release_that_leaks_all",
    ),
    fault(
        "attribute: a class of one has no lift",
        "attacks/attribute.py",
        "np.where(size == 1, everybody, size)",
        "size",
        "attacks/test_attribute.py::test_a_class_of_one_needs_no_guess",
    ),
    fault(
        "membership: a score is judged on those who chose it",
        "attacks/membership.py",
        "out[~chooses] = (best[~chooses]",
        "out[chooses] = (best[chooses]",
        "attacks/test_membership.py::test_a_score_is_not_judged_on_those_who_chose_it",
    ),
    fault(
        "intersection: whoever is left counts as the asker",
        "attacks/intersection.py",
        "single & (named == asker)",
        "single",
        "attacks/test_intersection.py::test_one_candidate_who_is_not_the_asker_is_no_success",
    ),
    fault(
        "clustered: texts of one person count one by one",
        "attacks/clustered.py",
        "round(min(n, effective))",
        "round(n)",
        "attacks/test_clustered.py::test_queries_that_are_right_together_count_as_one",
    ),
    fault(
        "membership: draws of the same people count as other people",
        "attacks/roc.py",
        "part = worth(pulls)",
        "part = 1.0",
        "attacks/test_roc.py::test_intervals_over_draws_are_as_wide_as_people_differ",
    ),
    fault(
        "membership: every draw is the same half",
        "evaluation/trials.py",
        "child(name).permutation",
        'child("").permutation',
        "evaluation/test_trials.py::test_every_draw_is_another_half_and_comes_out_again",
    ),
    fault(
        "membership: one draw is enough for differential privacy",
        "attacks/membership.py",
        "if release.statement.account and len(people) else 1",
        "if False else 1",
        "attacks/test_membership.py::test_a_promise_of_differential_privacy_is_tried_in_many_draws[120-20]",
    ),
    fault(
        "shape: few people are enough for differential privacy",
        "attacks/shape.py",
        "promised = PROMISED if release.statement.account else 0",
        "promised = 0",
        "attacks/test_shape_samples.py::test_a_promise_of_differential_privacy_is_tried_on_more_people",
    ),
]
