"""Readers of data files, used by the command line alone."""
