"""Seeded faults: one wrong privacy line each, and the tests that must notice it.

A fault names a file, or a folder, of the package and a text that is there exactly once; it is as short as it can be, so
that edits of the prose next to it do not matter. Add a fault with every line on which a promise rests, and first see
that a test fails on it: `python tests/mutation/run.py NAME`.
"""

from __future__ import annotations

from mutation.accountant_faults import ACCOUNTANT
from mutation.audit_faults import AUDIT
from mutation.category_faults import CATEGORIES
from mutation.claiming_faults import CLAIMING
from mutation.class_faults import CLASSES
from mutation.column_faults import COLUMNS
from mutation.exposure_faults import EXPOSURE
from mutation.fault import Fault, fault
from mutation.gate_faults import GATE
from mutation.generalization_faults import GENERALIZATION
from mutation.identifier_faults import IDENTIFIERS
from mutation.laststep_faults import LAST_STEP
from mutation.learning_faults import LEARNING
from mutation.linking_faults import LINKING
from mutation.measure_faults import MEASURES
from mutation.output_faults import OUTPUTS
from mutation.outside_budget_faults import OUTSIDE_BUDGET
from mutation.paper_faults import PAPERS
from mutation.phrase_faults import PHRASES
from mutation.policy_faults import POLICY
from mutation.recount_faults import RECOUNTS
from mutation.report_faults import REPORTS
from mutation.reproduction_faults import REPRODUCTIONS
from mutation.semanticdp_faults import SEMANTIC_DP
from mutation.setunion_faults import SET_UNION
from mutation.shard_faults import SHARDS
from mutation.spark_dp_faults import SPARK_DP
from mutation.spark_files_faults import SPARK_FILES
from mutation.spark_groups_faults import SPARK_GROUPS
from mutation.spark_policy_faults import SPARK_POLICY
from mutation.spark_stream_faults import SPARK_STREAMS
from mutation.spark_text_faults import SPARK_TEXTS
from mutation.stream_faults import STREAMS
from mutation.stream_text_faults import STREAM_TEXTS
from mutation.studio_door_faults import STUDIO_DOORS
from mutation.studio_faults import STUDIO
from mutation.synthetic_faults import SYNTHETIC
from mutation.task_faults import TASKS
from mutation.verdict_faults import VERDICTS

__all__ = ["FAULTS"]


MICRO = "methods/microaggregation"
MDAV = f"{MICRO}/test_mdav.py::test_every_group_has_k_to_2k_minus_1_users"
REFINED = f"{MICRO}/test_groups.py::test_refined_groups_equal_the_reference_and_never_lose"
CATEGORY_GROUPS = f"{MICRO}/test_category_groups.py::test_groups_equal_algorithm_2_with_ties"
FEW = f"{MICRO}/test_microaggregation.py::test_fewer_users_than_k_are_refused_with_their_number"
CLUMP = "methods/generalization/test_clump_kernels.py"
PARTITION = "methods/generalization/test_partition_kernels.py::test_partition_like_the_reference"
COMPOSITION = "methods/dp/test_composition.py"
EVENT_FILES = "methods/dp/test_event_files.py"
ENGINE = "methods/stream/test_stream_engine.py"
RULES = f"{ENGINE}::test_the_four_rules"
EVENTS = "logs/test_query_log.py"
NEW_IDS = "releases/test_new_ids.py"
VERIFY = "releases/test_verify.py"
FILES = "releases/test_release_files.py"
SIGNING = "releases/test_signing.py"
COMMITMENT = "releases/test_commitment.py"

