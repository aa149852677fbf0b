"""The paper's numbers, our runs, and what the two say to each other.

Read in this order. What the paper prints: published (its tables) and counts. What we ask: plan
(data/plan.toml, and how all runs of an experiment come into one record), tuning (pilots, equal
time), training_run (one run), stages (which runs may share), sweep (many runs, each with its result
file), stacking (a deep model from a shallow one), lamb_variants (sick runs), measures (what is
measured on a trained model, by name: text_scores, layer_steps, order_cross, few_labels, school).
What the records say: claims (a plan and its records), criterion (a comparison, taken apart),
outcomes (a word for each claim), words (what a row says), page (CLAIMS.md and COMPARISONS.md),
cause (CAUSE.md), claim_pictures and columns (how they are drawn and written). reproduce trains the
pair of Figure 1, figure1 draws it from released models, bench times a step beside transformers,
reviews fine-tunes a released model beside ours.
What carries it: pool (processes), provenance, templates, cli.
"""
