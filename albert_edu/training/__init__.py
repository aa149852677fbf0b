"""From logits to a trained checkpoint. Read in this order: lamb, evaluate, pretrain, checkpoint."""