GROUPS = [
    fault("mdav: the rest may be fewer than k", f"{MICRO}/_mdav.py", "if len(left) >= 2 * k", "if len(left) > k", MDAV),
    fault("mdav: two groups of 2k to 3k users", f"{MICRO}/_mdav.py", "len(left) >= 3 * k", "len(left) >= 2 * k", MDAV),
    fault("mdav: a group of k - 1", f"{MICRO}/_mdav.py", "[: k - 1]]", "[: k - 2]]", MDAV),
    fault("groups: k - 1 users are enough", f"{MICRO}/_grouping.py", "if n < k:", "if n < k - 1:", FEW),
    fault(
        "blocks: smaller than 2k",
        f"{MICRO}/_group_settings.py",
        ">= 2 * self.k)",
        ">= self.k)",
        f"{MICRO}/test_groups.py::test_senseless_blocks_are_refused",
    ),
    fault(
        "blocks: half as large as asked",
        f"{MICRO}/_blocks.py",
        "round(n / users)",
        "round(2 * n / users)",
        f"{MICRO}/test_groups.py::test_groups_in_blocks_keep_their_sizes",
    ),
    fault(
        "refine: moves a user out of a group of k",
        f"{MICRO}/_refine_kernels.py",
        "size[g] > k",
        "size[g] >= k",
        REFINED,
    ),
    fault(
        "categories: the rest may be fewer than k",
        f"{MICRO}/_category_groups.py",
        "while left > 2 * k - 1",
        "while left > k",
        CATEGORY_GROUPS,
    ),
    fault(
        "categories: a group grows to k - 1",
        f"{MICRO}/_category_groups.py",
        "while len(members) < k:",
        "while len(members) < k - 1:",
        CATEGORY_GROUPS,
    ),
    fault(
        "groups: rows in the order of the members",
        f"{MICRO}/_group_release.py",
        'np.argsort(_rank(bags.queries, bags.bag_query), kind="stable")',
        "np.arange(len(bags.bag_query))",
        f"{MICRO}/test_microaggregation.py::test_rows_of_a_user_are_ordered_by_their_text",
    ),
    fault(
        "clump: a cluster is full with k - 1",
        "methods/generalization/_clump_kernels.py",
        "clusters.size[best] == k",
        "clusters.size[best] == k - 1",
        f"{CLUMP}::test_clump_like_the_reference",
    ),
    fault(
        "clump: the rest is a cluster",
        "methods/generalization/_clump_kernels.py",
        "count = n // k",
        "count = (n + k - 1) // k",
        f"{CLUMP}::test_clump_like_the_reference",
    ),
    fault(
        "clump: refining goes below k",
        "methods/generalization/_clump_kernels.py",
        "< min(k, len(in_a), len(in_b))",
        "< min(k - 1, len(in_a), len(in_b))",
        f"{CLUMP}::test_refine_like_the_reference",
    ),
    fault(
        "partition: parts of k - 1",
        "methods/generalization/_partition_kernels.py",
        "groups.size[g] < k:",
        "groups.size[g] < k - 1:",
        PARTITION,
    ),
    fault(
        "partition: k - 1 are merged back",
        "methods/generalization/_partition_kernels.py",
        "missing = k - back if back else 0",
        "missing = k - 1 - back if back else 0",
        PARTITION,
    ),
    fault(
        "partition: a group of k hands somebody over",
        "methods/generalization/_partition_kernels.py",
        "groups.size[g] < k + (not whole)",
        "groups.size[g] < k",
        "methods/generalization/test_partition.py::test_a_group_of_k_hands_nobody_over",
    ),
    fault(
        "partition: who is moved stays in the group",
        "methods/generalization/_partition_kernels.py",
        "groups.of[who] = -1",
        "groups.of[who] = g",
        PARTITION,
    ),
    fault(
        "generalizing: k - 1 users are enough",
        "methods/generalization/_generalized_release.py",
        "if users < k:",
        "if users < k - 1:",
        "methods/generalization/test_partition.py::test_refused",
        "methods/generalization/test_clump.py",
    ),
]

TEXTS = [
    fault(
        "people are counted once per row",
        "logs/query_log.py",
        'pl.col("user").n_unique()',
        'pl.col("user").len()',
        f"{EVENTS}::test_users_per_query",
    ),
]

