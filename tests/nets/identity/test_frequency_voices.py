"""Speaker vectors of formants and F0: a known map is found again, and stored."""

from __future__ import annotations

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import write
from voicenym.nets.identity.frequency_voices import FrequencyVoices
from voicenym.nets.speakers.formant_pitch_encoder import octaves, typical


def people(count, seed=0):
    """Scaled octaves of invented people, ``[speaker, 5]``."""
    return torch.randn(count, 5, generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def truth():
    """A map whose vectors differ little in length, as those of real encoders."""
    made = FrequencyVoices(12, encoder="ecapa", version="0123456789abcdef")
    made.slope.copy_(0.03 * torch.randn(12, 5, generator=torch.Generator().manual_seed(1)))
    made.level.copy_(torch.nn.functional.normalize(torch.arange(1.0, 13.0), dim=0))
    return made


def test_a_known_map_is_found_again(truth):
    found, some, others = FrequencyVoices(12), people(400), people(50, seed=2)
    found.learn(some, truth(some), penalty=1e-4)
    middle = truth(some).mean(0)
    moved, wanted = found(others) - middle, truth(others) - middle
    assert float(torch.cosine_similarity(moved, wanted).min()) > 0.95


def test_vectors_have_unit_length_and_rows_do_not_matter(truth):
    whole = truth(people(7))
    torch.testing.assert_close(whole.norm(dim=1), torch.ones(7))
    assert torch.equal(whole, torch.stack([truth(one) for one in people(7)]))
    parts = people(6).reshape(3, 2, 5)
    assert torch.equal(truth(parts).reshape(6, 12), truth(people(6)))


def test_unknown_frequencies_give_the_typical_voice(truth):
    unknown = octaves(torch.zeros(5))
    assert torch.equal(unknown, octaves(typical(5)))
    wanted = torch.nn.functional.normalize(truth.level, dim=0)
    torch.testing.assert_close(truth(unknown), wanted)


def test_a_map_comes_back_from_its_folder(truth, tmp_path):
    truth.save(tmp_path / "map", {"speakers": 3})
    found = FrequencyVoices.load(tmp_path / "map")
    assert (found.size, found.formants, found.version) == (12, 4, "0123456789abcdef")
    assert torch.equal(found(people(3)), truth(people(3)))
    write(tmp_path / "other", {"x": torch.zeros(1)}, {"kind": "register"})
    with pytest.raises(VoicenymError, match="no map of frequencies"):
        FrequencyVoices.load(tmp_path / "other")
