import json

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.synthesis import synthesizers, vocoders
from voicenym.nets.synthesis.acoustic_folded_nsf import AcousticFoldedNsf, with_folded_nsf
from voicenym.nets.synthesis.folded_nsf import FoldedFilterBlock, FoldedNsf

HOP = 160


def vocoder(**options):
    torch.manual_seed(0)
    sizes = {"channels": 8, "blocks": 2, "convolutions": 2, "width": 8, "speaker_width": 3}
    return FoldedNsf(10, 4, **{**sizes, **options}).eval()


def inputs(frames, f0=120.0):
    generator = torch.Generator().manual_seed(1)
    return (
        torch.randn(2, frames, 10, generator=generator),
        torch.full((2, frames), f0),
        torch.randn(2, 4, generator=generator),
        torch.tensor([1, 2]),
    )


@pytest.mark.parametrize("frames", [1, 24])
@pytest.mark.parametrize("fold", [1, 4])
def test_lengths_are_exact_and_rows_do_not_depend_on_each_other(frames, fold):
    network, given = vocoder(fold=fold), inputs(frames)
    with torch.inference_mode():
        waveform = network(*given)
        alone = network(*(x[1:] for x in given))
    assert waveform.shape == (2, frames * HOP)
    torch.testing.assert_close(alone[0], waveform[1], atol=1e-6, rtol=1e-4)


def test_the_level_follows_the_mels():
    """The filters learn shapes only: mels twice as large give exactly twice the waveform."""
    network, (mels, f0, speaker, seed) = vocoder(), inputs(24)
    # mean and deviation of the mels hide the factor from the filters
    with torch.inference_mode():
        network.standardize.mean.fill_(0.5)
        before = network(mels, f0, speaker, seed)
        network.standardize.mean.add_(torch.log(torch.tensor(2.0)))
        louder = network(mels + torch.log(torch.tensor(2.0)), f0, speaker, seed)
    torch.testing.assert_close(louder, 2 * before, atol=1e-6, rtol=1e-3)


def test_pitch_is_exact_before_any_training():
    network = vocoder()
    mels = torch.zeros(1, 100, 10)
    with torch.inference_mode():
        wave = network(mels, torch.full((1, 100), 125.0), torch.zeros(1, 4), torch.tensor([1]))
    spectrum = torch.fft.rfft(wave[0, 1600:14_400]).abs()
    hertz = torch.arange(len(spectrum)) * 16_000 / 12_800
    low = spectrum[: int(2000 / 1.25)]
    found = hertz[: len(low)][low > 0.3 * low.max()]
    assert len(found) >= 8
    assert float(((found / 125).round() * 125 - found).abs().max()) <= 1.25


def test_unvoiced_frames_have_noise_alone():
    network, (mels, _, speaker, seed) = vocoder(), inputs(24)
    silent_pitch = torch.zeros(2, 24)
    with torch.inference_mode():
        one = network(mels, silent_pitch, speaker, seed)
        again = network(mels, silent_pitch, speaker, seed)
        other = network(mels, silent_pitch, speaker, seed + 7)
    assert torch.equal(one, again)
    assert float((one - other).norm()) > 0.5 * float(one.norm())


def test_a_fold_of_one_sees_single_samples_and_four_a_quarter_of_the_steps():
    torch.manual_seed(0)
    seen = []
    for fold in (1, 4):
        block = FoldedFilterBlock(fold, 8, 2, 3)
        block.convs[0].register_forward_hook(lambda _, given, __: seen.append(given[0].shape[2]))
        signal, context = torch.randn(1, 320), torch.zeros(1, 8, 320 // fold)
        torch.nn.init.zeros_(block.leave.weight)
        assert torch.equal(block(signal, context), signal)
    assert seen == [320, 80]


def test_a_frame_is_a_whole_number_of_steps():
    with pytest.raises(ValueError, match="must divide the hop, 160"):
        FoldedNsf(10, 4, fold=3)


def test_the_synthesizer_comes_back_from_its_configuration():
    torch.manual_seed(0)
    options = {"channels": 8, "blocks": 1, "convolutions": 2, "width": 8}
    network = AcousticFoldedNsf(6, 4, 10, 16, vocoder=options).eval()
    other = AcousticFoldedNsf(**json.loads(json.dumps(network.config()))).eval()
    other.load_state_dict(network.state_dict())
    _, f0, speaker, seed = inputs(24)
    content = torch.randn(2, 24, 6)
    with torch.inference_mode():
        assert torch.equal(other(content, f0, speaker, seed), network(content, f0, speaker, seed))
    with pytest.raises(ValueError, match="as a whole"):
        network.stream(torch.zeros(1, 4))


def test_a_vocoder_joins_the_acoustic_model_of_another_synthesizer(tmp_path):
    torch.manual_seed(0)
    istft = {"width": 8, "inner": 16, "blocks": 1}
    former = synthesizers.make(
        "acoustic-istft",
        {"content": 6, "speaker": 4, "mels": 10, "width": 16, "vocoder": istft},
    ).eval()
    vocoders.save(vocoder(), tmp_path / "vocoder")
    own = vocoders.load(tmp_path / "vocoder")
    before = torch.random.get_rng_state()
    made = with_folded_nsf(former, own)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert made.acoustic is former.acoustic
    _, f0, speaker, seed = inputs(24)
    content = torch.randn(2, 24, 6)
    with torch.inference_mode():
        mels = former.acoustic(content, f0, speaker)
        expected = own(mels, f0, speaker, seed)
        assert torch.equal(made(content, f0, speaker, seed), expected)
        again = AcousticFoldedNsf(**json.loads(json.dumps(made.config()))).eval()
        again.load_state_dict(made.state_dict())
        assert torch.equal(again(content, f0, speaker, seed), expected)
    with pytest.raises(
        VoicenymError, match="the vocoder has features 10, and the acoustic model 5"
    ):
        with_folded_nsf(synthesizers.make("acoustic-istft", {**former.config(), "mels": 5}), own)
    with pytest.raises(VoicenymError, match="two models, not istft-vocoder"):
        with_folded_nsf(
            synthesizers.make("istft-vocoder", {"content": 6, "speaker": 4, **istft}), own
        )
