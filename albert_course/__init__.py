"""What stands around the notebooks: checks of the exercises, assignments, cells, charts, doctor."""
