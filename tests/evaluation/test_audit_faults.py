"""Wrong lines in differentially private methods: the audit proves each, or another check refuses it first.

`AUDIT`: the bound is above the claim. `GATE`: nothing is published. `TESTS`: too small a fault for a few thousand runs;
a test of the arithmetic fails, which tests/mutation knows by name.
"""

from __future__ import annotations

import pytest
from code_faults import applied
from mutation.fault import fault
from mutation.faults import FAULTS
from mutation.run import try_fault
from samples import sample_log

import querycloak as qc
from querycloak.errors import GateError
from querycloak.evaluation.audit import audit

DP = "methods/dp"
KOROLOVA = {"method": "frequent-queries", "choose": "korolova", "epsilon": 2.0, "delta": 0.05}
UNION = {"method": "frequent-queries", "choose": "gaussian", "epsilon": 2.0, "delta": 0.05}
HISTOGRAM = {"method": "histogram-dp", "epsilon": 2.0}
SEMANTIC = {"method": "semantic-dp", "epsilon": 2.0}

AUDIT = [
    (
        fault("an event is joined across users", "logs/query_log.py",
              'order = np.argsort(self.user, kind="stable")', "order = np.arange(n)"),
        {**KOROLOVA, "per_user": 2, "pair": "clicks in between", "runs": 200},
    ),
    (
        fault("epsilon of the choice is spent twice", f"{DP}/_korolova.py",
              'epsilon=share.use(), random=random.child("choice")',
              'epsilon=2 * share.use(), random=random.child("choice")'),
        {**KOROLOVA, "count_share": 0.05, "pair": "one more asker", "runs": 1000},
    ),
    (
        fault("epsilon of the counts is spent twice", f"{DP}/_korolova.py",
              'epsilon=share.use(), random=random.child("counts")',
              'epsilon=2 * share.use(), random=random.child("counts")'),
        {**KOROLOVA, "count_share": 0.95, "pair": "one count", "runs": 1000},
    ),
    (
        fault("sensitivity 1 for d", f"{DP}/_korolova.py",
              'sensitivity=d, epsilon=share.use(), random=random.child("counts")',
              'sensitivity=1, epsilon=share.use(), random=random.child("counts")'),
        {**KOROLOVA, "count_share": 0.9, "per_user": 5, "pair": "repeats", "runs": 300},
    ),
    (
        fault("a threshold one too low", f"{DP}/_korolova.py", "asked[noisy >= least]", "asked[noisy >= least - 1]"),
        {**KOROLOVA, "epsilon": 4.0, "count_share": 0.1, "pair": "unique text", "runs": 800},
    ),
    (
        fault("set union: a threshold one user too low", f"{DP}/_set_union.py",
              "looked_at[noisy >= least]", "looked_at[noisy >= least - unit]"),
        {**UNION, "epsilon": 3.0, "count_share": 0.05, "pair": "unique text", "runs": 2500},
    ),
    (
        fault("set union: the threshold of one item for d", f"{DP}/_set_union_threshold.py",
              "(d * np.maximum(highest", "(np.maximum(highest"),
        {**UNION, "epsilon": 1.0, "pair": "many unique texts", "runs": 700},
    ),
    (
        fault("set union: weights are not normalised", f"{DP}/_contribution.py",
              "np.add.reduceat(value, start)", "np.maximum.reduceat(value, start)"),
        {**UNION, "count_share": 0.05, "pair": "popular texts, undecided", "runs": 1500},
    ),
    (
        fault("set union: two rows of a user are added up", f"{DP}/_contribution.py",
              "new[1:] = key[1:] != key[:-1]", "new[1:] = True"),
        {**UNION, "epsilon": 1.0, "pair": "repeats", "runs": 300},
    ),
    (
        fault("set union: counts for sensitivity 1", f"{DP}/_set_union_table.py",
              "sensitivity=person * math.sqrt(plan.counted)", "sensitivity=person * math.sqrt(1)"),
        {**UNION, "epsilon": 2.0, "count_share": 0.9, "pair": "popular texts", "runs": 800},
    ),
    (
        fault("one draw of noise for all rows", f"{DP}/_noise.py",
              "values + _seeded_gaussian(len(values), scale", "values + _seeded_gaussian(1, scale"),
        {**UNION, "epsilon": 3.0, "pair": "one of ten texts", "runs": 300},
    ),
    (
        fault("an exact count by the name of a threshold", f"{DP}/frequent_queries.py",
              "table_statement(settings, rule, describe",
              'table_statement(settings, {**rule, "threshold n": len(log.users)}, describe'),
        {**UNION, "pair": "unique text", "runs": 200},
    ),
    (
        fault("histogram: sensitivity of the paper, claimed for replaced logs", f"{DP}/histogram_dp.py",
              "(2 if self.sensitivity", "(1 if self.sensitivity"),
        {**HISTOGRAM, "pair": "another interest", "runs": 1000},
    ),
    (
        fault("histogram: epsilon is spent twice", f"{DP}/histogram_dp.py",
              "epsilon = share.use()", "epsilon = 2 * share.use()"),
        {**HISTOGRAM, "pair": "another interest", "runs": 1000},
    ),
    (
        fault("noise of half the scale", f"{DP}/_noise.py",
              "return sensitivity / epsilon *", "return sensitivity / 2 / epsilon *"),
        {**HISTOGRAM, "pair": "another interest", "runs": 1000},
    ),
    (
        fault("histogram: bins of the concepts that somebody asked", f"{DP}/histogram_dp.py",
              "domains, bins, bin_of = bins_of(taxonomy, settings)",
              "domains, bins, bin_of = bins_of(taxonomy, settings); bins = bins[np.isin(bins, concepts.concept)]; "
              "bin_of = np.full(len(taxonomy), -1, np.int32); bin_of[bins] = np.arange(len(bins), dtype=np.int32)"),
        {**HISTOGRAM, "pair": "new concept", "runs": 200},
    ),
    (
        fault("semantic-dp: epsilon of a row is spent twice", f"{DP}/_semantic_dp_rows.py",
              "number[chosen]), epsilon, rows", "number[chosen]), 2 * epsilon, rows"),
        {**SEMANTIC, "rows_per_user": 1, "pair": "another interest", "runs": 800},
    ),
    (
        fault("semantic-dp: as many rows as units", f"{DP}/_semantic_dp_rows.py",
              "permutation(drawn.size)",
              "permutation(drawn.size); order = order[order % r < np.minimum(r, 1 + units.number)[order // r]]"),
        {**SEMANTIC, "pair": "length", "runs": 200},
    ),
    (
        fault("semantic-dp: users without a concept have no rows", f"{DP}/_semantic_dp_rows.py",
              "people = np.unique(log.user).astype(np.int32)",
              "people = np.unique(concepts.user[mechanism.covers(concepts.concept)]).astype(np.int32)"),
        {**SEMANTIC, "pair": "unique text", "runs": 200},
    ),
]  # fmt: skip

