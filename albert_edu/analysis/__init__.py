"""From a model to numbers and pictures.

Numbers: counting (parameters, FLOPs, bytes), similarity (Figure 1), probes, inspect. Pictures:
plots, for Figure 1 and the style.
"""
