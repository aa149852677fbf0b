"""From raw text to a batch.

Read in this order: sentences, rows, files, stories, corpora, tokenizer, tokenized, segments,
masking, batches, prepare. Labelled tasks: task_rows reads them, classes numbers their labels, tasks
makes tensors; questions are those about the stories. Tokenizers of others: hub_tokenizer. What no
tokenizer knows: unknown.
"""
