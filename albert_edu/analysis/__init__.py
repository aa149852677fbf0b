"""From a model to numbers and pictures: counting, similarity, plots."""
