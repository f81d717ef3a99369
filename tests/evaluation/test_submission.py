"""A submission in the layout of the VoicePrivacy Challenges, from its folders to the report."""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile

pytest.importorskip("matplotlib")
pytest.importorskip("jiwer")

from typer.testing import CliRunner

from voicenym import Key
from voicenym.apps.cli import app
from voicenym.apps.cli.commands.evaluate import evaluate as command
from voicenym.apps.cli.evaluating.evaluate_plan import plan_of
from voicenym.apps.cli.evaluating.evaluate_request import Request
from voicenym.attack.attacker_list import attackers
from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import STRICT, LeftOut
from voicenym.errors import VoicenymError
from voicenym.evaluation import results_file
from voicenym.evaluation.caveats import missing_files
from voicenym.evaluation.targets import resources_of, targets_of
from voicenym.registry import Entry
from voicenym.verification import verifiers

SUFFIX = "_mcadams"
OPTIONS = ["--replicates", "20", "--sample", "3", "--recogniser", "none", "--keys", "2"]
OPTIONS += ["--verifier", "resemblyzer", "--no-denoise", "-q"]
FILE_ATTACKERS = {"ignorant", "lazy-informed", "semi-informed (back end)"}


@pytest.fixture
def challenge(laid_out, spectrum, tmp_path, monkeypatch):
    """A copy of the challenge's folder, elsewhere than ``wav.scp`` says, as after a download."""
    monkeypatch.setitem(verifiers.VERIFIERS.own, "resemblyzer", Entry(lambda: spectrum))
    shutil.copytree(laid_out.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / "data"


def planned(*arguments, left_out=STRICT):
    """The plan of a command, without its run."""
    request = {
        name: option.default for name, option in inspect.signature(command).parameters.items()
    }
    request = {name: getattr(value, "default", value) for name, value in request.items()}
    request.update(output=Path("report"), verifiers=["resemblyzer"], recogniser="none", quiet=True)
    return plan_of(Request(**{**request, **dict(arguments)}), left_out)


def resources(plan):
    """What the plan's files are to the attackers on them."""
    (target,) = targets_of(plan)
    return resources_of(plan, target)


def sound(file):
    return Recording("", "", file).digest() if isinstance(file, Path) else file.digest()


def test_a_submission_is_evaluated_as_a_system_would_be(challenge, tmp_path, brief):
    report = tmp_path / "report"
    arguments = ["--original", challenge, "--anonymized-suffix", SUFFIX, "-o", report, *OPTIONS]
    done = CliRunner().invoke(app, ["evaluate", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    system = results_file.load(report).systems[0]
    assert {attack.attacker for attack in system.attacks} == FILE_ATTACKERS
    figures = system.attacks[0].figures
    lists = {f"EER LibriSpeech {subset} {sex}" for subset in ("dev", "test") for sex in "fm"}
    assert lists | {"weighted EER dev", "weighted EER test"} <= figures.keys()
    assert "weighted EER" not in figures
    assert "dev" in (report / "index.html").read_text("utf-8")
    notes = " ".join(system.notes)
    assert "must run it (key search, " in notes
    assert "inversion" in notes
    assert "the key-holder was not run" in notes
    assert "the speech of other people is 8 recordings, and 100 are needed" in notes
    assert system.upper_bound
    assert "originals of the attackers' training speech were not given" in notes
    assert "--anonymized-enrolment)" not in notes
    trivial = {a.attacker for a in system.attacks if a.verifier == "voice statistics"}
    assert trivial == {"ignorant", "lazy-informed"}


def test_folders_named_one_by_one_are_the_same_plan(challenge, tmp_path):
    pool = tmp_path / "train-clean-360"
    by_suffix = planned(("original", challenge), ("anonymized_suffix", SUFFIX), ("pool", pool))
    plain, originals = tmp_path / "theirs", tmp_path / "originals"
    plain.mkdir()
    for path in challenge.glob(f"*_trials_*{SUFFIX}/wav/*.wav"):
        shutil.copy(path, plain)
    for place in challenge.glob("libri_*"):
        if not place.name.endswith(SUFFIX):
            shutil.copytree(place, originals / place.name)
    enrolment = [challenge / f"libri_{subset}_enrolls{SUFFIX}" for subset in ("dev", "test")]
    one_by_one = planned(
        ("original", originals), ("anonymized", plain), ("pool", pool),
        ("anonymized_enrolment", enrolment),
        ("anonymized_pool", [challenge / f"train-clean-360{SUFFIX}"]),
    )  # fmt: skip
    for files in ("files", "attackers_files"):
        some, same = getattr(by_suffix, files), getattr(one_by_one, files)
        assert {n: sound(f) for n, f in some.items()} == {n: sound(f) for n, f in same.items()}
    assert len(by_suffix.files) == 8
    assert len(by_suffix.attackers_files) == 16
    assert by_suffix.pool_is_original
    assert [r.name for r in by_suffix.pool] == [r.name for r in one_by_one.pool]
    for plan in (by_suffix, one_by_one):
        found = resources(plan)
        assert (found.can_train, found.original_pool, found.published_enrolment) == (
            True, True, False,
        )  # fmt: skip
        assert not any("originals of" in note for note in missing_files(found))


def test_attackers_without_their_files_are_named_as_not_run(challenge):
    shutil.rmtree(challenge / f"train-clean-360{SUFFIX}")
    plan = planned(("original", challenge), ("anonymized_suffix", SUFFIX))
    names = {attacker.name for attacker in attackers(resources(plan))}
    assert names == {"ignorant", "lazy-informed"} | {n for n in names if "de-noising" in n}
    first, second = missing_files(resources(plan))
    assert (
        "(--anonymized-pool, of two speakers at least): semi-informed attackers were not" in first
    )
    assert "the key-holder was not run" in second
    for subset in ("dev", "test"):
        shutil.rmtree(challenge / f"libri_{subset}_enrolls{SUFFIX}")
    left_out = LeftOut()
    plan = planned(("original", challenge), ("anonymized_suffix", SUFFIX), left_out=left_out)
    assert len(left_out) == 8, "the enrolment, under the user's key"
    (note,) = missing_files(resources(plan))
    assert "(--anonymized-enrolment): lazy-informed and semi-informed attackers were not" in note


def test_what_is_missing_or_does_not_fit_is_named_with_a_cure(challenge, tmp_path):
    def refused(*arguments):
        with pytest.raises(VoicenymError) as error:
            planned(*arguments)
        return str(error.value)

    base = [("original", challenge), ("anonymized_suffix", SUFFIX)]
    printed = refused(("original", challenge), ("anonymized_suffix", "_none"))
    assert "no Kaldi data folder in it has a name that ends in _none" in printed
    printed = refused(("original", challenge), ("anonymized", challenge))
    assert "is another recording in" in printed
    assert "--anonymized-suffix" in printed
    printed = refused(*base, ("anonymized_enrolment", [challenge / f"train-clean-360{SUFFIX}"]))
    assert "8 of 8 recordings have no anonymized file" in printed
    assert "named like s4-u0; anonymize it under the attackers' key" in printed
    printed = refused(*base, ("pool", challenge / "libri_dev_enrolls"))
    assert "give originals of the same utterances with --pool" in printed
    printed = refused(*base, ("anonymized_pool", [challenge / f"libri_dev_trials_f{SUFFIX}"]))
    assert "is also evaluated" in printed
    request = ["evaluate", str(challenge), "--anonymized-pool", str(tmp_path), "-o", "report"]
    done = CliRunner().invoke(app, request)
    assert "are of files" in str(done.exception)


def test_an_enrolment_without_a_file_is_left_out_and_named(challenge):
    place = challenge / f"libri_dev_enrolls{SUFFIX}"
    lines = (place / "wav.scp").read_text().splitlines()
    (place / "wav.scp").write_text("\n".join(lines[1:]) + "\n")
    left_out = LeftOut()
    plan = planned(("original", challenge), ("anonymized_suffix", SUFFIX), left_out=left_out)
    assert [missed.name for missed in left_out] == ["s0-u0"]
    assert "anonymize it under the attackers' key" in next(iter(left_out)).reason
    enrolled = {r.name for model in plan.trials.models for r in model.recordings}
    assert len(enrolled) == 7, "no attacker enrols with it"
    assert resources(plan).anonymized_enrolment


def test_files_that_are_their_originals_are_told(challenge, tmp_path):
    """EER 0 of them is of no system."""
    given = tmp_path / "given"
    given.mkdir()
    plan = planned(("original", challenge), ("anonymized_suffix", SUFFIX))
    for recording in plan.trials.recordings:
        shutil.copy(recording.path, given / f"{recording.name}.wav")
    for model in plan.trials.models:
        for recording in model.recordings:
            shutil.copy(recording.path, given / f"{recording.name}.wav")
    for place in challenge.glob(f"*{SUFFIX}"):
        shutil.rmtree(place)
    (note,) = planned(("original", challenge), ("anonymized", given)).file_notes
    assert note.startswith("16 of 16 anonymized files are their originals themselves")


def test_the_users_own_enrolment_is_no_attackers_enrolment(challenge, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    for path in challenge.glob(f"libri_*{SUFFIX}/wav/*.wav"):
        shutil.copy(path, theirs)
    for place in challenge.glob(f"*{SUFFIX}"):
        shutil.rmtree(place)
    plan = planned(
        ("original", challenge), ("anonymized", theirs), ("anonymized_enrolment", [theirs])
    )
    assert resources(plan).published_enrolment
    (note,) = plan.file_notes
    assert note.startswith("8 of 8 files of --anonymized-enrolment are the published files")
    # a folder of the user's files alone is evaluated as ever
    plan = planned(("original", challenge), ("anonymized", theirs))
    assert (len(plan.files), plan.attackers_files, plan.file_notes) == (16, {}, ())


def test_lists_of_the_corpus_are_used_unless_trials_are_to_be_drawn(challenge):
    base = [("original", challenge), ("anonymized_suffix", SUFFIX)]
    plan = planned(*base)
    assert plan.settings.startswith("trials of libri_dev_trials_f/trials, libri_dev_trials_m/tri")
    assert [part.name for part in plan.trials.parts] == [
        f"LibriSpeech {subset} {sex}" for subset in ("dev", "test") for sex in "fm"
    ]
    for place in (challenge / "IEMOCAP_dev", *challenge.glob(f"*{SUFFIX}")):
        shutil.rmtree(place)
    drawn = planned(("corpus", challenge), ("lists", False))
    assert drawn.settings.startswith("2 recordings to enrol and 2 to try a speaker")  # all
    assert not drawn.trials.parts


def test_attackers_train_on_the_files(voice, spectrum, tmp_path):
    """An attacker who trains learns from each anonymized file once, whatever the keys."""
    from voicenym.attack.attacker_resources import AttackerTraining
    from voicenym.attack.scenario import Model, Protection, Scenario
    from voicenym.attack.trained.trained_attackers import SemiInformedProsody
    from voicenym.corpus.embedder import Embedder

    speech = []
    for speaker in range(20):
        for take in range(4):
            path = tmp_path / f"{speaker}-{take}.wav"
            soundfile.write(path, voice(speaker, take).samples(), 16_000)
            speech.append(Recording(path.stem, f"s{speaker}", path, "f"))
    louder = {}
    for recording in speech:
        louder[recording.name] = tmp_path / f"{recording.name}.louder.wav"
        soundfile.write(louder[recording.name], 1.5 * recording.samples(), 16_000)
    models = tuple(Model(f"m{s}", f"s{s}", tuple(speech[4 * s : 4 * s + 2])) for s in range(3))
    scenario = Scenario(
        models, tuple(speech[3:12:4]), Protection.by_files(louder, louder), Key(bytes(32)),
        tuple(speech[12:]), pool_is_original=False,
    )  # fmt: skip
    training = AttackerTraining(tmp_path / "attackers", 0.0, voices=3)
    with Embedder() as embedder:
        scores = SemiInformedProsody(training).scores(scenario, spectrum, embedder)
    assert len(list((tmp_path / "attackers" / "speech").glob("*.i16"))) == 68
    assert scores.shape == (3, 3)
    assert np.isfinite(scores).all()
