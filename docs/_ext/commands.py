"""The directive `command`, which documents the command line from the program itself.

`{command}` documents the program, and `{command} fit` its command `fit`.
"""

import re

from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from modeclust.cli.app import app as commands

NAME = "modeclust"


def parts(name=None):
    """Yield the usage, arguments, options and examples of a command, as Markdown."""
    program = get_command(commands)
    context = program.context_class(program, info_name=NAME)
    command = program
    if name is not None:
        command = program.commands[name]
        context = command.context_class(command, info_name=name, parent=context)
    path = context.command_path
    yield command.help
    yield fenced("text", " ".join([path, *command.collect_usage_pieces(context)]))
    yield fenced("{program} " + path)
    for parameter in command.get_params(context):
        yield described(*parameter.get_help_record(context))
    yield fenced("{code-block} sh", *examples(command))


def examples(command):
    """Return the examples at the end of the help, without their heading."""
    _, *lines = command.epilog.split("\n\n")
    return lines


def described(usage, help_text):
    """Return the Markdown of an argument or option, with its default and limits in parentheses."""
    usage = usage.replace(" / ", ", ").replace(" range>", ">")  # the range is among the limits
    text, limits = re.fullmatch(r"(.*?)(?:\s*\[(.*)\])?", help_text, re.DOTALL).groups()
    limits = re.sub(r"\((.*)\)", r"\1", limits or "")  # defaults that are words
    return fenced("{option} " + usage, f"{text} *({limits})*" if limits else text)


def fenced(what, *lines):
    """Return lines in a fence of tildes."""
    return "\n".join([f"~~~{what}", *lines, "~~~"])


class Command(SphinxDirective):
    """Documents the program, or one of its commands."""

    optional_arguments = 1

    def run(self):
        """Return the nodes of the documentation."""
        self.env.note_dependency(__file__)
        return self.parse_text_to_nodes("\n\n".join(parts(*self.arguments)))


def setup(app):
    """Add the directive `command`."""
    app.add_directive("command", Command)
    return {"parallel_read_safe": True}
