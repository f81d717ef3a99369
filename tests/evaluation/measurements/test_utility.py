"""Utility figures, with a recogniser of known answers."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("jiwer")
pytest.importorskip("parselmouth")

from voicenym.corpus.transforms import ORIGINAL, OtherFiles, Transform
from voicenym.evaluation.measurements import utility
from voicenym.metrics.utility import intonation, opinion
from voicenym.metrics.words import word_error_rate
from voicenym.recognition import Transcripts, pronounced

REPLICATES = {"replicates": 30}


class Scripted:
    """Drops the last word of what is said, and adds one of its own to the first recording."""

    name = "scripted"

    def __init__(self, texts):
        self.texts = texts

    def transcribe(self, recordings):
        words = [" ".join(text.split()[:-1]) for text in self.texts]
        words[0] += " oh well now"
        return words


@dataclasses.dataclass(frozen=True)
class Louder:
    """A change whose noise is known."""

    gain: float

    def identity(self, recording):
        return f"louder {self.gain}"

    def __call__(self, samples, recording):
        return np.float32(self.gain) * samples


@pytest.fixture
def speech(corpus, monkeypatch):
    """Eight recordings of four speakers, each with a text of four words; no DNSMOS."""
    monkeypatch.setattr(opinion, "rating", _nothing)
    return [
        dataclasses.replace(r, text=f"one two three {r.name[-1]}")
        for r in corpus
        if r.speaker in ("s0", "s1", "s2", "s3") and r.name[-1] in "01"
    ]


def _nothing(*arguments, **options):
    raise ValueError("no model here")


def test_words_characters_and_each_kind_of_error(speech):
    measured = utility.measure(speech, ORIGINAL, Scripted([r.text for r in speech]), **REPLICATES)
    figures = measured.figures
    # 8 times 4 words: the first loses one and gains three (one of them in its place)
    assert figures["WER deletions"].value == pytest.approx(100 * 7 / 32)
    assert figures["WER substitutions"].value == pytest.approx(100 * 1 / 32)
    assert figures["WER insertions"].value == pytest.approx(100 * 2 / 32)
    for name in ("WER", "CER"):
        kinds = [figures[f"{name} {kind}"] for kind in word_error_rate.KINDS]
        assert figures[name].value == pytest.approx(sum(kind.value for kind in kinds))
        assert all(kind.low is kind.high is None for kind in kinds), "of four speakers"
    assert {m.unit for m in figures.values()} == {"%"}
    assert "RTF" not in figures, "nothing was done to originals"


@pytest.mark.parametrize("given", [["one"], [None] * 8])
def test_a_recogniser_that_gives_no_transcripts_is_refused_by_name(speech, given):
    broken = Scripted([])
    broken.transcribe = lambda recordings: given
    notes = utility.measure(speech, ORIGINAL, broken, **REPLICATES).notes
    why = f"scripted: gave {len(given)} transcripts of 8 recordings"
    assert any(why in note for note in notes)


def test_transcripts_of_somebody_else_count_instead_of_a_recogniser(speech, tmp_path):
    recognised = Transcripts(tmp_path / "text", {r.name: r.text for r in speech})
    deaf = Scripted([r.text for r in speech])
    figures = utility.measure(speech, ORIGINAL, deaf, transcripts=recognised, **REPLICATES).figures
    assert figures["WER"].value == figures["CER"].value == 0.0
    part = Transcripts(tmp_path / "text", {speech[0].name: "one"})
    measured = utility.measure(speech, ORIGINAL, deaf, transcripts=part, **REPLICATES)
    assert not measured.figures
    assert any(
        "words were not measured" in n and "no transcript of 7 of 8" in n for n in measured.notes
    )


def test_the_reason_why_words_were_not_measured_is_reported(speech):
    mute = [dataclasses.replace(r, text="") for r in speech]
    notes = utility.measure(mute, ORIGINAL, Scripted([]), **REPLICATES).notes
    assert any("words were not measured: no recording has a text" in n for n in notes)
    notes = utility.measure(speech, ORIGINAL, None, **REPLICATES).notes
    assert any("words were not measured: there is no recogniser" in n for n in notes)
    assert any("phones were not measured: no recogniser of phones" in n for n in notes)


def test_the_time_to_read_a_file_is_not_the_speed_of_its_system(speech):
    files = Transform((OtherFiles({r.name: r for r in speech}),))
    measured = utility.measure(speech, files, None, **REPLICATES)
    assert "SNR" in measured.figures
    assert "RTF" not in measured.figures
    assert any(note.startswith("speed was not measured") for note in measured.notes)


def test_files_of_another_length_than_their_originals_are_told(speech):
    class Other(OtherFiles):
        def __call__(self, samples, recording):
            return samples[: len(samples) // (2 if recording.name == speech[5].name else 1)]

    files = Transform((Other({r.name: r for r in speech}),))
    notes = utility.measure(speech, files, None, only=("SNR",), **REPLICATES).notes
    (note,) = [note for note in notes if "longer or shorter" in note]
    assert note.startswith("1 of 8 anonymized files are longer or shorter")
    assert f"({speech[5].name}: 0.3 s, 0.6 s before)" in note
    same = Transform((OtherFiles({r.name: r for r in speech}),))
    notes = utility.measure(speech, same, None, only=("SNR",), **REPLICATES).notes
    assert not any("longer or shorter" in note for note in notes)


def test_sound_that_was_not_asked_for_is_not_measured_for_that_reason(speech):
    louder = Transform((Louder(1.1),))
    notes = utility.measure(speech, louder, None, only=("SNR",), **REPLICATES).notes
    (note,) = [note for note in notes if "asked for (--metric)" in note]
    assert note.startswith("naturalness, intonation, speed: not measured")
    files = Transform((OtherFiles({r.name: r for r in speech}),))
    notes = utility.measure(speech, files, None, only=("SNR",), **REPLICATES).notes
    assert any(note.startswith("naturalness, intonation: not measured") for note in notes)
    assert not any(
        "(--metric)" in n for n in utility.measure(speech, louder, None, **REPLICATES).notes
    )


def test_noise_time_and_melody_of_a_known_change(speech, monkeypatch):
    clock = iter(np.arange(1000) * 0.25)
    monkeypatch.setattr(utility.time, "process_time", lambda: next(clock))
    monkeypatch.setattr(intonation, "pitch_contour", lambda x, rate: melody(x))
    figures = utility.measure(speech, Transform((Louder(1.1),)), None, **REPLICATES).figures
    assert figures["SNR"].value == pytest.approx(20.0, abs=1e-3)
    assert figures["SNR"].unit == "dB"
    assert figures["RTF"].value == pytest.approx(0.25 / 0.6), "a quarter of a second each, of 0.6 s"
    assert figures["rho_F0"].value == pytest.approx(1.0)
    assert abs(figures["rho_F0 by chance"].value) < 0.6


def melody(samples):
    """A drawn melody that belongs to the recording, whatever its level."""
    seed = int(np.abs(np.fft.rfft(samples / np.abs(samples).max())[:50]).sum() * 10)
    return 150 + 5 * np.convolve(
        np.random.default_rng(seed).standard_normal(430), np.ones(31), "valid"
    )


def test_chance_is_another_sentence_where_texts_are_known(speech):
    assert intonation.other_text(["yes"] * len(speech), 0) is None
    assert intonation.other_text(["yes", "yes", speech[0].text], 0) == 2
    assert intonation.other_text([""] * 8, 7) == 0
    assert intonation.other_text([""], 0) is None


def test_a_retrained_recogniser_has_figures_of_its_own(speech):
    texts = [r.text for r in speech]
    deaf, learnt = Scripted(texts), Scripted([f"{text} {text}" for text in texts])
    louder = Transform((Louder(2.0),))
    plain = utility.measure(speech, louder, deaf, **REPLICATES).figures
    figures = utility.measure(speech, louder, deaf, retrained=learnt, **REPLICATES).figures
    assert figures["WER"] == plain["WER"]
    alone = utility.measure(speech, louder, learnt, **REPLICATES).figures
    assert figures["WER retrained"] == alone["WER"] != plain["WER"]
    assert figures["CER retrained"] == alone["CER"]
    assert not any("retrained" in name for name in plain)


class Phones:
    """Finds the phones of the first pronunciation but the first phone."""

    name = "phones"

    def __init__(self, texts):
        self.texts = texts

    def phones(self, recordings):
        assert len(recordings) == len(self.texts)
        return [" ".join(ways[0] for ways in words).split()[1:] for words in pronounced(self.texts)]


def test_phones_are_counted_beside_words(speech):
    pytest.importorskip("pocketsphinx")
    spoken = [dataclasses.replace(r, text="one two three") for r in speech]
    spoken[0] = dataclasses.replace(spoken[0], text="one xyzzyx")
    found = utility.measure(
        spoken, ORIGINAL, None, phones=Phones(["one two three"] * 7), only=("none",), **REPLICATES
    )
    # W AH N, T UW, TH R IY: one of eight is lost
    assert found.figures["PER"].value == pytest.approx(100 / 8)
    assert found.figures["PER deletions"].value == pytest.approx(100 / 8)
    assert set(found.figures) == {
        "PER", "PER substitutions", "PER deletions", "PER insertions"
    }  # fmt: skip
    assert any("leaves out 1 of 8" in note for note in found.notes)
    assert any("without knowledge of the texts" in note for note in found.notes)


def test_only_the_metrics_of_sound_that_are_asked_for(speech):
    louder = Transform((Louder(1.1),))
    figures = utility.measure(speech, louder, None, only=("SNR",), **REPLICATES).figures
    assert set(figures) == {"SNR"}


def test_a_text_without_words_is_left_out(speech):
    """Neither an empty reference, nor words where nothing is said, count as errors."""
    whole = [recording for recording in speech if recording.text]
    silent = dataclasses.replace(whole[0], text=" ... ?!")
    recogniser = Scripted([r.text for r in whole[1:]])
    alone = utility.measure(whole[1:], ORIGINAL, recogniser, **REPLICATES)
    mixed = utility.measure([silent, *whole[1:]], ORIGINAL, recogniser, **REPLICATES)
    assert mixed.figures["WER"] == alone.figures["WER"]
    assert np.isfinite(mixed.figures["WER"].value)
    notes = utility.measure([silent], ORIGINAL, Scripted([""]), **REPLICATES).notes
    assert any("no recording has a text; add UTTERANCE.txt" in note for note in notes)
