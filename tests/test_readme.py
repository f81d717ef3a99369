"""Snippets of the README and of tutorials run unchanged; the README names every system."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import pytest
from in_process import Finished

import voicenym
from voicenym.anonymizer import available, load

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
TUTORIALS = ("first-file", "corpus", "measuring", "training")
PAGES = ("README.md", *(f"docs/tutorials/{name}.md" for name in TUTORIALS))
"""Their ``sh`` and ``python`` blocks run; a block without a language is an example to read."""
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MOST_LINES = 150
SENTENCES = (
    "They promised me that nobody would know my name.",
    "So I told them what I had seen.",
)
"""Of the sample, which has a pause between them."""
SMALL = {
    "anonymize": "--workers 1",
    "evaluate": "--enrolment 1 --tried 1 --keys 1 --replicates 20 --sample 1 --any-sex"
    " --no-denoise",
    "verifier": "--steps 2 --batch 4 --workers 0",
    "hybrid": "--steps 2 --batch 2 --workers 0",
    "resynthesis": "--config ./resynthesis.yaml --steps 1 --workers 0",
}
"""Options that make a tutorial's command small; they are added at its end."""
RESYNTHESIS = """
content: {width: 8, inner: 12, blocks: 1, size: 4}
options: {width: 16, inner: 24, blocks: 1, lookahead: 3, speaker_width: 8}
rank: 2
seconds: 0.5
batch: 2
"""
SMALL_VERIFIER = """
options: {channels: 16, size: 12, attention: 8, squeeze: 8}
batch: 4
steps: 2
seconds: 0.5
"""
BRIEF = "--attacker-budget 1s --attacker-config ./small.yaml --attacker verifier"


def blocks(page: str) -> list[tuple[str, str]]:
    """The language and the text of each block of a page."""
    return BLOCK.findall((ROOT / page).read_text("utf-8"))


def commands(text: str) -> list[str]:
    lines = [line.partition(" #")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line]


