"""A damaged recording of a corpus, or a killed worker, costs one recording, which is named."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.attack.attackers import enrolment_vectors, trial_vectors
from voicenym.attack.scenario import Model, Protection, Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings
from voicenym.corpus.skipped import LeftOut, reason
from voicenym.corpus.transforms import Anonymize, Transform
from voicenym.corpus.workers.worker_pool import Death
from voicenym.errors import VoicenymError, WeightsError
from voicenym.evaluation import results_file
from voicenym.nets.checkpoint import configuration
from voicenym.pseudonym import Key
from voicenym.registry import Entry
from voicenym.training.speech.speech_cache import SpeechCache
from voicenym.verification import verifiers as verifiers
from voicenym.verification.voice_statistics import VoiceStatistics

RATE = 16_000
OPTIONS = ["--keys", "2", "--replicates", "20", "--enrolment", "2", "--tried", "2", "--sample", "2"]
OPTIONS += ["--recogniser", "none", "--verifier", "resemblyzer", "--no-denoise"]
OPTIONS += ["--attacker", "ignorant"]
REASONS = {
    "missing": "missing; restore it",
    "empty": "is empty (0 bytes)",
    "text": "text.wav",
    "cut": "cut.wav",
    "silent": "silent",
    "short": "shorter than 0.1 s",
    "nan": "NaN",
}
"""How a recording is damaged, and the reason that is given."""


def damage(kind: str, path: Path) -> None:
    """A file that is damaged in one way."""
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "text":
        path.write_text("this is a letter to my aunt " * 50)
    elif kind == "cut":
        whole = path.with_suffix(".flac")
        soundfile.write(whole, 0.1 * np.random.default_rng(0).standard_normal(RATE), RATE)
        path.write_bytes(whole.read_bytes()[:9_000])
        whole.unlink()
    elif kind != "missing":
        samples = np.full(1_000 if kind == "short" else RATE, 0.0 if kind == "silent" else 0.1)
        if kind == "nan":
            samples[5_000] = np.nan
        soundfile.write(path, samples, RATE, subtype="FLOAT")


def run(*arguments: object):
    found = CliRunner().invoke(app, [str(a) for a in arguments])
    if found.exception and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


@pytest.fixture
def desk(corpus, spectrum, tmp_path, monkeypatch, one_processor):
    """A manifest of a sound corpus, for evaluate; and a verifier without weights."""
    monkeypatch.setitem(verifiers.VERIFIERS.own, "resemblyzer", Entry(lambda: spectrum))
    root = tmp_path / "speech"
    root.mkdir()
    rows = ["utterance\tpath\tspeaker\tgender"]
    for one in corpus:
        shutil.copy(one.path, root / f"{one.name}.wav")
        rows.append(f"{one.name}\t{one.name}.wav\t{one.speaker}\t{one.sex}")
    (root / "manifest.tsv").write_text("\n".join(rows) + "\n")
    return root


def damaged(root: Path, sexes: bool = True) -> None:
    """Add a recording of every kind of damage to a manifest, each of another speaker."""
    rows = []
    for number, kind in enumerate(REASONS):
        damage(kind, root / f"{kind}.wav")
        sex = "fm"[number % 6 % 2] if sexes else ""
        rows.append(f"{kind}\t{kind}.wav\ts{number % 6}\t{sex}")
    with (root / "manifest.tsv").open("a") as file:
        file.write("\n".join(rows) + "\n")


@pytest.mark.usefixtures("brief")
def test_evaluate_leaves_out_what_is_damaged_names_it_and_counts_it(desk, tmp_path):
    damaged(desk)
    report = tmp_path / "report"
    command = ["evaluate", desk, "-o", report, "--system", "vtln", *OPTIONS]
    command += ["--enrolment", "4", "--tried", "4"]  # so that all recordings are used
    done = run(*command)
    assert done.exit_code == 1
    assert f"{len(REASONS)} recordings were left out" in done.stderr
    for kind, why in REASONS.items():
        assert any(kind in line and why in line for line in done.stderr.splitlines()), kind
    found = results_file.load(report)
    assert {one.name for one in found.left_out} == set(REASONS)
    assert all(one.step == "" for one in found.left_out)
    assert f"{len(REASONS)} recordings could not be used" in found.warnings[0]
    assert "more than a tenth" in found.warnings[0]
    assert np.isfinite(found.systems[0].attacks[0].eer.value)
    page = (report / "index.html").read_text()
    assert "<h3>Left out</h3>" in page
    for kind in REASONS:
        assert f"{kind}: " in page


def test_evaluate_stops_at_the_first_one_when_asked(desk, tmp_path):
    damaged(desk)
    with pytest.raises(VoicenymError, match=r"missing.wav: missing \(1 of 31 files"):
        run("evaluate", desk, "-o", tmp_path / "r", "--system", "vtln", "--fail-fast", *OPTIONS)
    assert not (tmp_path / "r" / "index.html").exists()


def test_too_little_that_is_left_says_what_was_left_out(tmp_path, desk):
    lines = (desk / "manifest.tsv").read_text().splitlines()
    kept = [line for line in lines if line.startswith(("utterance", "s0", "s2-u0", "s2-u1"))]
    (desk / "manifest.tsv").write_text("\n".join(kept) + "\n")
    for name in ("s2-u0", "s2-u1"):
        damage("silent", desk / f"{name}.wav")
    message = r"too little is left .*\n2 recordings .*\n.*s2-u[01].wav"
    with pytest.raises(VoicenymError, match=message):
        run("evaluate", desk, "-o", tmp_path / "r", "--system", "vtln", *OPTIONS)


@pytest.mark.usefixtures("brief")
def test_a_system_that_fails_on_a_trial_does_not_gain_by_it(desk, tmp_path, monkeypatch):
    """The trial is lost for every system, and counted beside the one that failed on it."""
    real, wrong = Anonymize.__call__, set()

    def failing(self, samples, recording):
        if self.system == "mcadams" and recording.name in wrong:
            raise ZeroDivisionError("a pole at zero")
        return real(self, samples, recording)

    monkeypatch.setattr(Anonymize, "__call__", failing)
    names = [f"s{s}-u{u}" for s in range(6) for u in range(4)]
    wrong |= set(names[:2])  # of one speaker; whether enrolled or tried is drawn
    report = tmp_path / "report"
    command = ["evaluate", desk, "-o", report, "--system", "mcadams", "--system", "vtln", *OPTIONS]
    clean = tmp_path / "clean"
    wrong.clear()
    assert run("evaluate", desk, "-o", clean, "--system", "mcadams", *OPTIONS).exit_code == 0
    tried = results_file.load(clean).systems[0].attacks[0].targets
    wrong |= {f"s{s}-u{u}" for s in range(6) for u in range(4) if u == 0}
    done = run(*command)
    assert done.exit_code == 1
    found = results_file.load(report)
    mcadams, vtln = found.systems
    assert mcadams.left_out > 0
    assert vtln.left_out == 0
    assert mcadams.attacks[0].targets == vtln.attacks[0].targets == tried - mcadams.left_out
    assert {one.step for one in found.left_out} == {"mcadams"}
    assert f"mcadams failed on {mcadams.left_out} of {tried} trials" in found.warnings[0]
    assert "ZeroDivisionError (a pole at zero)" in done.stderr
    assert f"The system failed on {mcadams.left_out} trial" in (report / "index.html").read_text()

    wrong |= set(names)
    shutil.rmtree(report)
    done = run(*command)
    assert done.exit_code == 1
    found = results_file.load(report)
    assert [system.name for system in found.systems] == ["vtln"]
    assert f"mcadams failed on {tried} of {tried} trials" in found.warnings[0]
    assert "is left out" in found.warnings[0]


class Failing:
    """A step that fails on some recordings."""

    description = "failing"

    def __init__(self, *names):
        self.names = names

    def identity(self, recording):
        return f"failing {self.names}"

    def __call__(self, samples, recording):
        if recording.name in self.names or not self.names:
            raise FloatingPointError
        return samples[::-1].copy()


def test_an_attacker_whose_own_processing_fails_still_attacks(corpus):
    own = [[r for r in corpus if r.speaker == f"s{s}"] for s in range(2)]
    models = tuple(Model(r[0].speaker, r[0].speaker, tuple(r[:2])) for r in own)
    trials = tuple(r[2] for r in own)
    case = Scenario(models, trials, Protection(Transform()), Key(bytes(32)))
    embedder, verifier = Embedder(left_out=LeftOut()), VoiceStatistics()
    for step in (Failing(trials[0].name), Failing()):
        kept = trial_vectors(case, verifier, embedder, step)
        np.testing.assert_array_equal(kept[0], embedder(verifier, trials[:1])[0])
    wrong = Transform((Failing(own[0][0].name, own[1][0].name, own[1][1].name),))
    one, other = enrolment_vectors(case, verifier, embedder, wrong)
    np.testing.assert_array_equal(one, embedder(verifier, own[0][1:2], wrong))
    np.testing.assert_array_equal(other, embedder(verifier, own[1][:2]))
    named = embedder.left_out.named("failing")
    assert named == {trials[0].name, trials[1].name, *wrong.steps[0].names}
    with pytest.raises(VoicenymError, match="none of the 2 recordings"):
        embedder.kept(verifier, own[1][:2], wrong)


@pytest.mark.usefixtures("brief")
def test_files_of_somebody_else_may_lack_some(desk, tmp_path):
    anonymized = tmp_path / "anonymized"
    shutil.copytree(desk, anonymized)
    (anonymized / "manifest.tsv").unlink()
    for speaker in range(6):
        (anonymized / f"s{speaker}-u1.wav").unlink()
    damage("text", anonymized / "s0-u2.wav")
    command = ["evaluate", "--original", desk, "--anonymized", anonymized, *OPTIONS]
    done = run(*command, "-o", tmp_path / "r")
    assert done.exit_code == 1
    assert "holds no anonymized file of it" in done.stderr
    found = results_file.load(tmp_path / "r")
    assert found.systems[0].left_out > 0
    assert {one.step for one in found.left_out} == {"files"}
    with pytest.raises(VoicenymError, match="6 of 24 recordings have no anonymized file"):
        run(*command, "-o", tmp_path / "r", "--fail-fast")


def test_rows_that_say_too_little_are_left_out(corpus, tmp_path):
    path = tmp_path / "manifest.tsv"
    rows = [f"{r.name}\t{r.path}\t{r.speaker}" for r in corpus[:3]]
    path.write_text("\n".join(["utterance\tpath\tspeaker", *rows, "lonely", "\t\ts0", ""]))
    left_out = LeftOut()
    found = recordings(path, left_out=left_out)
    assert [r.name for r in found] == [r.name for r in corpus[:3]]
    assert sorted(one.name for one in left_out) == ["lonely", "row 5"]
    with pytest.raises(VoicenymError, match=r"manifest.tsv: its row has no path"):
        recordings(path)
    long = tmp_path / "long.tsv"
    long.write_text("utterance\tpath\tspeaker\na\t" + "x" * 5_000 + "\ts\n" + rows[0] + "\n")
    found = recordings(long, left_out=(left_out := LeftOut()))
    assert [r.name for r in found] == [corpus[0].name]
    assert [one.name for one in left_out] == ["a"]


def test_an_error_of_the_whole_run_is_not_taken_for_one_of_a_recording(corpus):
    class Weightless(VoiceStatistics):
        def embed(self, recordings):
            raise WeightsError("no weights: fetch them")

    with pytest.raises(WeightsError), Embedder(left_out=LeftOut()) as embedder:
        embedder.kept(Weightless(), corpus[:2])


LETHAL = '''
import os, signal
from dataclasses import dataclass


def dies(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Lethal:
    """A rendering, and a step, that kills its process at some recordings."""

    names: tuple[str, ...]
    description = "lethal"

    def identity(self, recording):
        return f"lethal {recording.name}"

    def __call__(self, *given):
        recording = given[-1]
        if recording.name in self.names:
            dies()
        return recording.samples()


@dataclass(frozen=True)
class Spoken:
    name: str
    speaker: str
    path: str

    def samples(self):
        import soundfile

        if self.name.endswith("-u1"):
            dies()
        return soundfile.read(self.path, dtype="float32")[0]
'''


@pytest.fixture
def lethal(tmp_path, monkeypatch):
    """A module that worker processes can import, and that kills them."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "lethal_for_tests.py").write_text(LETHAL)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    module = importlib.import_module("lethal_for_tests")
    yield module
    import sys

    del sys.modules["lethal_for_tests"]


