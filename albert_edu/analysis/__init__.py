"""From a model to numbers and pictures: counts, memory, similarity, probes, charts."""