def smaller(arguments: list[str]) -> list[str]:
    """Options that make a command of a tutorial small."""
    name = arguments[1] if arguments[0] == "train" else arguments[0]
    found = SMALL.get(name, "").split()
    if name == "evaluate":
        trains = "--attacker-budget" in arguments
        found += BRIEF.split() if trains else ["--attacker", "lazy"]
    if name == "evaluate" and "--recogniser" not in arguments:
        found += ["--recogniser", "none"]
    return found


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
    """A folder with what the snippets name: an interview and a corpus of two speakers."""
    encode_m4a(sample, tmp_path / "interview.m4a")
    shutil.copy(sample, tmp_path / "interview.wav")
    for speaker in ("anna", "bert"):
        (tmp_path / "corpus" / speaker).mkdir(parents=True)
        for number in (1, 2):
            shutil.copy(sample, tmp_path / "corpus" / speaker / f"{number}.wav")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def speakers(sample: Path, folder: Path, factors: tuple[float, ...], texts: int = 0) -> None:
    """Two recordings of each speaker: parts of the sample at another speed and pitch.

    With texts, the first speakers have the sample's whole sentences, and the others two seconds of
    each.
    """
    import numpy as np
    import soundfile
    import soxr

    samples, rate = soundfile.read(sample, dtype="float32")
    hop = rate // 100
    levels = np.square(samples[: len(samples) // hop * hop]).reshape(-1, hop).mean(1)
    middle = (100 + int(np.convolve(levels, np.ones(12), "same")[100:-100].argmin())) * hop
    for number, factor in enumerate(factors):
        speaker = folder / f"of-{folder.name}-{number}"  # test0 would be no person
        speaker.mkdir(parents=True)
        for name, half, text in zip(
            "ab", (samples[:middle], samples[middle:]), SENTENCES, strict=True
        ):
            whole = number < texts
            part = half if whole else half[rate // 4 : 2 * rate + rate // 10]
            soundfile.write(speaker / f"{name}.wav", soxr.resample(part, rate, rate * factor), rate)
            if whole:
                (speaker / f"{name}.txt").write_text(text)


@pytest.fixture
def small(desk: Path, sample: Path) -> Path:
    """What tutorials name beside: corpora with texts, a recording, and a small configuration."""
    shutil.rmtree(desk / "corpus")
    speakers(sample, desk / "corpus", (0.9, 1.0, 1.1, 0.85, 1.05, 1.16), texts=2)
    speakers(sample, desk / "others", (0.82, 0.88, 0.94, 0.98, 1.04, 1.12))
    speakers(sample, desk / "other-corpus", (0.86, 1.1))
    speakers(sample, desk / "test", (0.96, 1.06), texts=1)
    shutil.copy(desk / "test" / "of-test-1" / "a.wav", desk / "talk.wav")
    (desk / "small.yaml").write_text(SMALL_VERIFIER)
    (desk / "resynthesis.yaml").write_text(RESYNTHESIS)
    return desk


@pytest.mark.usefixtures("one_processor", "brief")
@pytest.mark.parametrize("page", PAGES)
def test_the_snippets_of_a_page_run_in_order(
    page: str, desk: Path, request: pytest.FixtureRequest, command: Callable[..., Finished]
) -> None:
    if page.endswith(("measuring.md", "training.md")):
        request.getfixturevalue("small")
    languages = {language for language, _ in blocks(page)}
    assert "sh" in languages
    assert languages <= {"sh", "python", ""}
    for number, (language, text) in enumerate(blocks(page), 1):
        if language == "python":
            exec(compile(text, f"{page}, block {number}", "exec"), {})
        for line in commands(text) if language == "sh" else ():
            program, *arguments = shlex.split(line)
            assert program == "voicenym", line
            if arguments[0] in ("audit", "evaluate") and not find_spec("speechmos"):
                continue  # needs pip install .[evaluate]
            if arguments[0] == "train" and not find_spec("lightning"):
                continue  # needs pip install .[train]
            if page == "README.md":  # its evaluation runs the usual attackers, and draws
                arguments += SMALL["evaluate"].split() if arguments[0] == "evaluate" else []
            else:
                arguments += smaller(arguments)
            done = command(*arguments)
            assert done.returncode == 0, f"{page}: {line}\n{done.stdout!r}\n{done.stderr!r}"
    CHECKS[page](desk)


def check_readme(desk: Path) -> None:
    assert (desk / "interview.anon.m4a").stat().st_size > 1000
    original, changed = voicenym.read("interview.m4a"), voicenym.read("out.m4a")
    assert original.samples.shape == changed.samples.shape
    assert not original.samples.equal(changed.samples)
    for speaker in ("anna", "bert"):
        output = desk / "anon" / speaker / "1.wav"
        assert output.read_bytes() != (desk / "corpus" / speaker / "1.wav").read_bytes()


def check_first_file(desk: Path) -> None:
    monday = (desk / "monday.wav").read_bytes()
    assert monday == (desk / "tuesday.wav").read_bytes()
    assert monday != (desk / "interview.anon.wav").read_bytes()
    same = voicenym.read("monday.wav").samples - voicenym.read("interview.python.wav").samples
    assert same.abs().max() < 1e-3  # but for the 16 bits of the file


def check_corpus(desk: Path) -> None:
    assert len(list((desk / "anon").glob("*/*.wav"))) == 4
    names = {path.parent.name for path in (desk / "published").glob("*/*.wav")}
    assert len(names) == 2
    assert not names & {"anna", "bert"}


def check_measuring(desk: Path) -> None:
    if not find_spec("speechmos"):
        return
    for name in ("report", "report-recast", "report-base"):
        assert (desk / name / "index.html").stat().st_size > 1000
        assert (desk / name / "results.json").is_file()
        assert not (desk / name / "cache.sqlite").exists()  # removed in the last step


def check_training(desk: Path) -> None:
    if not find_spec("lightning"):
        return
    for name in ("my-verifier", "my-recogniser", "my-base"):
        assert (desk / name / "model.safetensors").is_file()
        assert "sha256" in (desk / name / "config.json").read_text("utf-8")
    assert not (desk / "my-verifier" / "speech").exists()  # removed by cache clear
    talk, output = voicenym.read("talk.wav"), voicenym.read("talk.anon.wav")
    assert talk.samples.shape == output.samples.shape
    assert not talk.samples.equal(output.samples)


CHECKS = {
    "README.md": check_readme,
    "docs/tutorials/first-file.md": check_first_file,
    "docs/tutorials/corpus.md": check_corpus,
    "docs/tutorials/measuring.md": check_measuring,
    "docs/tutorials/training.md": check_training,
}


def test_every_block_of_the_readme_runs() -> None:
    assert {language for language, _ in blocks("README.md")} == {"sh", "python"}


def test_the_readme_is_short() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= MOST_LINES


def test_the_start_takes_eight_lines() -> None:
    start = next(text for language, text in blocks("README.md") if language == "python")
    assert len(start.split("\n")) <= 9


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


@pytest.mark.slow
def test_the_types_of_the_snippets_are_those_that_a_strict_user_sees(tmp_path: Path) -> None:
    """mypy --strict on README's Python as another project checks it, by voicenym's own types."""
    text = (ROOT / "README.md").read_text("utf-8")
    snippets = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert snippets
    module = tmp_path / "snippets.py"
    module.write_text("\n".join(snippets), "utf-8")
    # the same as for the package, whose types are then in the cache
    options = ["--strict", "--config-file", "pyproject.toml"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(module)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
