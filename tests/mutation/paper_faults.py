"""Seeded faults of lines that repeat a paper: with these wrong, nobody is exposed, but a figure is not the paper's."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["PAPERS"]

BY_HAND = "methods/microaggregation/test_worked_by_hand.py"
ATTACKERS = "attacks/test_stream_attackers.py"

PAPERS = [
    fault(
        "papers: the simple attacker pairs two at most",
        "attacks/stream_linkage.py",
        "eager=True",
        "eager=False",
        f"{ATTACKERS}::test_the_simple_attacker_pairs_until_no_more_than_k_users_are_left",
    ),
    fault(
        "papers: the full attacker does not borrow",
        "attacks/stream_linkage.py",
        "_linked(engines(method, k",
        '_linked(engines("fixed-depth", k',
        f"{ATTACKERS}::test_the_full_attacker_is_the_anonymizer_fed_with_what_it_published",
    ),
    fault(
        "papers: a member gives all of its concepts",
        "methods/microaggregation/semantic_microaggregation.py",
        "quotas(grouping.group, bags.weight)",
        "bags.weight",
        f"{BY_HAND}::test_the_two_users_of_example_4_are_published_with_the_mediterranean",
    ),
    fault(
        "papers: every member gives as many queries",
        "methods/microaggregation/_category_release.py",
        "rank < quota[user[order]]",
        "rank < 2",
        f"{BY_HAND}::test_each_member_gives_its_share_of_its_own_queries",
    ),
    fault(
        "papers: similarity without the logarithm",
        "methods/dp/_semantic_dp_cells.py",
        "return np.log2(1 + rest)",
        "return rest",
        "methods/dp/test_equations_by_hand.py::test_equations_3_and_5",
    ),
]
