# %% [markdown]
# # A privacy budget, and what it buys
#
# Differential privacy promises each person that what is published would have been almost as likely without them. How
# much "almost" is, is the budget: epsilon, and a small probability delta. This notebook sets a budget, buys two
# releases with it, and sees that the ledger sells no third one.
#
# The log is generated: nobody asked any of its queries.

# %%
from pathlib import Path

import querycloak as qc
from querycloak.releases.ledger import make_ledger, read_ledger

log = qc.generate(users=3_000, queries=15_000, spread=0.8, named=0.4, seed=3).log
print(log)

# %% [markdown]
# ## One budget for all releases
#
# A ledger is a file that counts what each person has spent, over all releases and all methods. It has hashes of ids,
# and a key next to it: keep both, share neither. `log` names the set of ids in which one id is one person.

# %%
make_ledger(Path("budget.db"), log="search-logs", epsilon=2.0, delta=1e-5)
ledger = {"ledger": "budget.db", "ledger_log": "search-logs"}

# %% [markdown]
# ## First purchase: the queries that many people ask
#
# `frequent-queries` publishes popular queries with noisy counts of people, and no users at all.

# %%
frequent = qc.anonymize(log, "frequent-queries", epsilon=1.0, delta=1e-6, **ledger)
print(frequent.to_polars().head(5))
print(frequent.statement.short())
qc.write_release(frequent, "frequent.csv")

# %% [markdown]
# What each mechanism spent is in the statement, and adds up to the guarantee:

# %%
for line in frequent.statement.account:
    print(line)

# %% [markdown]
# ## Second purchase: a log of invented people
#
# `synthetic-dp` learns noisy statistics and draws a log from them. Its ids stand for nobody.

# %%
synthetic = qc.anonymize(log, "synthetic-dp", epsilon=2.0, delta=1e-6, **ledger)
print(synthetic, f"of {len(synthetic.log.users):,} invented people")
print(synthetic.to_polars().head(3))
qc.write_release(synthetic, "synthetic.parquet")

# %% [markdown]
# ## The budget is spent
#
# A release of epsilon 1 and one of epsilon 2 fit into a budget of 2: Gaussian noise adds up more slowly than the sum
# of the epsilons. But a third release has nobody left who can pay, and nobody is in it: that is what makes the
# promise hold over all releases together.

# %%
state = read_ledger(Path("budget.db"))
print(
    f"{len(state.rows)} releases; the most that anybody spent: epsilon {max(state.epsilons()):.2f} of {state.epsilon:g}"
)

# %%
third = qc.anonymize(log, "frequent-queries", epsilon=1.0, delta=1e-6, **ledger)
print(third)

# %% [markdown]
# The ledger is a chain of hashes. Its head covers every entry: keep it where whoever can write the ledger cannot.

# %%
print(read_ledger(Path("budget.db")).head.hex())

# %% [markdown]
# ## Is the promise true?
#
# `audit` runs a method on pairs of logs that differ in one person, and bounds its epsilon from below. A bound above
# the claim would prove the claim wrong; a bound below proves nothing.

# %%
print(qc.audit("histogram-dp", epsilon=1.0, runs=100, pairs=["another interest"], seed=1))
