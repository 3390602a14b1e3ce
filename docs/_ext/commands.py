"""The command line, told by the program itself: usage, arguments, options, examples.

`{command}` documents the program, and `{command} fit` its command `fit`.
"""

import re

from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from modeclust.cli.app import app as commands

NAME = "modeclust"


def parts(name=None):
    """Yield the Markdown of a command, part by part."""
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
    """Return the commands that the help ends with, below a heading."""
    _, *lines = command.epilog.split("\n\n")
    return lines


def described(usage, told):
    """Return an argument or option; defaults and limits stand in brackets behind its help."""
    usage = usage.replace(" / ", ", ").replace(" range>", ">")  # the range is in the brackets
    text, limits = re.fullmatch(r"(.*?)(?:\s*\[(.*)\])?", told, re.DOTALL).groups()
    limits = re.sub(r"\((.*)\)", r"\1", limits or "")  # words in place of a default
    return fenced("{option} " + usage, f"{text} *({limits})*" if limits else text)


def fenced(what, *lines):
    """Return lines in a fence that holds no other."""
    return "\n".join([f"~~~{what}", *lines, "~~~"])


class Command(SphinxDirective):
    """Documents a command of the program, or the program."""

    optional_arguments = 1

    def run(self):
        """Return what the program says of it."""
        self.env.note_dependency(__file__)
        return self.parse_text_to_nodes("\n\n".join(parts(*self.arguments)))


def setup(app):
    """Add the directive `command`."""
    app.add_directive("command", Command)
    return {"parallel_read_safe": True}
