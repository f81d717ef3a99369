import json

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.synthesis import synthesizers, vocoders
from voicenym.nets.synthesis.convnext_hifigan import ConvNextHifiGan, with_hifigan
from voicenym.nets.synthesis.hifigan_head import HifiGanHead

HOP = 160
FRAMES = {"width": 8, "inner": 16, "blocks": 2, "kernel": 5, "speaker_width": 3}
SIZE = {
    "rates": (8, 5, 4),
    "channels": 16,
    "two_convolutions": False,
    "block_kernels": (3, 5),
    "block_dilations": ((1, 2), (2, 6)),
}


def small(interpolated=False):
    torch.manual_seed(0)
    size = {**SIZE, "interpolated": interpolated, "entrance": 1 if interpolated else 7}
    network = ConvNextHifiGan(6, 4, FRAMES, {"size": size}).eval()
    for parameter in network.parameters():
        if parameter.ndim > 1:  # the published initial weights leave near silence
            torch.nn.init.normal_(parameter, std=parameter[0].numel() ** -0.5)
    return network


def inputs(frames, rows=2):
    generator = torch.Generator().manual_seed(1)
    f0 = torch.full((rows, frames), 120.0)
    f0[:, frames // 3 : frames // 2] = 0.0
    return (
        torch.randn(rows, frames, 6, generator=generator),
        f0,
        torch.randn(rows, 4, generator=generator),
        torch.arange(1, rows + 1),
    )


@pytest.mark.parametrize("interpolated", [False, True])
def test_lengths_are_exact_and_rows_do_not_depend_on_each_other(interpolated):
    network, given = small(interpolated), inputs(24)
    with torch.inference_mode():
        waveform = network(*given)
        alone = network(*(x[1:] for x in given))
    assert waveform.shape == (2, 24 * HOP)
    assert float(waveform.std()) > 0.01
    torch.testing.assert_close(alone[0], waveform[1], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("interpolated", [False, True])
def test_a_stream_equals_the_whole(interpolated):
    network, (content, f0, speaker, seed) = small(interpolated), inputs(61)
    with torch.inference_mode():
        whole = network(content, f0, speaker, seed)
    stream = network.stream(speaker, seed)
    parts, first = [], 0
    for count in (1, 7, 2, 20, 31):
        parts.append(stream.push(content[:, first : first + count], f0[:, first : first + count]))
        first += count
    assert sum(part.shape[1] for part in parts) == 61 * HOP - stream.latency
    found = torch.cat([*parts, stream.flush()], 1)
    torch.testing.assert_close(found, whole, atol=1e-5, rtol=1e-3)


def test_seed_and_f0_reach_the_waveform_through_the_source():
    network, (content, f0, speaker, seed) = small(), inputs(24)
    hidden = network.frames.hidden(content, f0, speaker)
    with torch.inference_mode():
        usual = network.vocoder(hidden, f0, seed)
        assert torch.equal(network.vocoder(hidden, f0, seed), usual)
        for other in ((hidden, f0, seed + 5), (hidden, 1.3 * f0, seed)):
            assert not torch.allclose(network.vocoder(*other), usual, atol=1e-4)
        for convolution in network.vocoder.source_convolutions:
            convolution.weight.zero_()
        silent = network.vocoder(hidden, f0, seed)
        assert torch.equal(network.vocoder(hidden, 1.3 * f0, seed + 5), silent)


def test_interpolated_stages_have_no_pattern_of_the_period_of_frames():
    """Constant frames give a constant but for the source, where transposed convolutions give a
    signal of the period of a frame.
    """
    found = {}
    for interpolated in (False, True):
        network = small(interpolated)
        with torch.inference_mode():
            for convolution in network.vocoder.source_convolutions:
                convolution.weight.zero_()
            hidden = torch.randn(1, 1, 8).expand(1, 60, 8)
            wave = network.vocoder(hidden, torch.zeros(1, 60), torch.tensor([1]))
        middle = wave[0, 20 * HOP : 40 * HOP]
        assert torch.allclose(middle[:HOP], middle[HOP : 2 * HOP], atol=1e-5)
        found[interpolated] = float(middle.std())
    assert found[False] > 0.01
    assert found[True] < 1e-5


def test_the_output_layer_of_the_inverse_stft_is_not_used():
    network, given = small(), inputs(24)
    with torch.inference_mode():
        before = network(*given)
        network.frames.head.weight.fill_(7.0)
        assert torch.equal(network(*given), before)


def test_it_joins_the_frame_network_of_another_synthesizer(tmp_path):
    torch.manual_seed(0)
    former = synthesizers.make("istft-vocoder", {"content": 6, "speaker": 4, **FRAMES}).eval()
    vocoders.save(small(True).vocoder, tmp_path / "vocoder")
    own = vocoders.load(tmp_path / "vocoder")
    before = torch.random.get_rng_state()
    made = vocoders.with_vocoder(former, own)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert made.frames is former
    content, f0, speaker, seed = inputs(24)
    with torch.inference_mode():
        expected = own(former.hidden(content, f0, speaker), f0, seed)
        assert torch.equal(made(content, f0, speaker, seed), expected)
        again = ConvNextHifiGan(**json.loads(json.dumps(made.config()))).eval()
        again.load_state_dict(made.state_dict())
        assert torch.equal(again(content, f0, speaker, seed), expected)
    wider = synthesizers.make("istft-vocoder", {**former.config(), "width": 12})
    with pytest.raises(VoicenymError, match=r"frames of 8 numbers and 160 samples .* 12 and 160"):
        with_hifigan(wider, own)
    with pytest.raises(VoicenymError, match="needs a synthesizer istft-vocoder, not hifigan"):
        with_hifigan(synthesizers.make("hifigan", {"content": 6, "speaker": 4, "size": SIZE}), own)


def test_frames_of_the_two_parts_have_one_length():
    with pytest.raises(ValueError, match="make 80 samples of a frame, not 160"):
        ConvNextHifiGan(6, 4, FRAMES, {"size": {**SIZE, "rates": (5, 4, 4)}})
    assert HifiGanHead(8, SIZE).hop == HOP
