"""Groups of commands that import a command when it is called, and help in plain text.

A :class:`Group` holds the name, the section and the summary of each command;
:meth:`Group.get_command` imports only the module of the called one. Help is plain text, because
rich's help loads a Markdown parser and a syntax highlighter, which need longer than all other parts
of ``--help``.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from voicenym.errors import VoicenymError

WIDTH = 100
"""Largest width of help in columns."""
OPTIONS = "Options"
COMMANDS = "Commands"


@dataclass(frozen=True)
class Entry:
    """A command that is imported when it is called.

    Args:
        name: as typed.
        section: heading of its list in ``--help``.
        module: with a ``typer.Typer`` named ``app``.
        summary: one line for the list; the first line of the command's own help.
    """

    name: str
    section: str
    module: str
    summary: str


class Command(TyperCommand):
    """A command with options in sections: those of ``rich_help_panel``, in their order."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Values of options and arguments; an empty one is refused.

        An unset variable of the shell would else name the current folder, or a default.

        Raises:
            VoicenymError: an empty value.
        """
        if "" in args and not ctx.resilient_parsing:
            given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
            for parameter in self.get_params(ctx):
                value = given.get(parameter.name)
                if value == "" or (isinstance(value, (list, tuple)) and "" in value):
                    raise VoicenymError(_empty(parameter))
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then each section of options."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if parameter.param_type_name == "argument":
                section = "Arguments"
            else:
                section = getattr(parameter, "rich_help_panel", None) or OPTIONS
            sections.setdefault(section, []).append(record)
        for section, records in sections.items():
            if records:
                with formatter.section(section):
                    formatter.write_dl(records)


class Group(TyperGroup):
    """A group whose :attr:`entries` are imported when they are called."""

    entries: ClassVar[tuple[Entry, ...]] = ()

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands, in the order of their sections."""
        names = [entry.name for entry in self.entries]
        return [*names, *(name for name in super().list_commands(ctx) if name not in names)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Command of this name; None without one."""
        for entry in self.entries:
            if entry.name == cmd_name and cmd_name not in self.commands:
                command = typer.main.get_command(import_module(entry.module).app)
                command.name = cmd_name
                self.commands[cmd_name] = command
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands under their sections; imports none of the entries."""
        known = {entry.name for entry in self.entries}
        sections: dict[str, list[tuple[str, str]]] = {}
        for entry in self.entries:
            sections.setdefault(entry.section, []).append((entry.name, entry.summary))
        for name, command in self.commands.items():
            if name not in known and not command.hidden:
                sections.setdefault(COMMANDS, []).append((name, first_line(command.help)))
        longest = max((len(name) for rows in sections.values() for name, _ in rows), default=0)
        for section, rows in sections.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(longest), line) for name, line in rows])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Command at the beginning of ``args``; an error lists similar names."""
        name = args[0]
        if not ctx.resilient_parsing and name[:1] != "-" and self.get_command(ctx, name) is None:
            near = get_close_matches(name, self.list_commands(ctx))
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def get_help_option(self, ctx: Any) -> Any:
        """Option ``--help`` with the default False.

        Newer releases of typer leave it None, and load pydantic to convert None to a boolean.
        """
        option = super().get_help_option(ctx)
        if option is not None and option.default is None:
            option.default = False
        return option


def _empty(parameter: Any) -> str:
    """Message on a parameter whose value is empty."""
    if parameter.param_type_name == "argument":
        return f"{parameter.name}: an empty name; give one"
    return f"{max(parameter.opts, key=len)}: the value is empty; give one, or leave the option out"


def first_line(help: str | None) -> str:
    """First paragraph of a help text, in one line."""
    return " ".join((help or "").strip().partition("\n\n")[0].split())


def new_app(help: str | None = None, group: type[Group] = Group) -> typer.Typer:
    """A ``typer.Typer`` for a command, or with ``help`` for a group of commands."""
    return typer.Typer(
        cls=group,
        help=help,
        no_args_is_help=help is not None,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"max_content_width": WIDTH},
    )


def command(app: typer.Typer, *examples: str, name: str | None = None) -> Any:
    """Decorator that makes a function a command of ``app``, with examples in its help.

    Args:
        app: a group, or the ``app`` of a module with one command.
        examples: command lines.
        name: by default the function's.
    """
    heading = "Examples:" if len(examples) > 1 else "Example:"
    epilog = "\n".join(["\b", heading, *("  " + line for line in examples)])  # \b: do not wrap
    return app.command(name, cls=Command, epilog=epilog)
