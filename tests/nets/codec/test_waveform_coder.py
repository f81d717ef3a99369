"""Waveform encoder and decoder of the codec."""

import pytest
import torch

from voicenym.nets.codec.waveform_coder import Decoder, SpeechEncoder

SIZES = (2, (2, 4, 5, 8), 6, 1, 3, 2)


def test_the_published_widths():
    encoder = SpeechEncoder(32, (2, 4, 5, 8), 512, 2, 3, 2, False)
    assert encoder.hop == 320
    assert [c.kernel_size[0] for c in encoder.down] == [4, 8, 10, 16]
    assert [c.out_channels for c in encoder.down] == [64, 128, 256, 512]
    assert encoder.recurrent.lstm.num_layers == 2
    assert encoder.last.kernel_size == (7,)
    decoder = Decoder(32, (2, 4, 5, 8), 512, 2, 3, 2, False)
    assert [u.factor for u in decoder.up] == [8, 5, 4, 2]
    assert [u.out_channels for u in decoder.up] == [256, 128, 64, 32]


@pytest.mark.parametrize("causal", [False, True])
def test_frames_and_samples_are_in_exact_length(causal):
    encoder, decoder = SpeechEncoder(*SIZES, causal), Decoder(*SIZES, causal)
    for frames in (1, 2, 7):
        x = encoder(torch.randn(3, frames * 320))
        assert x.shape == (3, 6, frames)
        assert decoder(x).shape == (3, frames * 320)


def test_a_causal_frame_hears_nothing_later_and_a_sample_depends_on_no_later_frame():
    torch.manual_seed(0)
    encoder, decoder = SpeechEncoder(*SIZES, True), Decoder(*SIZES, True)
    speech = torch.randn(1, 5 * 320)
    other = speech.clone()
    other[:, 3 * 320 :] += 1.0
    x, y = encoder(speech), encoder(other)
    torch.testing.assert_close(x[:, :, :3], y[:, :, :3])
    assert not torch.allclose(x[:, :, 3], y[:, :, 3])
    torch.testing.assert_close(decoder(x)[:, : 3 * 320], decoder(y)[:, : 3 * 320])
    look = SpeechEncoder(*SIZES, False)
    assert not torch.allclose(look(speech)[:, :, 2], look(other)[:, :, 2])
