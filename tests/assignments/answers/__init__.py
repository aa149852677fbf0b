"""Right answers in another style than the source notebooks' own."""
