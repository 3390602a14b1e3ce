"""The report of a fitted model: its summary, and the page that shows it."""
