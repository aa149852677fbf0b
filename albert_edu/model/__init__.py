"""From a batch to logits. Read in this order: embeddings, layers, sharing, encoder, heads, albert; interchange last."""
