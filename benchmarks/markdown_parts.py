"""What results as Markdown are made of."""


def section(title, header, rows, note="", pictures=()):
    """Return a table under a title, or nothing where it has no rows."""
    if not rows:
        return ""
    texts = (f"## {title}", note, " ".join(pictures), table(header, rows))
    return "\n\n".join(text for text in texts if text)


def picture(name, caption):
    """Return a picture that is beside the page, as PNG."""
    return f"![{caption}]({name}.png)"


def table(header, rows):
    """Return a table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def spread(summary, form=".2f"):
    """Return a median, and in brackets the least and the most."""
    return f"{summary['median']:{form}} ({summary['min']:{form}} to {summary['max']:{form}})"


def mean_and_range(summary, form=".3f"):
    """Return a mean, and in brackets the least and the most."""
    return f"{summary['mean']:{form}} ({summary['min']:{form}} to {summary['max']:{form}})"
