"""The experiments of the papers, repeated on a log: one file per paper; no algorithm, only what is run and plotted."""
