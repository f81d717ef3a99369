"""``voicenym train``: the list of recipes, and the help of each."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.training.recipes import RECIPES, SUMMARIES


def output(*arguments: str) -> str:
    found = CliRunner().invoke(app, ["train", *arguments], env={"COLUMNS": "100"})
    assert found.exit_code == 0, found.output
    return found.output


def test_help_lists_the_recipes_and_imports_none():
    code = (
        "import sys; sys.argv = ['voicenym', 'train', '--help']\n"
        "from voicenym.apps.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted(name for name in sys.modules if name.endswith('_recipe') or name == 'torch'))"
    )
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    lines = done.stdout.splitlines()
    assert lines[-1] == "[]"
    for name, summary in SUMMARIES.items():
        assert any(line.split()[:1] == [name] and summary in line for line in lines), name


@pytest.mark.parametrize("name", RECIPES.names())
def test_each_recipe_has_help(name):
    text = output(name, "--help")
    assert f"voicenym train {name} {RECIPES.get(name).example}" in " ".join(text.split())
    assert "--output" in text
    assert "--shelf" not in text
    if RECIPES.get(name).configuration:
        assert "Fields of the configuration" in text


def test_options_keep_their_names():
    text = output("vcloak", "--help")
    for flag in ("--data", "-d", "--from", "--verifier", "--words-form", "--cache", "--fail-fast"):
        assert flag in text


def test_an_unknown_recipe_is_refused():
    found = CliRunner().invoke(app, ["train", "verifer"])
    assert found.exit_code == 2
    assert "verifer" in found.output
