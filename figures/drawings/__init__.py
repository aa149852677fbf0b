"""The drawings of the notebooks: one module per notebook, one function per drawing."""