def test_a_killed_worker_costs_a_speech_cache_and_an_embedder_one_recording(
    lethal, corpus, tmp_path, monkeypatch
):
    wrong = (corpus[1].name,)
    left_out = LeftOut()
    cache = SpeechCache(tmp_path / "cache")
    found = cache.fill(corpus[:3], lethal.Lethal(wrong), workers=2, left_out=left_out)
    assert [u.recording for u in found] == [corpus[0], corpus[2]]
    (omission,) = left_out
    assert (omission.name, omission.step) == (wrong[0], "lethal")
    assert "was killed" in omission.reason
    assert "tried again alone" in omission.reason

    monkeypatch.setattr("voicenym.corpus.embedder.AT_ONCE", 2)
    left_out = LeftOut()
    with Embedder(workers=2, left_out=left_out) as embedder:
        transform = Transform((lethal.Lethal(wrong),))
        vectors, kept = embedder.kept(VoiceStatistics(), corpus[:4], transform)
    assert kept == [corpus[0], *corpus[2:4]]
    np.testing.assert_array_equal(vectors, Embedder()(VoiceStatistics(), kept))
    assert [one.name for one in left_out] == [wrong[0]]


def test_a_killed_worker_costs_the_background_model_one_recording(lethal, corpus, tmp_path):
    from voicenym.dsp.features.cepstra import Cepstra
    from voicenym.training.speakers.row_file import RowFile
    from voicenym.training.speakers.train_ubm import collect_frames

    speech = [lethal.Spoken(r.name, r.speaker, str(r.path)) for r in corpus[:4]]
    left_out, cepstra = LeftOut(), Cepstra()
    (tmp_path / "rows").mkdir()
    with RowFile(tmp_path / "rows", cepstra.dimension) as frames:
        kept = collect_frames(speech, cepstra, frames, lambda text: None, 2, left_out)
    assert len(kept) == 3
    assert [one.name for one in left_out] == ["s0-u1"]


