"""From raw text to a batch.

Read in this order: corpora, stories, tokenizer, tokenized, segments, masking, batches, prepare.
Labelled tasks: task_rows reads them; tasks and spans make tensors of them.
"""
