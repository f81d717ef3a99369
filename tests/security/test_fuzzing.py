"""Damaged input of every kind is read, or refused by an error that names it: a small part of the
run that ``make fuzz`` does; and the run itself finds what it is to find.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
from pathlib import Path

import hypothesis
import numpy as np
import pytest
import soundfile
from hypothesis import strategies

from voicenym.errors import LONGEST, KeyFileError, UnknownSystemError, VoicenymError
from voicenym.pseudonym import Key

FOLDER = Path(__file__).parent / "fuzzing"
INPUTS = 24
"""Of each kind, times its weight up to two."""
NEEDS = {"lhotse cuts": ("lhotse",), "recipe": ("yaml",), "texts and lists": ("scipy",)}
NEEDS["log of a run"] = ("voicenym.corpus.run_records.run_log",)
NEEDS["comparison"] = ("voicenym.corpus.nearness.near_original",)
OTHERS = ("mutating", "targets", "running")


@pytest.fixture(scope="module")
def fuzzing():
    """The modules of the fuzzing run."""
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: importlib.import_module(name) for name in OTHERS}
    finally:
        sys.path.remove(str(FOLDER))
        for name in OTHERS:
            sys.modules.pop(name, None)


NAMES = (
    "audio", "TSV manifest", "Kaldi folder", "lhotse cuts", "texts and lists", "key file", "recipe",
    "weights", "settings", "log of a run", "results",
    "comparison",
)  # fmt: skip


SKIPPING = ("log of a run", "comparison")
"""What refuses nothing: a log's damaged lines are left out, any two signals can be compared."""


def test_every_target_is_tried_below(fuzzing):
    assert {target.name for target in fuzzing["targets"].TARGETS} == set(NAMES)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
@pytest.mark.parametrize("name", NAMES)
def test_damaged_input_is_read_or_refused(fuzzing, name):
    for module in NEEDS.get(name, ()):
        pytest.importorskip(module)
    target = next(t for t in fuzzing["targets"].TARGETS if t.name == name)
    count = INPUTS * min(target.weight, 2)
    report = fuzzing["running"].run(target, count, seed=18)
    assert report.findings == {}
    assert report.count == count
    assert report.read + report.refused == count
    if name not in SKIPPING:
        assert report.read < count, "nothing was damaged"


def fake(fuzzing, read):
    def make(folder):
        (folder / "a.txt").write_text("something\n" * 5)
        return ["a.txt"]

    targets, mutating = fuzzing["targets"], fuzzing["mutating"]
    return targets.Target("fake", make, read, mutating.mutated_bytes)


def wrong(what):
    """A reader that goes wrong at every fourth input that it sees."""
    seen = []

    def read(folder, path):
        seen.append(path)
        if len(seen) % 4 == 0:
            what(path)
        elif len(seen) % 4 == 1:
            raise VoicenymError(f"{path}: is damaged; mend it")

    return read


def _memory(path):
    bytearray(64 << 30)


@pytest.mark.parametrize(
    ("what", "found"),
    [
        (lambda path: {}["x"], "KeyError in test_fuzzing.py"),
        (lambda path: os.kill(os.getpid(), signal.SIGSEGV), "dies of signal 11"),
        (lambda path: signal.pause(), "hangs"),
        (_memory, "takes too much memory"),
    ],
)
def test_what_goes_wrong_is_found_and_the_run_goes_on(fuzzing, monkeypatch, what, found):
    monkeypatch.setattr(fuzzing["running"], "PATIENCE", 3.0)
    limit = resource.getrlimit(resource.RLIMIT_AS)
    report = fuzzing["running"].run(fake(fuzzing, wrong(what)), 8)
    assert report.count == 8
    assert next(where[0] for name, where in report.findings.items() if found in name) == 3
    assert sum(map(len, report.findings.values())) == 2
    assert resource.getrlimit(resource.RLIMIT_AS) == limit, "only children are limited"


def test_messages_are_judged(fuzzing):
    running = fuzzing["running"]
    folder, path = Path("/f/damaged"), Path("/f/damaged/a.key")
    assert running._message(f"{path}: is damaged; mend it", folder, path) == "refused"
    assert "names no file" in running._message("is damaged", folder, path)
    assert "several lines" in running._message(f"{path}: is\ndamaged", folder, path)
    assert "characters and more" in running._message(f"{path}: " + "no " * 500, folder, path)


