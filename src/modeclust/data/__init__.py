"""Datasets in memory and on Dask, and the passes over them."""
