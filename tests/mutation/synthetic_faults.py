"""Seeded faults of `synthetic-dp`: what one user adds, noise, the account, ids, and what is drawn."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["SYNTHETIC"]

DP = "methods/dp"
STATISTICS = f"{DP}/test_synthetic_statistics.py"
WHOLE = f"{DP}/test_synthetic_dp.py"
DRAW = f"{DP}/test_synthetic_draw.py"
ADDS = f"{STATISTICS}::test_one_user_more_adds_what_this_user_alone_would_and_no_more"
REFERENCE = f"{STATISTICS}::test_what_is_added_up_equals_the_reference"
TOGETHER = f"{WHOLE}::test_all_noise_together_keeps_epsilon_and_delta"
GATE = f"{WHOLE}::test_the_gate_refuses_times_that_no_budget_paid_for"
PHRASES = f"{WHOLE}::test_a_phrase_that_reads_like_a_chosen_query_does_not_fill_in_for_it"

SYNTHETIC = [
    fault(
        "synthetic: a heavy user is not clipped",
        f"{DP}/_synthetic_sums.py",
        "squares > most * most",
        "squares > 2 * most * most",
        f"{STATISTICS}::test_a_heavy_user_is_clipped_to_what_is_said_and_not_below",
    ),
    fault(
        "synthetic: the root is rounded down, and a user is a little too long",
        f"{DP}/_synthetic_sums.py",
        "root += root * root < squares",
        "root += 0",
        ADDS,
        REFERENCE,
    ),
    fault(
        "synthetic: noise for a length of 1",
        f"{DP}/_synthetic_sums.py",
        "noisy = add_gaussian(sums, sensitivity=float(unit * most)",
        "noisy = add_gaussian(sums, sensitivity=float(unit)",
        ADDS,
        f"{STATISTICS}::test_the_account_holds_all_and_every_share_is_used_once",
    ),
    fault(
        "synthetic: noise of half the deviation",
        f"{DP}/_synthetic_sums.py",
        "rho=rho, random=random)",
        "rho=4 * rho, random=random)",
        f"{STATISTICS}::test_noise_is_as_wide_as_its_share_asks",
    ),
    fault(
        "synthetic: users share a vector",
        f"{DP}/_synthetic_sums.py",
        "begin = np.flatnonzero(np.diff(owner, prepend=-1))",
        "begin = np.flatnonzero(np.diff(owner // 2, prepend=-1))",
        ADDS,
    ),
    fault(
        "synthetic: profiles are clipped, and not of length 1",
        f"{DP}/_synthetic_clusters.py",
        "user, cell, clusters * fields, most=1,",
        "user // 2, cell, clusters * fields, most=1,",
        ADDS,
    ),
    fault(
        "synthetic: the second user of a pair of neighbours continues a session",
        f"{DP}/_synthetic_events.py",
        "first = new_user.copy()",
        "first = new_user & False",
        ADDS,
        REFERENCE,
    ),
    fault(
        "synthetic: what somebody else asked is asked again",
        f"{DP}/_synthetic_events.py",
        "same[1:] = (user[order][1:] == user[order][:-1]) & (",
        "same[1:] = (",
        ADDS,
        REFERENCE,
    ),
    fault(
        "synthetic: who does not take part is counted",
        f"{DP}/_synthetic_events.py",
        "row = np.flatnonzero(log.event & takes_part[log.user])",
        "row = np.flatnonzero(log.event)",
        f"{STATISTICS}::test_whoever_does_not_take_part_is_not_there",
    ),
    fault(
        "synthetic: click rows are events",
        f"{DP}/_synthetic_events.py",
        "row = np.flatnonzero(log.event & takes_part[log.user])",
        "row = np.flatnonzero(takes_part[log.user])",
        f"{STATISTICS}::test_rows_of_another_user_in_the_same_second_split_no_event",
    ),
    fault(
        "synthetic: each round of clusters takes the share of all",
        f"{DP}/_synthetic_statistics.py",
        "fraction=CENTRES / ROUNDS)",
        "fraction=CENTRES)",
        f"{STATISTICS}::test_the_account_holds_all_and_every_share_is_used_once",
    ),
    fault(
        "synthetic: a phrase fills in for a query",
        f"{DP}/_synthetic_texts.py",
        "free = ~phrase.text.is_in(compared(chosen.text).implode()).to_numpy()",
        "free = ~phrase.text.is_in(compared(chosen.text[:0]).implode()).to_numpy()",
        PHRASES,
    ),
    fault(
        "synthetic: a chosen query is represented by a phrase, too",
        f"{DP}/_synthetic_texts.py",
        "rest = asked & ~is_chosen[log.query]",
        "rest = asked",
        PHRASES,
    ),
    fault(
        "synthetic: ids have the form of the log's",
        f"{DP}/synthetic_dp.py",
        'random.child("ids").identifiers(drawn.users)',
        'random.child("ids").identifiers(drawn.users, digits=True)',
        f"{WHOLE}::test_no_form_of_ids_tells_that_of_the_log",
    ),
    fault(
        "synthetic: an event repeats another user's",
        f"{DP}/_synthetic_kernels.py",
        "c, n = cluster[u], 0",
        "c, n = cluster[u], 0 if u == 0 else 1",
        f"{DRAW}::test_chains_as_the_reference",
    ),
    fault(
        "synthetic: a session runs on after the last day",
        f"{DP}/_synthetic_draw.py",
        "+ elapsed, calendar.end - 1)",
        "+ elapsed, calendar.end + 10**9)",
        f"{DRAW}::test_a_session_of_days_ends_with_the_last_day",
    ),
    fault(
        "synthetic: knowledge learned from the log is used",
        f"{DP}/synthetic_dp.py",
        "learned=concepts.learned",
        "learned=False",
        f"{WHOLE}::test_knowledge_learned_from_the_log_is_refused",
    ),
    fault(
        "askers: anything in braces was drawn",
        "releases/askers.py",
        "is_drawn = drawn.is_in(labels.implode()) |",
        "is_drawn = drawn.is_not_null() |",
        f"{WHOLE}::test_labels_that_were_drawn_are_nobodys_texts_and_others_are_looked_up",
    ),
    fault(
        "gate: invented ids without differential privacy",
        "releases/checks.py",
        'if statement.unit != "user" or not statement.parameters.get("epsilon"):',
        'if statement.unit != "user":',
        f"{WHOLE}::test_invented_ids_without_a_budget_are_refused",
    ),
    fault(
        "gate: times of other days",
        "releases/checks.py",
        "begin <= table.time.min() and table.time.max() < begin + days * 86_400",
        "table.time.max() < begin + days * 86_400 * 999",
        GATE,
    ),
    fault(
        "gate: times that no budget paid for",
        "releases/checks.py",
        'line.rho > 0 and line.purpose == "hours of the week"',
        "line.rho > 0",
        GATE,
    ),
    fault(
        "synthetic: texts in the order of the log",
        "methods/dp/_synthetic_texts.py",
        "(texts.arg_sort().to_numpy() for texts in",
        "(np.arange(len(texts)) for texts in",
        f"{WHOLE}::test_texts_are_in_an_order_that_tells_nothing",
    ),
    fault(
        "synthetic: clicks in the order of the log",
        "methods/dp/_synthetic_texts.py",
        'np.lexsort((address.rank("ordinal").to_numpy(), code))',
        'np.argsort(code, kind="stable")',
        f"{WHOLE}::test_texts_are_in_an_order_that_tells_nothing",
    ),
]
