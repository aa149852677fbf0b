"""From a model to numbers and pictures.

Numbers: counting (parameters, FLOPs, bytes), memory, similarity (Figure 1), probes, inspect.
Pictures: charts, and plots for Figure 1 and the style.
"""
