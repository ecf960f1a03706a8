# %% [markdown]
# # From a table to a release that was checked
#
# You are responsible for a table of searches and were asked to share it. This notebook goes the whole way: the table
# is read, what it exposes as it is, a first try that is refused, a release that may go out, and the files you hand
# over.
#
# The table here is generated: nobody asked any of its queries. In your notebook it comes from a warehouse, and may be
# a Polars, pandas or Arrow table.

# %%
from pathlib import Path

import querycloak as qc

generated = qc.generate(users=1_500, queries=7_500, spread=0.8, seed=1).log.to_polars()
table = generated.rename({"AnonID": "customer", "Query": "typed"})
print(table.schema)

# %% [markdown]
# ## Say who is the person and what was typed
#
# Common names such as `user_id` and `query` are known. Others are never guessed: a column that is taken for the query
# is published, and a wrong guess would publish a person. So this is refused, with a sentence that says what to type:

# %%
try:
    qc.read_log(table)
except qc.InputError as error:
    print(error)

# %%
log = qc.read_log(table, columns={"user": "customer", "query": "typed"})
print(log)

# %% [markdown]
# In a notebook a cell that ends with `log` shows a small card: counts, and which column was taken for what. No text
# and no id of the log is ever part of it, so that a notebook can be sent to a colleague.
#
# ## A first try: new ids, and only what five people share
#
# `sweep` gives everybody a new id and publishes of each query the part that at least five people asked. `check` runs
# every attack on it, tries the tasks that you name, and gives one verdict.

# %%
release = qc.anonymize(log, "sweep")
found = qc.check(log, release, tasks=["popularity"])
print(found)

# %% [markdown]
# The reasons are in order of gravity. Here, too many people are found again by what is known of them: all their
# queries are still under one id.
#
# ## A second try: everybody in a group of ten
#
# `semantic-microaggregation` makes groups of at least `k` people with similar interests, and publishes the same log
# for all of a group.

# %%
release = qc.anonymize(log, "semantic-microaggregation", k=10)
found = qc.check(log, release, tasks=["popularity"], output="check.html")
print(found)

# %% [markdown]
# ## Hand it over
#
# The release is written with its statement next to it: what is promised, what is not, and a digest of both. Whoever
# gets the files can check them without the log. `check.html` is the page for your files: it says why the release may
# go out.

# %%
print(release.statement.short())
if found.verdict == "RELEASE":
    qc.write_release(release, "release.csv")
    print(sorted(path.name for path in Path().glob("release.csv*")))
    findings = qc.verify("release.csv")
    print(findings)

# %% [markdown]
# The published rows as a table, for a last look (`to_pandas()` and `to_arrow()` are there too):

# %%
print(release.to_polars().head(3))
