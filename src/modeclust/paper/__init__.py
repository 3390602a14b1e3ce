"""The paper reproduced: a script for each figure, table and claim, and what it should show."""
