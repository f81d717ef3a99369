"""Outputs of speakers, by the key."""

from __future__ import annotations

import pytest

from voicenym.corpus.speaker_links import outputs_of
from voicenym.errors import CorpusError
from voicenym.pseudonym import Key


def test_a_recording_is_no_output_folder(sample):
    with pytest.raises(CorpusError, match=r"sample\.wav: is no folder; give the output folder"):
        outputs_of(sample, Key.generate(), ["anna"])
