"""The README's snippets run as they stand, and its table names every system."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import pytest

import voicenym
from voicenym.anonymizer import available, load

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(*languages: str) -> list[str]:
    text = README.read_text("utf-8")
    return [body for language, body in BLOCK.findall(text) if language in languages]


def commands() -> list[str]:
    lines = "".join(blocks("sh", "console")).splitlines()
    return [line.removeprefix("$ ").partition(" #")[0].strip() for line in lines if line.strip()]


def encode_m4a(source: Path, target: Path) -> None:
    """The sample as a telephone's recorder would store it."""
    import av

    with av.open(str(source)) as reader, av.open(str(target), "w", format="ipod") as writer:
        stream = writer.add_stream("aac", rate=16000, layout="mono")
        stream.time_base = Fraction(1, 16000)
        for frame in reader.decode(audio=0):
            writer.mux(stream.encode(frame))
        writer.mux(stream.encode(None))


@pytest.fixture
def desk(tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the snippets speak of: an interview and a corpus of two speakers."""
    encode_m4a(sample, tmp_path / "interview.m4a")
    for speaker in ("anna", "bert"):
        (tmp_path / "corpus" / speaker).mkdir(parents=True)
        for number in (1, 2):
            shutil.copy(sample, tmp_path / "corpus" / speaker / f"{number}.wav")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def test_there_are_snippets_of_both_kinds() -> None:
    assert len(blocks("python")) >= 2
    assert len(commands()) >= 3
    assert {language for language, _ in BLOCK.findall(README.read_text("utf-8"))} <= {
        "python",
        "sh",
        "console",
    }


def test_the_commands_run_in_order(desk: Path) -> None:
    for command in commands():
        if command.split()[1] in ("audit", "evaluate") and not find_spec("safetensors"):
            continue
        done = subprocess.run(
            command, shell=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    assert (desk / "interview.anon.m4a").stat().st_size > 1000
    for speaker in ("anna", "bert"):
        output = desk / "anon" / speaker / "1.wav"
        assert output.is_file()
        assert output.read_bytes() != (desk / "corpus" / speaker / "1.wav").read_bytes()


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_a_python_snippet_runs(number: int, desk: Path) -> None:
    exec(compile(blocks("python")[number], f"README.md, snippet {number + 1}", "exec"), {})
    if number == 0:
        original, changed = voicenym.read("interview.m4a"), voicenym.read("out.m4a")
        assert original.samples.shape == changed.samples.shape
        assert not original.samples.equal(changed.samples)


def test_the_start_takes_eight_lines() -> None:
    assert len(blocks("python")[0].split("\n")) <= 9


def test_the_table_names_every_system_and_no_other() -> None:
    named = re.findall(
        r"^\| \[`([a-z0-9-]+)`\]\(docs/systems/\1\.md\) \|", README.read_text("utf-8"), re.M
    )
    assert sorted(named) == available()


def test_the_table_says_which_systems_work_live() -> None:
    text = README.read_text("utf-8")
    for name in available():
        row = re.search(rf"^\| \[`{name}`\].*\| ([^|]*) \|$", text, re.MULTILINE)
        assert row, name
        system = load(name)
        live = not system.needs_profile or getattr(system, "profile_optional", False)
        assert row[1].startswith("yes" if live else "no"), name


def test_relative_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", README.read_text("utf-8")):
        assert (README.parent / target).exists(), target