GATE = [
    (
        fault("an exact count in the statement", f"{DP}/frequent_queries.py",
              "counts_in={},\n        counts_out=counts_out",
              'counts_in={"users": 17},\n        counts_out=counts_out'),
        "frequent-queries", "exact counts of the log",
    ),
    (
        fault("an exact count among the parameters", f"{DP}/frequent_queries.py",
              "table_statement(settings, rule, describe",
              'table_statement(settings, {**rule, "n": len(log.users)}, describe'),
        "frequent-queries", "no bound and no setting of its noise",
    ),
    (
        fault("rows left out, counted in the statement", f"{DP}/histogram_dp.py",
              "        dropped={},", '        dropped={"no concept": 3},'),
        "histogram-dp", "exact counts of the log",
    ),
    (
        fault("kept times", f"{DP}/histogram_dp.py",
              "published = replace(published, extra=",
              "published = replace(published, time=np.zeros(len(published), np.int64), extra="),
        "histogram-dp", "columns of the log .* time",
    ),
    (
        fault("a mapping learned from the log", f"{DP}/semantic_dp.py", "learned=concepts.learned", "learned=True"),
        "semantic-dp", "learned from the log",
    ),
    (
        fault("ids of the log", f"{DP}/semantic_dp.py", "new_ids=True", "new_ids=False"),
        "semantic-dp", "ids of the log",
    ),
    (
        fault("noise with digits after the point", f"{DP}/_frequent_table.py",
              'schema_overrides={"count": pl.Int64}', 'schema_overrides={"count": pl.Float64}'),
        "frequent-queries", "no whole numbers",
    ),
    (
        fault("one share of the budget for two uses", f"{DP}/_set_union_table.py",
              "rho = shares.counts.use()", "rho = shares.counts.use(); shares.counts.use()"),
        "frequent-queries", "used twice",
    ),
    (
        fault("more is taken than was asked for", f"{DP}/histogram_dp.py",
              "epsilon = share.use()", "epsilon = share.use(); budget.account.append(share)"),
        "histogram-dp", "more than promised",
    ),
]  # fmt: skip

TESTS = [
    "set union: rho of a round used twice",
    "set union: noise of half the scale",
    "set union: counts of the whole budget",
    "semantic-dp: weights with all of epsilon",
    "rows: the root for a user without a unit",
]


def run(settings):
    settings = dict(settings)
    method, pair = settings.pop("method"), settings.pop("pair")
    return audit(method, pairs=[pair], seed=1, **settings)


@pytest.mark.slow
@pytest.mark.needs_jit
@pytest.mark.parametrize(("wrong", "settings"), AUDIT, ids=[one.name for one, _ in AUDIT])
def test_the_audit_proves_it(wrong, settings):
    with applied(wrong):
        found = run(settings)
    (pair,) = found.pairs
    print(f"{wrong.name}: bound {pair.bound:.2f}, claim {pair.claim:g}, {found.runs} runs: {pair.event}")
    assert pair.bound > pair.claim
    assert not found.passed


@pytest.mark.parametrize(("wrong", "method", "why"), GATE, ids=[one.name for one, *_ in GATE])
def test_the_gate_refuses_it(wrong, method, why):
    more = {"domain": "sport"} if method == "histogram-dp" else {}
    qc.anonymize(sample_log(), method, seed=1, **more)
    with applied(wrong), pytest.raises(GateError, match=why):
        qc.anonymize(sample_log(), method, seed=1, **more)


@pytest.mark.slow
@pytest.mark.parametrize("name", TESTS)
def test_a_test_of_the_arithmetic_fails(name):
    (wrong,) = [one for one in FAULTS if one.name == name]
    outcome = try_fault(wrong)
    assert outcome.caught, outcome.seen


def test_faults_are_distinct():
    names = [one.name for one, *_ in (*AUDIT, *GATE)] + TESTS
    assert len(set(names)) == len(names) >= 24
