"""The paper's numbers, our runs, and what the two say to each other."""
