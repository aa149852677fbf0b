"""The paper's numbers, our runs, and what the two say to each other.

Read in this order. What the paper prints: published (its tables) and counts. What we ask: plan
(the files in data/ as experiments), sweep (one run and its result file), measures (what is measured
on a trained model), speed, and experiments (all runs of an experiment in one record). What the
records say: claims (rows compared), outcomes (statistics, and a word for each question), report
(every record judged), page and pictures (CLAIMS.md). pair and reproduce make Figure 1 and the tour
of the command ``reproduce``.
"""
