"""From a batch to logits.

Read in this order: embeddings, layers, sharing, encoder, heads, albert, task_heads. The files that
read and write model folders come last: interchange, formats, weights.
"""
