"""Records beside the main road: a published BERT's Figure 1, and how much memory a long text takes."""
