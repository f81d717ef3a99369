"""Utterances of lhotse manifests, as attacks and training read them."""

import numpy as np
import pytest
import soundfile

from voicenym.corpus.recordings import recordings
from voicenym.errors import CorpusError

pytest.importorskip("lhotse")


@pytest.fixture
def made(tmp_path):
    """A cut of a recording of two seconds, with two supervisions of two speakers."""
    from lhotse import MonoCut, Recording, SupervisionSegment

    path = tmp_path / "talk.wav"
    noise = np.random.default_rng(0).uniform(-0.1, 0.1, 32_000)
    soundfile.write(path, noise, 16_000)

    def segment(name, start, duration, speaker, gender=None, text=None):
        return SupervisionSegment(
            name, "talk", start, duration, speaker=speaker, gender=gender, text=text
        )

    def save(*supervisions, start=0.0, duration=2.0):
        from lhotse import CutSet

        recording = Recording.from_file(path, recording_id="talk")
        cut = MonoCut("cut", start, duration, 0, list(supervisions), recording=recording)
        CutSet.from_cuts([cut]).to_file(tmp_path / "cuts.jsonl.gz")
        return tmp_path / "cuts.jsonl.gz"

    save.segment = segment
    save.noise = noise
    return save


def test_each_supervision_is_an_utterance(made):
    manifest = made(
        made.segment("a-1", 0.0, 0.8, "a", "female", "HELLO"),
        made.segment("b-1", 1.0, 0.5, "b", "male"),
    )
    one, two = recordings(manifest)
    assert (one.name, one.speaker, one.sex, one.text) == ("a-1", "a", "f", "HELLO")
    assert (two.speaker, two.sex, two.text) == ("b", "m", "")
    np.testing.assert_allclose(two.samples(), made.noise[16_000:24_000], atol=1e-4)


def test_times_are_relative_to_the_cut(made):
    manifest = made(made.segment("a-1", 0.25, 0.5, "a"), start=1.0, duration=1.0)
    (one,) = recordings(manifest)
    np.testing.assert_allclose(one.samples(), made.noise[20_000:28_000], atol=1e-4)


def test_a_whole_recording_is_the_file(made):
    (one,) = recordings(made(made.segment("a-1", 0.0, 2.0, "a")))
    assert one.end is None
    assert len(one.samples()) == 32_000


def test_a_supervision_without_a_speaker_is_refused(made):
    with pytest.raises(CorpusError, match="a-1 names no speaker"):
        recordings(made(made.segment("a-1", 0.0, 2.0, None)))


def test_what_is_no_manifest_is_refused(tmp_path):
    (tmp_path / "cuts.jsonl").write_text("{}\n")
    with pytest.raises(CorpusError, match=r"cuts\.jsonl"):
        recordings(tmp_path / "cuts.jsonl")
