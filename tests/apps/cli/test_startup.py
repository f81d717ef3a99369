"""Imports at the start of the command, and the help of every command."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import soundfile
import typer

from voicenym.apps.cli import app
from voicenym.apps.cli.terminal.command_group import Entry, Group, first_line, new_app

HEAVY = ("torch", "numpy", "scipy", "rich", "pydantic", "markdown_it", "multiprocessing", "hashlib")
"""Packages whose import costs a start as much as typer's own, or more."""


def commands(group=None, path=()):
    """``(path, command)`` of every command and every group."""
    group = group or typer.main.get_command(app)
    context = typer.Context(group, info_name="voicenym")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name), command
        if isinstance(command, Group):
            yield from commands(command, (*path, name))


COMMANDS = dict(commands())
LEAVES = {path: command for path, command in COMMANDS.items() if not isinstance(command, Group)}


def imported(statements):
    """Names of the modules that a fresh Python has imported after some statements."""
    script = f"import sys\n{statements}\nimport json\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, check=True, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_the_package_is_imported_without_its_libraries():
    assert not set(HEAVY) & set(imported("import voicenym; voicenym.load"))


def group_options(path):
    return [parameter for parameter in COMMANDS[path].params if parameter.name != "help"]


def test_help_imports_no_library_but_typer():
    # typer converts the options of a group with pydantic once one of its commands is named
    # and the registry of recipes imports the options of all trainings, which need numpy
    paths = [path for path in COMMANDS if len(path) == 1 or not group_options(path[:1])]
    paths.remove(("train",))
    lines = ["--help", *(" ".join([*path, "--help"]) for path in paths)]
    assert len(lines) > 15
    found = imported(
        "from voicenym.apps.cli import main\n"
        f"for line in {lines}:\n"
        "    sys.argv = ['voicenym', *line.split()]\n"
        "    try:\n"
        "        main()\n"
        "    except SystemExit as end:\n"
        "        assert not end.code, line\n"
    )
    assert "typer" in found
    assert not set(HEAVY) & set(found)


def test_help_of_train_imports_no_torch():
    found = imported(
        "from voicenym.apps.cli import main\n"
        "for line in ('train --help', 'train ubm --help'):\n"
        "    sys.argv = ['voicenym', *line.split()]\n"
        "    try:\n"
        "        main()\n"
        "    except SystemExit as end:\n"
        "        assert not end.code, line\n"
    )
    assert not {"torch", "scipy", "rich", "lightning"} & set(found)


def test_what_systems_declare_is_read_without_torch(tmp_path):
    found = imported(
        "from voicenym.apps.cli import main\n"
        f"for line in ('systems', 'systems --json', 'systems base', 'key new {tmp_path}/key'):\n"
        "    sys.argv = ['voicenym', *line.split()]\n"
        "    try:\n"
        "        main()\n"
        "    except SystemExit as end:\n"
        "        assert not end.code, line\n"
    )
    assert not {"torch", "numpy", "scipy"} & set(found)
    assert not [name for name in found if name.startswith("voicenym.systems.")]


UNUSED = (
    "av", "jiwer", "lightning", "matplotlib", "onnxruntime", "pandas", "rich", "safetensors",
    "scipy", "sklearn", "soundfile", "torchaudio", "transformers", "yaml",
)  # fmt: skip
"""Packages that the anonymization of a wav file by filters does not use."""
UNUSED_ROOMS = (
    "attack", "evaluation", "identity", "metrics", "nets.speakers", "recognition", "resynthesis",
    "training", "verification",
)  # fmt: skip
"""The same of this package."""


