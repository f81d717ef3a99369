"""Documentation: builds without a warning, structure of pages, and commands in them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from in_process import Finished

from voicenym.anonymizer import available

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
HEADINGS = ["Use", "How it works", "Live", "Parameters", "Approximations", "Limits", "Figures"]
MOST_BYTES = 60_000
BLOCK = r"^```(\w*)\n(.*?)^```$"
GROUPS = ("cache", "cards", "key", "listen", "models", "pool", "train")
"""Commands that have commands."""


@pytest.mark.skipif(not find_spec("mkdocstrings"), reason="needs pip install .[docs]")
def test_the_documentation_builds_without_a_warning(tmp_path: Path) -> None:
    """Links, anchors, the navigation and names in the reference: --strict fails on each."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    reference = (tmp_path / "reference" / "index.html").read_text("utf-8")
    assert 'id="voicenym.anonymizer.load"' in reference
    assert ":func:" not in reference  # Sphinx roles are rewritten


def test_every_system_has_a_page_with_the_same_headings() -> None:
    assert {path.stem for path in (DOCS / "systems").glob("*.md")} == {*available(), "index"}
    for name in available():
        text = (DOCS / "systems" / f"{name}.md").read_text("utf-8")
        found = re.findall(r"^## (.*)$", text, re.M)
        assert [heading for heading in found if heading in HEADINGS] == HEADINGS, name
        assert set(found) <= {*HEADINGS, "Revisions", "Training"}, name


def test_every_page_begins_with_a_title_and_a_sentence() -> None:
    for path in DOCS.rglob("*.md"):
        if path.name == "changelog.md":  # includes CHANGELOG.md
            continue
        title, empty, first = path.read_text("utf-8").split("\n")[:3]
        assert title.startswith("# "), path
        assert not empty, path
        assert re.match(r"[\w`*\[]", first), path


def test_the_glossary_is_sorted_and_has_one_line_a_term() -> None:
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", (DOCS / "glossary.md").read_text("utf-8"), re.M)[2:]
    assert len(rows) > 60
    terms = [term.lower().replace("_", "-") for term, _ in rows]
    assert len(set(terms)) == len(terms)
    first = [re.sub(r"[^a-z]", "", term)[:1] for term in terms]
    assert first == sorted(first)


def test_pictures_are_small_and_shown() -> None:
    pages = "".join(path.read_text("utf-8") for path in DOCS.rglob("*.md"))
    for picture in (DOCS / "pictures").iterdir():
        assert picture.stat().st_size < MOST_BYTES, picture.name
        assert f"pictures/{picture.name})" in pages, picture.name


def test_every_table_has_a_header() -> None:
    """Rows that a blank line parts from their header are shown as text."""
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        text = re.sub(BLOCK, "", page.read_text("utf-8"), flags=re.M | re.S)
        for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
            header, rule, *_ = [*table.splitlines(), ""]
            assert re.fullmatch(r"\|[\s:|-]+\|", rule), (page, header)


def test_the_source_names_pages_that_are_there() -> None:
    """Messages and docstrings send readers to docs/PAGE.md."""
    named = set()
    for path in [*ROOT.glob("*.md"), ROOT / "Makefile", ROOT / "pyproject.toml"]:
        named |= set(re.findall(r"docs/[\w/-]+\.md", path.read_text("utf-8")))
    for folder in ("src", "benchmarks", "tools"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".md", ".yaml"):
                named |= set(re.findall(r"docs/[\w/-]+\.md", path.read_text("utf-8")))
    assert len(named) > 10
    for page in named - {"docs/systems/NAME.md", "docs/PAGE.md"}:
        assert (ROOT / page).is_file(), page


def test_commands_in_the_docs_have_the_options_that_they_show(
    command: Callable[..., Finished],
) -> None:
    """Each ``voicenym COMMAND --option`` of a code block, against the command's own help."""
    shown: dict[tuple[str, ...], set[str]] = {}
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        for language, block in re.findall(BLOCK, page.read_text("utf-8"), re.M | re.S):
            if language not in ("", "sh"):
                continue
            for line in block.replace("\\\n", " ").splitlines():
                words = line.partition("  #")[0].split()
                if words[:1] == ["voicenym"]:
                    name = tuple(words[1:3] if words[1] in GROUPS else words[1:2])
                    options = {word for word in words if re.match(r"--?[a-z]", word)}
                    shown.setdefault(name, set()).update(options)
    assert len(shown) > 30
    for name, options in shown.items():
        done = command(*name, "--help")
        assert done.returncode == 0, name
        known = set(re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", done.stdout.decode()))
        assert options <= known, (name, options - known)