DP = [
    fault(
        "frequent-queries: all of epsilon for the choice",
        "methods/dp/frequent_queries.py",
        "choose_queries(counts, d, to_choose, random)",
        "choose_queries(counts, d, Budget(settings.epsilon, settings.delta).take('', delta=settings.delta), random)",
        f"{COMPOSITION}::test_a_table_spends_its_budget_once",
    ),
    fault(
        "frequent-queries: all of epsilon for the counts",
        "methods/dp/frequent_queries.py",
        "count_queries(counts, chosen, d, to_count, random)",
        "count_queries(counts, chosen, d, Budget(settings.epsilon).take(''), random)",
        f"{COMPOSITION}::test_choice_and_counts_have_the_noise_of_the_proof",
    ),
    fault(
        "frequent-queries: a threshold one too low",
        "methods/dp/_korolova.py",
        "noisy >= least]",
        "noisy >= least - 1]",
        f"{COMPOSITION}::test_a_query_is_chosen_at_the_threshold_and_not_below",
    ),
    fault(
        "frequent-queries: delta for one query only",
        "methods/dp/_korolova.py",
        "math.log(d / delta)",
        "math.log(1 / delta)",
        "methods/dp/test_frequent_queries.py::test_threshold_keeps_delta_and_is_never_below_the_published_one",
    ),
    fault(
        "frequent-queries: one query more of each user",
        "methods/dp/_korolova.py",
        "np.full(len(log.users), d,",
        "np.full(len(log.users), d + 1,",
        f"{COMPOSITION}::test_no_user_moves_the_counts_by_more_than_the_noise_is_made_for",
    ),
    fault(
        "frequent-queries: counts with the noise of the choice",
        "methods/dp/_korolova.py",
        'random.child("counts")',
        'random.child("choice")',
        f"{COMPOSITION}::test_a_table_spends_its_budget_once",
    ),
    fault(
        "frequent-queries: exact counts in the statement",
        "methods/dp/frequent_queries.py",
        "counts_in={},",
        "counts_in={**counts_out},",
        "contract/test_methods.py::test_the_statement_counts_what_is_there",
    ),
    fault(
        "histogram-dp: half of the sensitivity",
        "methods/dp/histogram_dp.py",
        '(2 if self.sensitivity == "replace" else 1)',
        "1",
        f"{COMPOSITION}::test_replacing_a_users_queries_stays_within_the_sensitivity",
    ),
    fault(
        "histogram-dp: one query more of each user",
        "methods/dp/histogram_dp.py",
        "np.full(len(log.users), settings.per_user_queries,",
        "np.full(len(log.users), settings.per_user_queries + 1,",
        f"{COMPOSITION}::test_replacing_a_users_queries_stays_within_the_sensitivity",
    ),
    fault(
        "noise of half the scale",
        "methods/dp/_noise.py",
        "return sensitivity / epsilon *",
        "return sensitivity / epsilon / 2 *",
        f"{COMPOSITION}::test_choice_and_counts_have_the_noise_of_the_proof",
    ),
    fault(
        "noise: half the scale where it is drawn",
        "methods/dp/_noise.py",
        "-np.expm1(-1.0 / scale)",
        "-np.expm1(-2.0 / scale)",
        "methods/dp/test_frequent_queries.py::test_noise_has_its_distribution",
    ),
]

PEOPLE = [
    fault(
        "events are joined across users",
        "logs/query_log.py",
        "(user[1:] == user[:-1]) & (query[1:] == query[:-1])",
        "query[1:] == query[:-1]",
        EVENTS,
    ),
    fault(
        "events are split by others' rows",
        "logs/query_log.py",
        'order = np.argsort(self.user, kind="stable")',
        "order = np.arange(n)",
        f"{EVENT_FILES}::test_a_user_in_between_moves_nothing_by_more_than_the_noise_is_made_for",
    ),
    fault("ids: an id of the log is drawn", "randomness.py", "if text not in avoid:", "if text:", "test_randomness.py"),
    fault(
        "ids: ids of the log are not avoided",
        "releases",
        "avoid=frozenset(originals)",
        "avoid=frozenset()",
        f"{NEW_IDS}::test_an_id_of_the_log_is_never_drawn",
    ),
    fault(
        "ids: a stream does not avoid ids of the log",
        "methods/stream/stream_release.py",
        "avoid=frozenset(originals)",
        "avoid=frozenset()",
        f"{NEW_IDS}::test_an_id_of_the_log_is_never_drawn_for_a_stream",
    ),
    fault(
        "ids: in the order of the log",
        "releases",
        'np.argsort(new_ids.astype(str), kind="stable") if len(new_ids)',
        "np.arange(len(new_ids)) if len(new_ids)",
        f"{NEW_IDS}::test_rows_are_ordered_by_new_id",
    ),
    fault(
        "ids: the truth is about others", "releases", "Truth(user=present[by_id]", "Truth(user=present", f"{NEW_IDS}"
    ),
    fault(
        "table: words of dropped queries go along",
        "releases",
        "return new, words.gather(kept), kept",
        "return codes.astype(np.int32), words, kept",
        f"{NEW_IDS}::test_only_published_words_go_along",
    ),
    fault(
        "table: words in the order of the log",
        "releases",
        'by_first = np.argsort(first, kind="stable")',
        "by_first = np.arange(len(first))",
        f"{NEW_IDS}::test_words_come_in_the_order_of_the_published_rows",
    ),
    fault(
        "truth: others may read it",
        "releases/truth_file.py",
        "writing(path, mode=PRIVATE)",
        "writing(path)",
        f"{FILES}::TestTruth",
    ),
]

