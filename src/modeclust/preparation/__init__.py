"""Preparation of tables: columns of every kind become rows of numbers."""
