"""Datasets in the chunks of a Dask collection. Dask is imported only where it is used."""
