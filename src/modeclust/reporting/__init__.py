"""The report: a summary of a clustering, and the page that shows it."""