STREAM = [
    fault(
        "stream: the asker is drawn",
        "methods/stream/_engine_kernels.py",
        "own >= 0 and slot >= entries[own, SLOT]",
        "own < 0 and slot >= entries[own, SLOT]",
        RULES,
    ),
    fault("stream: k - 1 others in a node", "methods/stream/_engine_kernels.py", "] > k:", "] >= k:", RULES),
    fault("stream: k - 1 others in a branch", "methods/stream/_engine_kernels.py", "] <= k:", "] < k:", RULES),
    fault(
        "stream: users are counted by their records",
        "methods/stream/_engine_kernels.py",
        "e = _find(m, where, user)",
        "e = -1",
        f"{ENGINE}::test_who_waits_is_the_same_as_in_the_reference_where_nothing_is_drawn",
        RULES,
    ),
    fault(
        "stream: the first user instead of any",
        "methods/stream/_engine_kernels.py",
        "slot = _draw(m, candidates)",
        "slot = 0",
        f"{ENGINE}::test_a_draw_reaches_every_candidate",
    ),
    fault(
        "stream: the hold lets go one early",
        "methods/stream/_engine_kernels.py",
        "> counts[HOLD]",
        ">= counts[HOLD]",
        f"{ENGINE}::test_what_is_held_leaves_from_its_own_category_or_not_before_the_hold_is_full",
    ),
]

CHECKS = [
    fault("verify: groups of k - 1 hold", "releases/verify.py", "(size < k)", "(size < k - 1)", VERIFY),
    fault(
        "verify: ids of the log are not looked for",
        "releases/verify.py",
        "check, left == 0,",
        "check, left >= 0,",
        VERIFY,
    ),
    fault("verify: any order of rows holds", "releases/verify.py", "bool(ids.is_sorted())", "bool(len(ids))", VERIFY),
    fault(
        "verify: the digest of the table is not compared",
        "releases/files.py",
        "digest_of_table(table_path) == file.release_sha256",
        'digest_of_table(table_path) != ""',
        f"{FILES}::TestRefused",
    ),
    fault(
        "verify: the digest of the statement is not compared",
        "releases/statement_file.py",
        "if file.digest != file.own_digest() or",
        "if not file.digest or",
        f"{FILES}::TestRefused",
    ),
    fault(
        "statement: a sentence that nobody reads is not noticed",
        "releases/statement_file.py",
        " or msgspec.json.decode(msgspec.json.encode(file.plain())) != decoded",
        "",
        f"{SIGNING}::TestVerify",
    ),
    fault(
        "signature: the statement is not in it",
        "releases/statement_file.py",
        'self.signature = key.sign(self._canonical(without=("signature",)))',
        'self.signature = key.sign(self._canonical(without=("signature", "statement", "digest")))',
        f"{SIGNING}::TestVerify",
    ),
    fault(
        "signature: whoever writes our fingerprint has signed",
        "releases/signing.py",
        "except (ValueError, InvalidSignature):\n            return False",
        "except (ValueError, InvalidSignature):\n            return signature.key == self.fingerprint",
        f"{SIGNING}::TestVerify",
    ),
    fault(
        "verify: an unsigned statement passes under a key",
        "releases/verify.py",
        'Finding(SIGNED, False, "the statement is unsigned")',
        'Finding(SIGNED, None, "the statement is unsigned")',
        f"{SIGNING}::TestVerify",
    ),
    fault(
        "verify: the bytes of a signed statement may differ",
        "releases/verify.py",
        " or content != file.encode()",
        "",
        f"{SIGNING}::test_spaces_of_the_statement_are_part_of_what_is_signed",
    ),
    fault(
        "commitment: without the salt",
        "releases/commitment.py",
        "sha256(opening.salt + content_digest(log) + opening.truth)",
        "sha256(content_digest(log) + opening.truth)",
        COMMITMENT,
    ),
    fault(
        "commitment: who is who may be exchanged",
        "releases/commitment.py",
        "content_digest(log) + opening.truth)",
        "content_digest(log))",
        COMMITMENT,
    ),
    fault(
        "commitment: one salt for all runs",
        "releases/commitment.py",
        "return secrets.token_bytes(SALT_BYTES)",
        "return bytes(SALT_BYTES)",
        COMMITMENT,
    ),
    fault(
        "groups: two releases are said to add up",
        f"{MICRO}/_group_release.py",
        "        TWO_RELEASES,\n",
        "",
        "contract/test_methods.py::test_a_method_that_promises_a_k_says_that_two_releases_do_not_add_up",
    ),
    fault(
        "command: the seed is stated",
        "cli/command_line.py",
        'frozenset({"--seed"})',
        "frozenset()",
        "cli/test_signatures.py::test_the_command_is_stated_without_directories_and_without_the_seed",
    ),
    fault(
        "classes: categories are not compared",
        "releases/classes.py",
        "(published.category.astype(np.int64) + 1)",
        "(0 * published.category.astype(np.int64))",
        f"{VERIFY}::test_items_are_compared_with_their_categories",
    ),
    fault(
        "classes: every user counts twice",
        "releases/classes.py",
        "return np.bincount(of)",
        "return 2 * np.bincount(of)",
        VERIFY,
    ),
]

