"""From raw text to a batch.

Read in this order: sentences, files, stories, corpora, tokenizer, tokenized, segments, masking,
batches, prepare. Labelled tasks: task_rows reads them, tasks makes tensors. Tokenizers of others:
hub_tokenizer. What no tokenizer knows: unknown.
"""
