"""The algorithms: pure functions of rows."""