TINY = {
    "ubm": "components: 2\ncepstra: {coefficients: 6, bands: 16, slopes: 0, window: 0}\n",
    "ivector": "components: 2\ncepstra: {coefficients: 6, bands: 16, slopes: 0, window: 0}\n",
    "units": "units: 4\n",
    "householder": "{layers: 1, reflections: 3, batch: 8, every: 2, held_out: 0.3}",
    "verifier": (
        "options: {channels: 16, size: 12, attention: 8, squeeze: 8}\n"
        "seconds: 0.4\nbatch: 8\nspeeds: [1.0]\nevery: 2\n"
    ),
}
MORE = {
    "units": ["--accelerator", "cpu"],
    "householder": ["--steps", "2"],
    "verifier": ["--steps", "2", "--accelerator", "cpu", "--workers", "0"],
    "ubm": ["-j", "1"],
    "ivector": ["-j", "1"],
}


@pytest.mark.parametrize("recipe", list(TINY))
def test_recipes_learn_from_what_is_sound(recipe, desk, tmp_path):
    if recipe in ("units", "householder", "verifier"):
        pytest.importorskip("lightning")
    damaged(desk, sexes=False)
    (tmp_path / "tiny.yaml").write_text(TINY[recipe])
    out = tmp_path / "out"
    given = ["train", recipe, "-d", desk, "-o", out, "-c", tmp_path / "tiny.yaml", *MORE[recipe]]
    if recipe == "householder":
        given += ["--encoder", "resemblyzer"]
    with pytest.raises(VoicenymError, match="missing"):
        run(*given, "--fail-fast")
    done = run(*given)
    assert done.exit_code == 1
    assert f"{len(REASONS)} recordings were left out" in done.stderr
    for kind, why in REASONS.items():
        assert any(kind in line and why in line for line in done.stderr.splitlines()), kind
    card = configuration(out)["card"]
    used = 8 if recipe == "verifier" else 24  # of two speakers of six; the others are kept out
    assert card.get("recordings", card.get("vectors")) == used


