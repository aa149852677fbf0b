"""The paper's numbers, our runs, and what the two say to each other.

Read in this order. What the paper prints: published (its tables) and counts. What we ask: plan
(data/plan.toml, and how all runs of an experiment come into one record), tuning (pilots, equal
time), training_run (one run), sweep (many, each with its result file), stacking (a deep model from
a shallow one), measures (what is measured on a trained model, by name: text_scores, layer_steps,
order_cross, few_labels). What the records say: outcomes (a word for each claim), page and
claim_pictures (CLAIMS.md). reproduce trains the pair of Figure 1, figure1 draws it from released
models, bench times a step beside transformers, reviews fine-tunes a released model beside ours.
"""
