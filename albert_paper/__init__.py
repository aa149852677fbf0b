"""The paper's numbers, our runs, and what the two say to each other.

Read in this order. What the paper prints: published (its tables) and counts. What we ask: plan
(data/experiments.toml as experiments), sweep (one run and its result file), measures (what is
measured on a trained model), experiments (all runs of an experiment in one record). What the
records say: outcomes (a word for each claim), page and claim_pictures (CLAIMS.md). bench times a
step beside transformers; pair, pictures and reproduce make Figure 1 of one pair.
"""