def test_the_same_seed_damages_alike(fuzzing, tmp_path):
    running, targets = fuzzing["running"], fuzzing["targets"]
    target = next(t for t in targets.TARGETS if t.name == "key file")
    (tmp_path / "valid").mkdir()
    files = target.make(tmp_path / "valid")

    def damaged(index, seed):
        path = running.damaged(target, tmp_path / "valid", files, index, seed, tmp_path / "damaged")
        return path.read_bytes()

    assert damaged(3, 0) == damaged(3, 0)
    assert len({damaged(index, seed) for index in range(5) for seed in range(3)}) > 10


def test_messages_quote_long_words_in_part():
    long = "x" * (LONGEST + 1)
    quoted = str(VoicenymError(f"a.tsv: no column {long} in it"))
    assert quoted == f"a.tsv: no column {'x' * 60}... in it"
    name = "y" * LONGEST
    assert name in str(VoicenymError(f"/tmp/{name}/{name}: missing"))


def test_what_was_found_once_is_refused(tmp_path):
    """Inputs that raised something else, or gave no numbers, before."""
    from voicenym.audio import read
    from voicenym.errors import AudioError
    from voicenym.evaluation.results_file import load as report
    from voicenym.nets.speakers import speaker_encoders
    from voicenym.recognition.sphinx_processes.alignment import Alignments
    from voicenym.training.run.config import load as recipe
    from voicenym.training.speakers.train_ivector import IVectorConfig

    noise = np.random.default_rng(0).standard_normal(4_000)
    soundfile.write(tmp_path / "a.flac", 0.1 * noise, 16_000)
    flac = bytearray((tmp_path / "a.flac").read_bytes())
    flac[-3_000:] = bytes(3_000)
    (tmp_path / "a.flac").write_bytes(flac)
    with pytest.raises(AudioError, match=r"a\.flac: is damaged"):
        read(tmp_path / "a.flac")
    noise[2_000] = 1e30
    soundfile.write(tmp_path / "loud.wav", noise, 16_000, subtype="FLOAT")
    with pytest.raises(AudioError, match=r"loud\.wav: .*far beyond full scale"):
        read(tmp_path / "loud.wav")

    (tmp_path / "a.yaml").write_bytes(b"components: \xff\xfe")
    with pytest.raises(VoicenymError, match=r"a\.yaml: cannot be read"):
        recipe(str(tmp_path / "a.yaml"), IVectorConfig)
    (tmp_path / "a.yaml").write_text("piece: -1.0")
    with pytest.raises(VoicenymError, match=r"a\.yaml: rank and piece"):
        recipe(str(tmp_path / "a.yaml"), IVectorConfig)
    (tmp_path / "alignments.jsonl").write_bytes(b"\xff\xfe\n")
    with pytest.raises(VoicenymError, match=r"alignments\.jsonl: cannot be read as text"):
        Alignments(tmp_path / "alignments.jsonl", {})
    (tmp_path / "results.json").write_text('{"format": 1, "utility": {"WER": null}}')
    with pytest.raises(VoicenymError, match=r"results\.json: is no report"):
        report(tmp_path)
    sizes = {"channels": 8, "size": 4, "attention": 4, "squeeze": 4}
    speaker_encoders.save(speaker_encoders.make("ecapa", sizes), tmp_path / "net")
    config = tmp_path / "net" / "config.json"
    for options in (None, [], {**sizes, "squeeze": 0}, {**sizes, "channels": -8}):
        recorded = json.loads(config.read_text())
        config.write_text(json.dumps({**recorded, "options": options}))
        with pytest.raises(VoicenymError, match=str(tmp_path / "net")):
            speaker_encoders.load(tmp_path / "net")


@hypothesis.given(strategies.binary(max_size=200))
def test_a_key_is_read_or_refused(data):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.key"
        path.write_bytes(data)
        with pytest.raises(KeyFileError, match=r"a\.key"):
            Key.load(path)


@hypothesis.given(strategies.text(max_size=60))
def test_a_setting_is_taken_or_refused(text):
    from voicenym.anonymizer import SYSTEMS, load

    with contextlib.suppress(UnknownSystemError):
        load("mcadams", **SYSTEMS.settings("mcadams", [text]))