def test_a_pool_is_built_of_what_is_sound(desk, tmp_path):
    damaged(desk)
    done = run("pool", "build", desk, "-o", tmp_path / "pool", "--encoder", "resemblyzer", "-q")
    assert done.exit_code == 1
    assert f"{len(REASONS)} recordings were left out" in done.stderr
    assert "Pool(6 x 40" in done.stdout
    for kind in REASONS:
        (desk / f"{kind}.wav").unlink(missing_ok=True)
    rows = (desk / "manifest.tsv").read_text().splitlines()
    head, *rest = [row for row in rows if row.split("\t")[0] in (*REASONS, "utterance")]
    (desk / "manifest.tsv").write_text("\n".join([head, *rest]) + "\n")
    with pytest.raises(VoicenymError, match=r"missing \(7 of 7 files"):
        run("pool", "build", desk, "-o", tmp_path / "other", "--encoder", "resemblyzer", "-q")


def test_a_recording_is_named_once_for_each_step():
    left_out = LeftOut(say=(messages := []).append)
    for _ in range(2):
        left_out.add("a", "a.wav: silent")
        left_out.add("a", "TypeError", "vtln")
    assert messages == ["left out: a.wav: silent", "left out: vtln: a: TypeError"]
    assert left_out.named("vtln") == {"a"}
    for number in range(30):
        left_out.add(f"b{number}", "silent")
    assert "32 recordings were left out" in left_out.summary()
    assert "... and 12 more" in left_out.summary()


@pytest.mark.parametrize(("code", "cure"), [(-9, "more memory"), (-11, "report"), (3, "report")])
def test_the_death_of_a_process_is_a_reason_with_its_cure(code, cure):
    found = reason(death := Death(code), "anna-1")
    assert str(death) in found
    assert found.count("worker process") == 1
    assert "leave anna-1 out" in found
    assert cure in found


def test_a_recording_without_voice_is_a_reason_and_no_nan(corpus):
    class Deaf(VoiceStatistics):
        def embed(self, recordings):
            vectors = super().embed(recordings)
            vectors[0] = np.nan
            return vectors

    left_out = LeftOut()
    _, kept = Embedder(left_out=left_out).kept(Deaf(), corpus[:3])
    assert kept == corpus[1:3]
    assert isinstance(next(iter(left_out)).reason, str)
    assert all(isinstance(one, Recording) for one in kept)
