"""Drawn accents on vectors whose directions of speakers are known."""

import pytest
import torch

from voicenym.nets.content import drawn_accent
from voicenym.nets.content.drawn_accent import changed, drawn, speaker_directions, speech_mean


def many(seed=0, speakers=200, each=20, size=6):
    """Means of recordings whose speakers differ in the first two elements alone."""
    rng = torch.Generator().manual_seed(seed)
    own = torch.zeros(speakers, 1, size)
    own[:, 0, :2] = torch.randn(speakers, 2, generator=rng) * torch.tensor([8.0, 3.0])
    scale = torch.tensor([2.0, 1.0, 1.0, 0.5, 1.0, 1.0])
    means = own + scale * torch.randn(speakers, each, size, generator=rng)
    return means.flatten(0, 1), torch.arange(speakers).repeat_interleave(each)


def test_directions_are_those_of_speakers_in_deviations_of_their_recordings():
    found = speaker_directions(*many(), count=2)
    sizes = found.abs()
    # the ratios of deviations are 4 and 3: the first element comes first
    assert sizes[0].argmax() == 0
    assert sizes[1].argmax() == 1
    torch.testing.assert_close(
        sizes[[0, 1], [0, 1]], drawn_accent.FAR * torch.tensor([2.0, 1.0]), rtol=0.1, atol=0
    )
    assert float(sizes[:, 2:].max()) < 0.2


def test_all_directions_together_have_the_covariance_of_recordings_of_one_speaker():
    found = speaker_directions(*many(), count=6) / drawn_accent.FAR
    wanted = torch.tensor([4.0, 1.0, 1.0, 0.25, 1.0, 1.0]).diag()
    torch.testing.assert_close(found.T @ found, wanted, rtol=0.1, atol=0.1)


def test_drawn_numbers_give_shift_and_factor():
    directions = torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    accent = drawn(directions, torch.tensor([[1.0, -1.0, 0.0, 1.0, 0.0], [0.0] * 5]))
    torch.testing.assert_close(accent.shift, torch.tensor([[1.0, -3.0, 2.0], [0.0] * 3]))
    assert float(accent.factor[0, 1].log()) == pytest.approx(drawn_accent.STRETCH)
    x, centre = torch.randn(2, 4, 3), torch.tensor([1.0, 2.0, 3.0])
    found = changed(x, centre, accent)
    torch.testing.assert_close(found[1], x[1])
    torch.testing.assert_close(found[0, :, 2], x[0, :, 2] + 2.0)
    assert torch.equal(accent.of([1]).shift, accent.shift[1:])


@pytest.mark.parametrize("speakers", [[0, 0, 0], [0, 1, 2], []])
def test_too_few_recordings_are_refused(speakers):
    with pytest.raises(ValueError, match="two speakers"):
        speaker_directions(torch.randn(len(speakers), 4), torch.tensor(speakers))


def test_means_leave_silence_out_unless_hardly_anything_is_left():
    x = torch.arange(20.0)[:, None]
    silent = torch.arange(20) < 10
    assert float(speech_mean(x, silent)) == 14.5
    assert float(speech_mean(x, torch.arange(20) < 17)) == 9.5
