"""``voicenym evaluate`` on unusable input: messages name the fault and the cure."""

import errno
import importlib.util
import json
import os
import shutil
import tarfile
import tempfile

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import soundfile
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.apps.cli.commands import evaluate as command
from voicenym.apps.cli.evaluating import evaluate_libraries, report_folder
from voicenym.corpus.recordings import skipped
from voicenym.errors import AudioError, CorpusError, DependencyError, ScoreError, VoicenymError
from voicenym.evaluation import protocol, results_file
from voicenym.registry import Entry
from voicenym.verification import encoder_verifier
from voicenym.verification import verifiers as verifiers

OPTIONS = ["--system", "mcadams", "--keys", "1", "--replicates", "20", "--no-denoise", "-q"]
OPTIONS += [
    "--verifier",
    "resemblyzer",
    "--enrolment",
    "1",
    "--tried",
    "1",
    "--sample",
    "2",
    "--any-sex",
]


def evaluate(*arguments):
    done = CliRunner().invoke(app, ["evaluate", *map(str, arguments), *OPTIONS])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


@pytest.fixture
def speech(corpus, spectrum, tmp_path, monkeypatch):
    """A folder with three speakers of two recordings each, to be spoilt."""
    monkeypatch.setitem(verifiers.VERIFIERS.own, "resemblyzer", Entry(lambda: spectrum))
    root = tmp_path / "speech"
    for recording in corpus:
        speaker, name = recording.name.split("-")
        if speaker in ("s0", "s1", "s2") and name in ("u0", "u1"):
            (root / speaker).mkdir(parents=True, exist_ok=True)
            shutil.copy(recording.path, root / speaker / f"{name}.wav")
    return root


def test_a_corpus_of_one_speaker_is_refused(speech, tmp_path):
    shutil.rmtree(speech / "s1")
    shutil.rmtree(speech / "s2")
    with pytest.raises(CorpusError, match=r"one speaker only.*add recordings of others"):
        evaluate(speech, "-o", tmp_path / "report")


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(speech, tmp_path, monkeypatch):
    monkeypatch.setattr(protocol, "evaluate", lambda *_: pytest.fail("it was measured"))
    (tmp_path / "file").touch()
    with pytest.raises(VoicenymError, match=r"file/report: is no folder; choose another"):
        evaluate(speech, "-o", tmp_path / "file/report", "--cache", tmp_path / "cache/c.sqlite")
    # root may write everywhere
    monkeypatch.setattr(report_folder.os, "access", lambda place, _: place.name != "report")
    with pytest.raises(VoicenymError, match=r"report: cannot be written to; choose another"):
        evaluate(speech, "-o", tmp_path / "report", "--cache", tmp_path / "cache/c.sqlite")


@pytest.mark.usefixtures("brief")
def test_a_report_that_cannot_be_written_says_so_and_keeps_what_was_measured(speech, tmp_path):
    page = tmp_path / "report/index.html"
    page.mkdir(parents=True)
    page.parent.chmod(0o700)
    fault = r"index\.html: the report cannot be written \(.*cache\.sqlite keeps what was measured"
    with pytest.raises(VoicenymError, match=fault):
        evaluate(speech, "-o", tmp_path / "report")
    page.rmdir()
    done = evaluate(speech, "-o", tmp_path / "report")
    assert done.exit_code == 0
    assert page.is_file()


@pytest.mark.usefixtures("brief")
def test_a_folder_that_may_not_be_read_is_in_the_report_and_a_failure(
    speech, tmp_path, monkeypatch
):
    """The system's refusal is made up: root may read everything."""
    real = os.scandir

    def closed(place="."):
        if str(place) == str(speech / "s2"):
            raise PermissionError(errno.EACCES, "Permission denied", str(place))
        return real(place)

    monkeypatch.setattr(os, "scandir", closed)
    done = evaluate(speech, "-o", tmp_path / "report", "--attacker", "ignorant")
    assert done.exit_code == 1
    reason = f"{speech / 's2'}: is a folder that may not be read"
    assert reason in " ".join(done.output.split())
    found = results_file.load(tmp_path / "report")
    assert [(one.name, one.reason.startswith(reason)) for one in found.left_out] == [("s2", True)]
    assert "is a folder that may not be read" in (tmp_path / "report/index.html").read_text()


def test_one_utterance_per_speaker(speech, tmp_path):
    for file in speech.glob("*/u1.wav"):
        file.unlink()
    with pytest.raises(CorpusError, match=r"one utterance each.*or cut long ones in two"):
        evaluate(speech, "-o", tmp_path / "report")


