"""The algorithms, as functions of a dataset."""
