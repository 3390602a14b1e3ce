"""The directive `glossary-of-reports`, which lists the terms that the pages of reports explain."""

from sphinx.util.docutils import SphinxDirective

from modeclust.reporting.glossary import GLOSSARY


class Glossary(SphinxDirective):
    """Lists the terms of a report."""

    def run(self):
        """Return the nodes of the list."""
        self.env.note_dependency(__file__)
        entries = (f"{term}\n: {text}" for term, text in sorted(GLOSSARY.items()))
        return self.parse_text_to_nodes("\n\n".join(entries))


def setup(app):
    """Register the directive."""
    app.add_directive("glossary-of-reports", Glossary)
    return {"parallel_read_safe": True}
