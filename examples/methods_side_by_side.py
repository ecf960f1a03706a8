# %% [markdown]
# # Methods side by side
#
# Which method keeps most of a log for what you want to study, and what does each cost the people in it? This notebook
# runs several methods on one log, attacks and measures every release, and puts the figures into one table.
#
# The log is generated, with known truth. With a seed everything can be repeated; a release that was made with a seed
# is for experiments and never for publishing.

# %%
import polars as pl

import querycloak as qc

log = qc.generate(users=200, queries=3_000, spread=0.8, seed=2).log
print(log)
print(sorted(qc.list_methods()))

# %% [markdown]
# ## All runs in one table
#
# `grid` has the values to try of each setting; a method takes those that it has. The first line is no method: the log
# with new ids alone, for comparison.

# %%
comparison = qc.compare(
    log,
    ["sweep", "plain-microaggregation", "frequent-queries"],
    {"k": [3, 10], "epsilon": [3.0]},
    tasks=["popularity", "topics"],
    draws=1,
    seed=1,
)
print(comparison)

# %% [markdown]
# `conditions` are those that do not hold: 1 a proof for people, 2 attacks within their limits, 3 no text of one
# person, 4 useful for every task that was named. A task is 1 where the release is as good as the log itself, and 0
# where it is as good as the same method run on queries drawn blindly. As a Polars table:

# %%
table = comparison.table()
table.write_csv("runs.csv")
with pl.Config(tbl_cols=-1, tbl_width_chars=120):
    print(table.select("run", "verdict", "own_texts", "exposed_people", "worst_attack", "worst_judged"))

# %% [markdown]
# ## One release in detail
#
# Every attack has a baseline: how often the same attacker is right without the release. The difference is what the
# release adds (`lift`), and limits judge the upper end of its 95 % interval (`at most`).

# %%
release = qc.anonymize(log, "plain-microaggregation", k=3, seed=1)
attacks = qc.attack(log, release, names=["known-queries", "record-linkage", "uniqueness"], seed=1)
print(attacks)

# %% [markdown]
# The list is a list, and a table where you want one:

# %%
worst = attacks.to_polars().filter(pl.col("risk") == "link").sort("lift_high", descending=True)
print(worst.select("attack", "rate", "baseline", "lift_high", "bound").head(3))

# %% [markdown]
# ## The measures of the papers

# %%
print(qc.measure(log, release, names=["kept", "topics", "top-queries"], seed=1))

# %% [markdown]
# A figure of one release is one draw. `compare(..., draws=3)` makes several and gives the spread; `output="folder"`
# also writes a report, and goes on after an interruption.