def test_anonymize_imports_what_it_uses(tmp_path):
    """Of a short run half is imports."""
    samples = np.sin(0.05 * np.arange(16_000)) * np.sin(0.001 * np.arange(16_000))
    soundfile.write(tmp_path / "in.wav", 0.1 * samples, 16_000)
    line = ["voicenym", "anonymize", "in.wav", "-o", "out.wav", "-s", "mcadams"]
    found = imported(
        "import gc, os\n"
        "from voicenym.apps.cli import main\n"
        f"os.chdir({str(tmp_path)!r})\n"
        f"sys.argv = {line!r}\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as end:\n"
        "    assert not end.code\n"
        "assert gc.get_freeze_count() > 100_000, 'the end of the process does not search torch'\n"
        "assert gc.get_stats()[2]['collections'] == 0, 'nor do its imports'\n"
    )
    assert (tmp_path / "out.wav").exists()
    assert "torch" in found
    assert not set(UNUSED) & set(found)
    rooms = tuple(f"voicenym.{room}" for room in UNUSED_ROOMS)
    assert not [name for name in found if name.startswith(rooms)]
    systems = {name for name in found if name.startswith("voicenym.systems.")}
    # the second one stands in where a system refuses a recording
    assert systems == {"voicenym.systems.mcadams", "voicenym.systems.recast"}


def test_the_list_of_commands_imports_none_of_them():
    found = imported(
        "from voicenym.apps.cli import main\n"
        "sys.argv = ['voicenym', '--help']\n"
        "try:\n"
        "    main()\n"
        "except SystemExit:\n"
        "    pass"
    )
    ours = {name for name in found if name.startswith("voicenym.apps.cli.")}
    terminal = "voicenym.apps.cli.terminal"
    assert ours == {
        terminal,
        *(f"{terminal}.{name}" for name in ("command_group", "interrupts", "standard_output")),
    }


def help_of(path, command):
    context = typer.Context(command, info_name=" ".join(["voicenym", *path]))
    return command.get_help(context)


def test_commands_are_listed_by_what_one_does_with_them():
    text = help_of((), typer.main.get_command(app))
    places = [text.index(f"\n{section}:") for section in ("Use", "Measure", "Build")]
    assert places == sorted(places)
    assert text.index("  anonymize ") < places[1] < text.index("  evaluate ") < places[2]
    assert text.index("  train ") > places[2]


@pytest.mark.parametrize("entry", typer.main.get_command(app).entries, ids=lambda e: e.name)
def test_the_list_says_what_each_command_says_of_itself(entry):
    assert entry.summary == first_line(COMMANDS[entry.name,].help)


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_examples_are_lines_that_the_command_parses(path):
    text = LEAVES[path].epilog or ""
    lines = [line.strip() for line in text.splitlines() if line.startswith("  voicenym ")]
    assert lines, "no example"
    assert f"\n    {lines[0]}\n" in help_of(path, LEAVES[path]) + "\n"
    for line in lines:
        words = line.split()
        assert words[: len(path) + 1] == ["voicenym", *path]
        arguments = words[len(path) + 1 :]
        LEAVES[path].make_context(path[-1], arguments, resilient_parsing=False)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_fits_80_columns(path):
    lines = help_of(path, COMMANDS[path]).splitlines()
    assert [line for line in lines if len(line) > 80 and "voicenym" not in line] == []


def test_an_unknown_command_is_refused_with_the_near_names(capsys):
    with pytest.raises(SystemExit) as end:
        app(["anonymis"])
    assert end.value.code == 2
    assert "Did you mean anonymize?" in capsys.readouterr().err


def test_a_group_imports_a_command_when_it_is_called():
    class Example(Group):
        entries = (Entry("key", "Section", "voicenym.apps.cli.commands.key", "One line."),)

    group = typer.main.get_command(_with_callback(new_app("An example.", Example)))
    context = typer.Context(group, info_name="example")
    assert group.commands == {}
    assert "Section:\n  key  One line." in group.get_help(context)
    assert group.commands == {}
    assert group.get_command(context, "key").list_commands(context)[:3] == [
        "new",
        "show",
        "upgrade",
    ]
    assert group.list_commands(context) == ["key"]
    assert group.get_command(context, "lock") is None


def _with_callback(example):
    @example.callback()
    def root() -> None:
        pass

    return example
