"""From logits to a trained checkpoint.

Read in this order: lamb, settings, step and pretrain, which are one run; evaluate and history,
which measure it; checkpoint, which keeps it; workers, where it runs; finetune and metrics.
"""