def test_sets_of_files_that_do_not_match_list_what_is_missing(speech, tmp_path):
    other = tmp_path / "anon"
    shutil.copytree(speech, other)
    (other / "s1" / "u0.wav").unlink()
    (other / "s2" / "u1.wav").unlink()
    options = [option for option in OPTIONS if option not in ("--system", "mcadams")]
    arguments = ["--original", speech, "--anonymized", other, "-o", tmp_path / "report", *options]
    arguments.append("--fail-fast")
    done = CliRunner().invoke(app, ["evaluate", *map(str, arguments)])
    assert isinstance(done.exception, CorpusError)
    assert "2 of 6 recordings have no anonymized file: s1/u0, s2/u1" in str(done.exception)


@pytest.mark.usefixtures("brief")
def test_shards_give_the_figures_of_the_folder(speech, tmp_path, monkeypatch):
    """A damaged shard is named, and the others are evaluated; no copy stays."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    shards = tmp_path / "shards"
    shards.mkdir()
    for speaker in sorted(speech.iterdir()):
        with tarfile.open(shards / f"{speaker.name}.tar", "w") as tar:
            for path in sorted(speaker.iterdir()):
                tar.add(path, f"{speaker.name}/{path.name}")
    (shards / "torn.tar").write_bytes((shards / "s0.tar").read_bytes()[:3000])
    assert evaluate(speech, "-o", tmp_path / "one").exit_code == 0
    done = evaluate(shards, "-o", tmp_path / "two")
    assert done.exit_code == 1
    assert "torn.tar: ends within" in done.stderr
    assert list(temporary.iterdir()) == []
    one, two = (
        json.loads((tmp_path / name / "results.json").read_text())["systems"]
        for name in ("one", "two")
    )
    for system in (*one, *two):
        assert system["attacks"]
        del system["utility"]["RTF"]  # of the clock
    assert one == two


@pytest.mark.usefixtures("brief")
def test_files_that_a_folder_holds_and_nobody_reads_are_named(speech):
    """As ``anonymize`` does; texts of recordings are read, and so are not among them."""
    (speech / "s0" / "u0.txt").write_text("yes")
    (speech / "s0" / "voice.raw").write_bytes(b"raw")
    for number in range(7):
        (speech / f"notes{number}.pdf").write_bytes(b"pdf")
    report = speech / "report"
    options = [*(option for option in OPTIONS if option != "-q"), "--attacker", "ignorant"]
    done = CliRunner().invoke(app, ["evaluate", str(speech), "-o", str(report), *options])
    lines = [line for line in done.stderr.splitlines() if "not taken" in line]
    assert len(lines) == 2
    assert "1 file was not taken: it is a recording of a kind that is not read" in lines[0]
    assert lines[0].endswith("voice.raw")
    assert "7 files were not taken" in lines[1]
    assert lines[1].endswith("and 2 more")
    assert "u0.txt" not in done.stderr
    quiet = evaluate(speech, "-o", report, "--attacker", "ignorant")
    assert "not taken" not in quiet.stderr
    table = speech / "manifest.tsv"
    table.write_text("name\tspeaker\tpath\n")
    assert skipped(speech) == []


@pytest.mark.usefixtures("brief")
def test_missing_transcripts_leave_out_words_and_the_page_says_so(speech, tmp_path):
    done = evaluate(speech, "-o", tmp_path / "report", "--attacker", "ignorant")
    assert done.exit_code == 0
    found = results_file.load(tmp_path / "report")
    assert "WER" not in found.systems[0].utility
    page = (tmp_path / "report" / "index.html").read_text("utf-8")
    assert "mcadams, WER: words were not measured: no recording has a text; add" in page


def test_silent_files_are_named(speech, tmp_path):
    soundfile.write(speech / "s1" / "u0.wav", np.zeros(16000), 16000)
    with pytest.raises(AudioError, match=r"s1/u0.wav: silent; leave it out"):
        evaluate(speech, "-o", tmp_path / "report", "--fail-fast")


@pytest.mark.parametrize("library", command.NEEDED)
def test_without_the_extra_the_cure_is_named_before_anything_is_done(
    library, speech, tmp_path, monkeypatch
):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        evaluate_libraries, "find_spec", lambda name: None if name == library else found(name)
    )
    with pytest.raises(DependencyError, match=rf"{library}: pip install 'voicenym\[evaluate\]'"):
        evaluate(speech, "-o", tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_without_the_verifier_s_weights_the_cure_is_named(speech, tmp_path, monkeypatch):
    monkeypatch.setitem(verifiers.VERIFIERS.own, "resemblyzer", Entry(encoder_verifier.Resemblyzer))
    monkeypatch.setenv("VOICENYM_WEIGHTS", str(tmp_path / "none"))
    with pytest.raises(DependencyError, match="pip install --no-deps resemblyzer"):
        evaluate(speech, "-o", tmp_path / "report")


def test_scores_that_are_no_numbers_name_the_trial(speech, spectrum, tmp_path, monkeypatch):
    plain = spectrum.score

    def broken(enrolment, trials):
        scores = np.array(plain(enrolment, trials), dtype=float)
        scores.flat[-1] = np.nan
        return scores

    monkeypatch.setattr(spectrum, "score", broken)
    with pytest.raises(ScoreError, match=r"unprotected, spectrum: the score of s\d and s\d/u\d"):
        evaluate(speech, "-o", tmp_path / "report")


def test_a_report_that_would_replace_a_file_is_refused(speech, tmp_path):
    (tmp_path / "report").write_text("mine")
    with pytest.raises(VoicenymError, match="is a file; give a folder"):
        evaluate(speech, "-o", tmp_path / "report")
    assert (tmp_path / "report").read_text() == "mine"


def refused(*arguments):
    """The message of a run that ends before anything is measured."""
    done = CliRunner().invoke(app, ["evaluate", *map(str, arguments)])
    assert isinstance(done.exception, VoicenymError), done.exception
    return str(done.exception)


def test_files_without_a_common_utterance_are_refused(speech, tmp_path):
    other = tmp_path / "anon"
    for file in speech.glob("*/*.wav"):
        place = other / file.parent.name / f"other-{file.name}"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    options = [option for option in OPTIONS if option not in ("--system", "mcadams")]
    message = refused(
        "--original", speech, "--anonymized", other, "-o", tmp_path / "report", *options
    )
    assert "6 of 6 recordings have no anonymized file: s0/u0" in message
    assert "named like other-u0; anonymize it, and name files as the originals" in message


def test_trial_lists_that_name_nobody_are_refused(speech, tmp_path):
    enrolls, trials = tmp_path / "enrolls", tmp_path / "trials"
    enrolls.write_text("x0-u0\nx1-u0\n")
    trials.write_text("x0 x0-u1 target\nx0 x1-u1 nontarget\n")
    lists = ["--enrolls", enrolls, "--trials", trials, "--system", "mcadams", "-q"]
    message = refused(speech, "-o", tmp_path / "report", *lists)
    assert "trials have no recording, 4 in all: x0-u0" in message
    assert "give lists of these recordings, which are named like s0/u0" in message
    for empty in (enrolls, trials):
        content = empty.read_text()
        empty.write_text("")
        message = refused(speech, "-o", tmp_path / "report", *lists)
        assert empty.name in message
        assert "; write a line SPEAKER UTTERANCE" in message or "; write those to enrol" in message
        empty.write_text(content)


@pytest.mark.usefixtures("brief")
def test_texts_without_words_are_no_reference(speech, tmp_path):
    texts = ["", "  \n", "...", "?!", "...", ""]
    for file, text in zip(sorted(speech.glob("*/*.wav")), texts, strict=True):
        file.with_suffix(".txt").write_text(text)
    done = evaluate(speech, "-o", tmp_path / "report", "--attacker", "ignorant")
    assert done.exit_code == 0
    (system,) = results_file.load(tmp_path / "report").systems
    assert "WER" not in system.utility
    assert any("no recording has a text; add UTTERANCE.txt beside it" in n for n in system.notes)


@pytest.mark.usefixtures("brief")
def test_live_systems_are_named_apart_from_those_of_whole_recordings(speech, tmp_path):
    done = evaluate(speech, "-o", tmp_path / "r", "--live", "--attacker", "ignorant")
    assert done.exit_code == 0
    (found,) = results_file.load(tmp_path / "r").systems
    assert (found.name, found.parameters) == ("mcadams:live=true", {"live": True})
    record = json.loads((tmp_path / "r" / "results.json").read_text())
    assert [one["name"] for one in record["systems"]] == ["mcadams:live=true"]
    assert "mcadams:live=true" in (tmp_path / "r" / "index.html").read_text()


def test_live_is_of_systems_that_run_here_and_work_live(speech, tmp_path):
    with pytest.raises(VoicenymError, match="formant does not work live"):
        evaluate(speech, "-o", tmp_path / "r", "--live", "--system", "formant")
