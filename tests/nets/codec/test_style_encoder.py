"""Speaker encoder of the codec, on mels."""

import torch

from voicenym.nets.codec.style_encoder import SpeakerEncoder


def test_a_speaker_is_the_mean_over_time_of_what_frames_say():
    torch.manual_seed(0)
    net = SpeakerEncoder(12, width=8).eval()
    speech = torch.randn(3, 4000)
    found = net(speech)
    assert found.shape == (3, 12)
    # rows do not know each other
    torch.testing.assert_close(net(speech[1:2])[0], found[1])


def test_attention_and_convolutions_of_no_weights_leave_a_mean_of_frames():
    torch.manual_seed(0)
    net = SpeakerEncoder(5, width=8).eval()
    for part in (net.joined, net.temporal[0].conv, net.temporal[1].conv):
        for parameter in part.parameters():
            torch.nn.init.zeros_(parameter)
    speech = torch.randn(1, 256 * 20)
    expected = net.last(net.spectral(net.mel(speech))).mean(1)
    torch.testing.assert_close(net(speech), expected)


def test_dropout_is_of_training_alone():
    torch.manual_seed(0)
    net = SpeakerEncoder(5, width=8)
    speech = torch.randn(1, 4000)
    assert not torch.equal(net(speech), net(speech))
    net.eval()
    assert torch.equal(net(speech), net(speech))
