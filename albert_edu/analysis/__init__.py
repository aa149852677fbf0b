"""From a model to numbers and pictures.

Numbers: counting (parameters, FLOPs, bytes), similarity (Figure 1), probes, health (is every part
at work), inspect (all of it in a few lines). Pictures: plots, for Figure 1 and the style.
"""
