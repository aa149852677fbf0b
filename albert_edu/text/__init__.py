"""From raw text to a batch.

Read in this order: corpora, stories, tokenizer, tokenized, segments, masking, batches, prepare.
"""
