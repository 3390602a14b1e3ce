"""The paper reproduced: a script and a table of claims for each figure, table and section."""
