"""A resumed run has the frozen networks of its start."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import get_args

import pytest

import voicenym
from voicenym.errors import VoicenymError
from voicenym.registry import Entry
from voicenym.registry.parameters import alternatives
from voicenym.training.recipe import Recipe, Trained, option
from voicenym.training.recipes import RECIPES
from voicenym.training.run.teacher_check import TEACHERS_FILE

NO_TEACHERS = {
    "data", "test", "readings", "other", "music", "source", "vectors", "states",  # speech
    "lexicon", "alignments", "accents", "split", "corpus", "test_split", "test_corpus",
    "other_split", "other_corpus", "language",
    "output", "cache", "config", "budget", "accelerator", "precision",  # of the run
    "system", "systems", "per", "form", "tracker", "covariance",  # names without weights
    "start", "encoder", "former_content",  # weights that it begins with, and then changes
    "content", "speaker", "features",  # of synthesizer, register, units: see below
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Pupil(Recipe):
    """Learn nothing, and leave a checkpoint.

    Args:
        whisper: A network.
        judges: Networks.
        pipeline: Its content.
        plain: A folder that is not checked.
    """

    whisper: str | None = option(default=None, teacher=True)
    judges: tuple[str, ...] = option("--judge", default=(), teacher=True)
    pipeline: Path | None = option(default=None, teacher=("content",))
    plain: Path | None = None

    def run(self, report):
        if self.plain == Path("nowhere"):
            raise VoicenymError("nowhere: does not exist")
        (self.output / "last.ckpt").write_bytes(b"")
        return Trained(self.output, 1, {})


@pytest.fixture
def pupil(monkeypatch, tmp_path):
    monkeypatch.setitem(RECIPES.own, "pupil", Entry(Pupil))
    return lambda **options: voicenym.train("pupil", out=tmp_path / "out", **options)


@pytest.fixture
def network(tmp_path):
    """Writes a folder of weights with a part."""

    def write(name, weights=b"1", part=b"2", config="{}"):
        folder = tmp_path / name
        (folder / "part").mkdir(parents=True, exist_ok=True)
        for place, content in ((folder, weights), (folder / "part", part)):
            (place / "model.safetensors").write_bytes(content)
            (place / "config.json").write_text(config)
        return str(folder)

    return write


def test_a_changed_teacher_is_refused_and_the_same_one_in_another_place_is_not(pupil, network):
    a = network("a")
    pupil(whisper=a)
    pupil(whisper=a)
    pupil(whisper=network("moved"), plain=a)  # only the weights count
    (Path(a) / "curve.jsonl").write_text("{}")  # what its own training leaves there does not
    pupil(whisper=a, plain=network("b", b"3"))
    for changed in (network("b", b"3"), network("c", part=b"3"), network("d", config='{"x": 1}')):
        with pytest.raises(
            VoicenymError, match=r"other weights of --whisper than .*another folder"
        ):
            pupil(whisper=changed)
    with pytest.raises(VoicenymError, match="started with --whisper, and this is without"):
        pupil()
    with pytest.raises(VoicenymError, match="started with no --judge"):
        pupil(whisper=a, judges=["ecapa-small"])
    pupil(whisper=a)


def test_of_a_pipeline_only_the_parts_that_are_read_count(pupil, tmp_path):
    """What a training made is assembled into the pipeline that it read, and it goes on."""
    config = tmp_path / "pipeline" / "config.json"
    config.parent.mkdir()
    config.write_text('{"kind": "pipeline", "tracker": "yaapt", "parts": {"content": "1"}}')
    pupil(pipeline=config.parent)
    text = config.read_text()
    config.write_text(text.replace("}}", ', "durations": "2"}}'))
    pupil(pipeline=config.parent)
    for other in (text.replace('"1"', '"2"'), text.replace("yaapt", "dio")):
        config.write_text(other)
        with pytest.raises(VoicenymError, match="other weights of --pipeline than"):
            pupil(pipeline=config.parent)


def test_a_run_that_fails_at_its_start_leaves_no_folder(pupil, tmp_path):
    with pytest.raises(VoicenymError, match="nowhere"):
        pupil(whisper="whisper-tiny.en", plain="nowhere")
    assert not (tmp_path / "out").exists()
    pupil(judges=["ecapa-small"])
    with pytest.raises(VoicenymError, match="nowhere"):
        pupil(judges=["ecapa-small"], plain="nowhere")
    assert (tmp_path / "out" / TEACHERS_FILE).exists()


def test_kinds_and_names_count(pupil, network, tmp_path):
    a = network("a")
    pupil(judges=["ecapa-small", f"ecapa:{a}"])
    for other in (["ecapa-small"], ["ecapa-small", f"xvector:{a}"], [f"ecapa:{a}", "ecapa-small"]):
        with pytest.raises(VoicenymError, match="other weights of --judge than"):
            pupil(judges=other)
    (tmp_path / "out" / "last.ckpt").unlink()  # nothing was learnt: it may begin anew
    pupil(judges=["ecapa-small"])


def test_runs_of_earlier_releases_go_on_and_a_damaged_record_is_named(pupil, network, tmp_path):
    pupil(whisper=network("a"))
    (tmp_path / "out" / TEACHERS_FILE).unlink()
    pupil(whisper=network("b", b"3"))
    (tmp_path / "out" / TEACHERS_FILE).write_text("{")
    with pytest.raises(VoicenymError, match=r"teachers\.json: is damaged"):
        pupil(whisper=network("b", b"3"))


@pytest.mark.parametrize("name", RECIPES.names())
def test_every_option_that_may_name_a_network_says_whether_it_is_a_teacher(name):
    """synthesizer checks content and speaker itself; the others have no checkpoints."""
    takes = {
        item.name
        for item in RECIPES.parameters(name)
        if {str, Path} & {*alternatives(item.annotation), *get_args(item.annotation)}
    }
    about = {item.name: item.metadata for item in fields(RECIPES.get(name))}
    teachers = {option for option in takes if about[option].get("teacher")}
    assert takes - teachers <= NO_TEACHERS
    if name not in ("synthesizer", "frequency-voices", "register", "units"):
        assert not (takes - teachers) & {"content", "speaker", "features"}
