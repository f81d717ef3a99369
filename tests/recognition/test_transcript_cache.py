"""Transcripts are made once, whatever stops in between, and belong to recordings by content."""

from __future__ import annotations

import numpy as np
import pytest

from voicenym.recognition.transcript_cache import CachedRecogniser

RNG = np.random.default_rng(0)
SOUNDS = [RNG.standard_normal(n).astype(np.float32) for n in (100, 200, 300)]


class Counting:
    """Writes the length of a recording; stops at the second one if it is told to."""

    name, loops = "counting", 0

    def __init__(self, identity="one", stop=False):
        self.identity, self.stop, self.asked = identity, stop, []

    def transcribe(self, recordings):
        (samples,) = recordings
        self.asked.append(len(samples))
        if self.stop and len(self.asked) == 2:
            raise KeyboardInterrupt
        self.loops = int(len(samples) == 300)
        return [f"{len(samples)} samples"]

    def close(self):
        self.stop = True


def test_an_interrupted_evaluation_goes_on(tmp_path):
    path = tmp_path / "report" / "transcripts.jsonl"
    with pytest.raises(KeyboardInterrupt):
        CachedRecogniser(Counting(stop=True), path).transcribe(SOUNDS)
    later = Counting()
    cached = CachedRecogniser(later, path)
    assert cached.transcribe(SOUNDS) == ["100 samples", "200 samples", "300 samples"]
    assert later.asked == [200, 300]
    assert "1 of 3 recordings" in cached.notes[0]
    assert CachedRecogniser(Counting(), path).transcribe(SOUNDS[:1]) == ["100 samples"]
    assert path.stat().st_mode & 0o077 == 0
    assert "samples" in path.read_text()


def test_another_recogniser_and_other_samples_are_asked_anew(tmp_path):
    path = tmp_path / "transcripts.jsonl"
    CachedRecogniser(Counting(), path).transcribe(SOUNDS[:1])
    other = Counting("other")
    CachedRecogniser(other, path).transcribe(SOUNDS[:1])
    same = Counting()
    CachedRecogniser(same, path).transcribe([SOUNDS[0], 1.01 * SOUNDS[0]])
    assert (other.asked, same.asked) == ([100], [100])


def test_damaged_lines_are_ignored(tmp_path):
    path = tmp_path / "transcripts.jsonl"
    path.write_text('{"of": "x"\nnothing\n[]\n')
    assert CachedRecogniser(Counting(), path).transcribe(SOUNDS[:1]) == ["100 samples"]
