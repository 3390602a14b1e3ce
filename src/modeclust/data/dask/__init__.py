"""Datasets in the chunks of a Dask collection. Dask itself is imported where it is used."""
