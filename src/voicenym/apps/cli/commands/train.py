"""``voicenym train RECIPE``: a command for each recipe, made from the recipe's options.

Listing the recipes imports none of them; the help of one imports its options, and no torch.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import typer

from voicenym.apps.cli.options import speaker_level
from voicenym.apps.cli.options.corpus_options import QUIET, progress_printer
from voicenym.apps.cli.terminal.command_group import Command, Entry, Group, new_app
from voicenym.apps.cli.terminal.skipped_files import current, leaves_out
from voicenym.training.recipes import RECIPES, SUMMARIES

PICTURE = "search.svg"
_WIDTH = 78


class _Recipes(Group):
    """The group of all recipes; a recipe is imported when it is called."""

    entries = tuple(Entry(name, "Recipes", "", summary) for name, summary in SUMMARIES.items())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in RECIPES and cmd_name not in self.commands:
            self.commands[cmd_name] = recipe_command(cmd_name)
        return self.commands.get(cmd_name)


app = new_app("Train networks on your own speech.", _Recipes)
app.callback()(speaker_level.group)


def recipe_command(name: str) -> Any:
    """The command of a recipe."""
    recipe: Any = RECIPES.get(name)
    one = new_app()
    one.command(name, cls=Command, help=_summary(name, recipe), epilog=_epilog(name, recipe))(
        _function(name)
    )
    return typer.main.get_command(one)


def _function(name: str) -> Callable[..., None]:
    """A function with a recipe's options as parameters, as typer reads them."""
    recipe: Any = RECIPES.get(name)
    reads = "data" in {item.name for item in fields(recipe)}

    def run(*, quiet: bool, **options: Any) -> None:
        from voicenym.training.recipes import train

        for option in fields(recipe):
            for flag in option.metadata.get("old_flags", ()):
                old = options.pop(_identifier(flag), None)
                if options[option.name] is None:
                    options[option.name] = old
        if reads:
            options["speaker_level"] = speaker_level.current()
        outcome = train(name, say=progress_printer(quiet), skipped=current(), **options)
        if name == "mixture" and outcome.details:
            _write_picture(outcome.folder, outcome.details)
        for line in outcome.summary():
            typer.echo(line)

    parameters = _parameters(name, recipe)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {item.name: item.annotation for item in parameters}
    return leaves_out(run) if reads else run


def _parameters(name: str, recipe: Any) -> list[inspect.Parameter]:
    about = {item.name: item.metadata for item in fields(recipe)}
    found = []

    def add(option: str, annotation: Any, default: Any) -> None:
        kind = inspect.Parameter.KEYWORD_ONLY
        found.append(inspect.Parameter(option, kind, default=default, annotation=annotation))

    options = [item for item in RECIPES.parameters(name) if item.name != "speaker_level"]
    for item in sorted(options, key=lambda item: not item.required):
        extra = about[item.name]
        annotation, repeated = _typer_type(item.annotation)
        default = ... if item.required else list(item.default) if repeated else item.default
        if extra.get("positional"):
            add(item.name, annotation, typer.Argument(default, help=item.help))
            continue
        flags = extra.get("flags") or (f"--{item.name.replace('_', '-')}",)
        extras: dict[str, Any] = {
            "min": extra.get("minimum"),
            "max": extra.get("maximum"),
            "metavar": f"<{get_args(annotation)[0].__name__.lower()}>" if repeated else None,
            "rich_help_panel": _section(recipe, item.name),
        }
        add(item.name, annotation, typer.Option(default, *flags, help=item.help, **extras))
        for old in extra.get("old_flags", ()):
            add(_identifier(old), annotation, typer.Option(None, old, hidden=True))
    add("quiet", bool, QUIET)
    return found


def _section(recipe: Any, option: str) -> str | None:
    """Heading of an option in the help: that of its group of options."""
    holders = [kind for kind in recipe.__mro__ if option in vars(kind).get("__annotations__", {})]
    return vars(holders[-1]).get("section")


def _typer_type(annotation: Any) -> tuple[Any, bool]:
    """A field's type as typer knows it, and whether the option may be repeated."""
    if get_origin(annotation) is tuple:
        return list[get_args(annotation)[0]], True  # type: ignore[misc]
    if get_origin(annotation) in (Union, UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        return kinds[0] | None, False
    return annotation, False


def _identifier(flag: str) -> str:
    return "old_" + flag.strip("-").replace("-", "_")


def _summary(name: str, recipe: Any) -> str:
    return (inspect.getdoc(recipe) or SUMMARIES[name]).partition("\n\n")[0].replace("\n", " ")


def _epilog(name: str, recipe: Any) -> str:
    """An example, and the fields of the configuration."""
    lines = ["Example:", f"  voicenym train {name} {recipe.example}"]
    if recipe.configuration:
        from voicenym.training.run.config_help import config_fields

        lines += ["", "Fields of the configuration, with their defaults:"]
        for item in config_fields(recipe.configuration):
            text = f"{item.name} ({item.default}): {item.help}"
            lines += textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="      ")
    # \b keeps the lines of a paragraph as they are
    return "\n\n".join("\b\n" + part for part in "\n".join(lines).split("\n\n"))


def _write_picture(folder: Path, rows: Any) -> None:
    """Writes the figures of the compared sizes of mixtures."""
    from voicenym.evaluation.figures.mixture_sizes import sizes

    (folder / PICTURE).write_text(sizes(rows), "utf-8")
