"""Parts of the results in Markdown."""

NOTHING = "-"  # in a cell without a result


def section(title, header, rows, note="", pictures=()):
    """Return a table with a title, or an empty text if it has no rows."""
    if not rows:
        return ""
    texts = (f"## {title}", note, " ".join(pictures), table(header, rows))
    return "\n\n".join(text for text in texts if text)


def picture(name, caption):
    """Return a PNG picture in the folder of the page."""
    return f"![{caption}]({name}.png)"


def table(header, rows):
    """Return a table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def spread(summary, form=".2f"):
    """Return the median, with minimum and maximum in brackets."""
    return f"{summary['median']:{form}} ({summary['min']:{form}} to {summary['max']:{form}})"


def mean_and_range(summary, form=".3f"):
    """Return the mean, with minimum and maximum in brackets."""
    return f"{summary['mean']:{form}} ({summary['min']:{form}} to {summary['max']:{form}})"


def seconds(result):
    """Return the median time in seconds."""
    return f"{result['seconds']['median']:.3g}"
