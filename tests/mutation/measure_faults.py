"""Seeded faults in what repeats the papers: which mapping is used, information loss, and figures of a stream."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["MEASURES"]

MAPPING = "evaluation/test_mapping_choice.py"
LOSS = "measures/test_information_loss.py"
DRAWS = "evaluation/test_draws.py"
DELAYS = "methods/stream/test_delays.py"

MEASURES: list[Fault] = [
    fault(
        "mapping: worker processes use the default",
        "evaluation/plans.py",
        "*knowledge, **reading)",
        "*knowledge)",
        f"{MAPPING}::test_worker_processes_use_the_same_mapping",
    ),
    fault(
        "mapping: parts of the log are read by the default",
        "evaluation/workbench.py",
        "self.resolver, **self.reading)",
        "self.resolver)",
        f"{MAPPING}::test_the_mapping_changes_the_concepts_and_is_passed_to_parts",
    ),
    fault(
        "mapping: a run with another one is taken for done",
        "evaluation/compare.py",
        "len(bench.taxonomy), stated_mapping(check_mapping(bench.mapping))]",
        "len(bench.taxonomy)]",
        f"{MAPPING}::test_another_mapping_is_another_run",
    ),
    fault(
        "information loss: the headline is at the finest cut that fits",
        "measures/information_loss.py",
        "if c <= PAPER_CLUSTERS)",
        ")",
        f"{LOSS}::test_the_headline_is_at_the_papers_number_of_clusters_or_the_nearest_that_fits",
    ),
    fault(
        "draws: the band of the curve leaves the first release out",
        "evaluation/spread.py",
        "in (run.scores, *run.draws)",
        "in run.draws",
        f"{DRAWS}::test_mean_lowest_and_highest_over_all_draws",
    ),
    fault(
        "draws: all have one seed",
        "evaluation/plans.py",
        'f"draw/{draw}"',
        '"draw"',
        f"{DRAWS}::test_each_draw_has_another_seed_and_the_measures_of_its_own_release",
    ),
    fault(
        "draws: each spends the ledger",
        "evaluation/plans.py",
        "if name not in LEAVE_TRACES}",
        "}",
        f"{DRAWS}::test_a_draw_spends_no_ledger",
    ),
    fault(
        "stream: a percentile of the delay is the lower end of its bucket",
        "methods/stream/delays.py",
        "(_PARTS + inside + 1)",
        "(_PARTS + inside)",
        f"{DELAYS}::test_a_percentile_is_never_below_the_true_one_and_at_most_a_thirty_second_above",
    ),
    fault(
        "stream: the distance per query is that per published record",
        "measures/category_emd.py",
        "moved.sum() / max(len(log), 1)",
        "moved.sum() / max(len(release.log), 1)",
        "measures/test_stream_measures.py::test_the_distance_in_edges_per_query_has_its_denominators_beside_it",
    ),
    fault(
        "streams: attackers see other categories than the release had",
        "evaluation/workbench.py",
        "made.keys(), release, release.statement.settings)",
        "made.keys(), release)",
        "cli/test_stream_categories.py::test_attacks_and_measures_see_the_categories_of_the_release",
    ),
]