INPUT = [
    fault(
        "ids: forms of one letter are several people", "logs/user_ids.py", '"NFKC"', '"NFC"', "logs/test_user_ids.py"
    ),
    fault(
        "ids: invisible characters make people",
        "logs/user_ids.py",
        '_INVISIBLE.sub("", text)',
        "text",
        "logs/test_user_ids.py",
    ),
    fault(
        "columns: users taken for queries pass",
        "logs/sanity.py",
        "share(is_id) > MOST_IDS_OF_USERS",
        "share(is_id) > 1",
        "logs/test_sanity.py::test_an_odd_column_stops_with_a_sentence_of_numbers",
    ),
    fault(
        "columns: a user for every row passes",
        "logs/sanity.py",
        "users > MOST_USERS_PER_ROW * n",
        "users > n",
        "logs/test_sanity.py::test_an_odd_column_stops_with_a_sentence_of_numbers",
    ),
    fault(
        "verify: users' names in texts are not looked for",
        "releases/verify.py",
        'names a user of the log", count == 0',
        'names a user of the log", count >= 0',
        "releases/test_ids_in_texts.py",
    ),
    fault(
        "checkpoint: one that others can write is read",
        "live/state.py",
        " or about.st_mode & 0o022",
        "",
        "live/test_state.py::test_a_state_that_others_can_write_is_not_read",
    ),
]

FAULTS: list[Fault] = [
    *GROUPS,
    *TEXTS,
    *DP,
    *SET_UNION,
    *SPARK_DP,
    *SYNTHETIC,
    *PEOPLE,
    *ACCOUNTANT,
    *STREAM,
    *CHECKS,
    *INPUT,
    *GATE,
    *CLASSES,
    *GENERALIZATION,
    *TASKS,
    *RECOUNTS,
    *VERDICTS,
    *REPORTS,
    *SHARDS,
    *STREAM_TEXTS,
    *SPARK_GROUPS,
    *STREAMS,
    *EXPOSURE,
    *IDENTIFIERS,
    *LEARNING,
    *LINKING,
    *MEASURES,
    *CLAIMING,
    *COLUMNS,
    *PHRASES,
    *LAST_STEP,
    *CATEGORIES,
    *REPRODUCTIONS,
    *POLICY,
    *SEMANTIC_DP,
    *AUDIT,
    *OUTPUTS,
    *OUTSIDE_BUDGET,
    *PAPERS,
    *STUDIO,
    *STUDIO_DOORS,
    *SPARK_FILES,
    *SPARK_POLICY,
    *SPARK_STREAMS,
    *SPARK_TEXTS,
]
"""All of them."""
WITH_SESSION = (
    "spark/test_gate_classes.py",
    "spark/test_gate_texts.py",
    "spark/test_policy.py",
    "spark/test_private_users.py",
    "spark/test_spark_frequent_queries.py",
    "spark/test_spark_shared_texts.py",
    "spark/test_spark_sweep.py",
)
"""Tests that start a session of Spark, which takes about a minute for each fault."""
