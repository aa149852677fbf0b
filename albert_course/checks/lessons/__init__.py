"""Cards of the exercises inside the notebooks: ``nb02`` belongs to notebook 02.

The exercises of the assignments have their cards one folder up.
"""
