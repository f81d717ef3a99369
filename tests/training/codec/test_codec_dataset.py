"""Codec dataset: segments and a teacher's labels."""

import numpy as np
import pytest
import torch

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.training.codec.codec_dataset import CodecCrops, labelled
from voicenym.training.speech.speech_cache import FULL_SCALE, Utterance

HOP = 320


class Counting:
    """Says the number of each frame."""

    classes, hop = 1000, HOP

    def __init__(self, soft=False):
        self.source = {"features": "numbers", "soft": soft}
        self.asked, self.soft = 0, soft

    def __call__(self, speech):
        self.asked += 1
        frames = -(-len(speech) // HOP)
        return np.eye(1000, dtype=np.float32)[:frames] if self.soft else np.arange(frames)


@pytest.fixture
def speech(tmp_path):
    made = []
    for number, frames in enumerate((30, 45, 12.5)):
        length = round(frames * HOP)
        ramp = np.arange(length) / HOP / 100  # a sample tells its frame
        path = tmp_path / f"{number}.i16"
        path.write_bytes(np.rint(ramp * FULL_SCALE).astype(np.int16).tobytes())
        made.append(Utterance(Recording(str(number), f"s{number}", path), path, length))
    return made


@pytest.mark.parametrize("soft", [False, True])
def test_conditioning_belongs_to_the_samples(speech, tmp_path, soft):
    per_speaker = labelled(speech, Counting(soft), tmp_path / "given")
    crops = CodecCrops(per_speaker, 0.2, HOP, 20, 0)
    assert crops.speakers == ["s0", "s1", "s2"]
    starts = set()
    for crop in crops:
        assert crop.samples.shape == crop.other.shape == (3200,)
        given = crop.labels.argmax(1) if soft else crop.labels
        frames = (crop.samples[::HOP] * 100).round().long()
        assert torch.equal(given, frames)
        # the other segment is of the same utterance
        assert float(crop.other.max()) < (30.1, 45.1, 12.6)[int(crop.speaker)] / 100
        starts.add((int(crop.speaker), int(given[0])))
    assert len(starts) > 10


def test_a_crop_depends_on_its_place_alone_and_epochs_differ(speech):
    per_speaker = labelled(speech, None, speech[0].path.parent)
    crops, again = (CodecCrops(per_speaker, 0.2, HOP, 8, 3) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(crops[5], again[5], strict=True))
    crops.advance(1)
    assert not torch.equal(crops[5].samples, again[5].samples)
    assert crops[0].labels.tolist() == [-1] * 10
    with pytest.raises(CorpusError, match="shorter crop"):
        CodecCrops(per_speaker, 9.0, HOP, 8, 3)
    with pytest.raises(IndexError):
        crops[8]


def test_a_teacher_is_asked_once(speech, tmp_path):
    teacher = Counting()
    for _ in range(2):
        labelled(speech, teacher, tmp_path / "told")
    assert teacher.asked == 3
    labelled(speech, Counting(soft=True), tmp_path / "told")
    assert len([p for p in (tmp_path / "told").iterdir()]) == 2
