import math

import numpy as np
import pytest
import torch

from voicenym.nets.synthesis import synthesis_losses

RATE = 16_000


def noise(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def full(*values):
    return [torch.full((2, 3), float(value)) for value in values]


def test_least_squares_are_the_mean_squared_distances_from_one_and_zero():
    assert synthesis_losses.discriminator_least_squares(full(1, 1), full(0, 0)) == 0
    found = synthesis_losses.discriminator_least_squares(full(0.5, 1), full(0.25, -1))
    assert found == pytest.approx(0.25 + 0.0625 + 1)
    assert synthesis_losses.generator_least_squares(full(1, 0, 3)) == pytest.approx(0 + 1 + 4)


def test_hinge_has_nothing_to_gain_beyond_the_margin():
    assert synthesis_losses.discriminator_hinge(full(1, 7), full(-1, -9)) == 0
    assert synthesis_losses.discriminator_hinge(full(0.5), full(0.5)) == pytest.approx(0.5 + 1.5)
    assert synthesis_losses.generator_hinge(full(1, 5)) == 0
    assert synthesis_losses.generator_hinge(full(-1)) == pytest.approx(2)


def test_feature_matching_is_zero_for_the_same_features_and_spares_the_real_ones():
    real = [full(2, 4), full(1)]
    fake = [full(3, 1), full(1)]
    assert synthesis_losses.feature_matching(real, fake) == pytest.approx(1 + 3)
    relative = synthesis_losses.feature_matching(real, fake, relative=True)
    assert relative == pytest.approx((1 / 2 + 3 / 4 + 0) / 3)
    assert synthesis_losses.feature_matching(real, real) == 0
    of_real, of_fake = (noise(4, seed=s).requires_grad_() for s in (0, 1))
    synthesis_losses.feature_matching([[of_real]], [[of_fake]]).backward()
    assert of_real.grad is None
    torch.testing.assert_close(of_fake.grad, torch.sign(of_fake - of_real).detach() / 4)


def test_discriminator_and_generator_losses_meet_at_the_known_optimum():
    # where real and fake are alike, the best constant answer is 1/2, with loss 1/2
    answers = torch.linspace(-1, 2, 301)
    values = [synthesis_losses.discriminator_least_squares([a], [a]) for a in answers[:, None]]
    best = int(torch.stack(values).argmin())
    assert answers[best] == pytest.approx(0.5, abs=1e-6)
    assert values[best] == pytest.approx(0.5)


def test_log_mels_are_those_of_the_definition():
    mel = synthesis_losses.LogMel(RATE, 512, 128, 20)
    waveform = 0.1 * noise(1, 2048)
    found = mel(waveform)[0]
    assert found.shape == (16, 20)
    # frame 5, plainly
    padded = torch.nn.functional.pad(waveform[None], (192, 192), mode="reflect")[0, 0]
    frame = padded[5 * 128 : 5 * 128 + 512].double()
    window = 0.5 - 0.5 * torch.cos(2 * math.pi * torch.arange(512.0).double() / 512)
    magnitude = (torch.fft.rfft(frame * window).abs().square() + 1e-9).sqrt()
    expected = (mel.bank.double() @ magnitude).log()
    torch.testing.assert_close(found[5].double(), expected, atol=1e-5, rtol=0)


def test_log_mels_agree_with_librosas_filterbank():
    librosa = pytest.importorskip("librosa")
    waveform = 0.1 * noise(1, 8000)
    mel = synthesis_losses.LogMel(22_050, 1024, 256, 80, 0.0, 8000.0)
    bank = librosa.filters.mel(sr=22_050, n_fft=1024, n_mels=80, fmin=0, fmax=8000)
    padded = torch.nn.functional.pad(waveform[None], (384, 384), mode="reflect")[0, 0].numpy()
    windows = np.lib.stride_tricks.sliding_window_view(padded, 1024)[::256]
    spectra = np.fft.rfft(windows * (0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(1024) / 1024)))
    expected = torch.from_numpy(abs(spectra) @ bank.T).float().clamp_min(1e-5).log()
    torch.testing.assert_close(mel(waveform)[0], expected, atol=2e-3, rtol=0)


def test_mel_distance_of_a_gain_is_its_logarithm():
    mel = synthesis_losses.LogMel(RATE)
    waveform = noise(2, 8000)
    assert synthesis_losses.mel_distance(waveform, waveform, mel) == 0
    found = synthesis_losses.mel_distance(waveform, waveform * math.e, mel)
    assert found == pytest.approx(1.0, abs=1e-4)


def test_multi_resolution_stft_of_a_gain():
    waveform = noise(2, 8000)
    assert synthesis_losses.multi_resolution_stft(waveform, waveform) == 0
    # ||x - g x|| / ||x|| = |1 - g|; |log x - log g x| = |log g|
    found = synthesis_losses.multi_resolution_stft(waveform, 0.5 * waveform)
    assert found == pytest.approx(0.5 + math.log(2), abs=1e-3)


def test_log_spectral_distance_of_a_gain():
    waveform = noise(2, 8000)
    found = synthesis_losses.log_spectral_distance(waveform, 2 * waveform, floor=0.0)
    assert found == pytest.approx(3 * 0.5 * math.log(4) ** 2, rel=1e-3)


def test_spectral_distances_do_not_mind_the_sign_and_survive_silence():
    waveform, mel = noise(1, 4000), synthesis_losses.LogMel(RATE)
    for distance in (
        synthesis_losses.multi_resolution_stft,
        synthesis_losses.log_spectral_distance,
        lambda a, b: synthesis_losses.mel_distance(a, b, mel),
    ):
        assert distance(waveform, -waveform) == pytest.approx(0.0, abs=1e-6)
        silence = torch.zeros(1, 4000, requires_grad=True)
        value = distance(waveform, silence)
        value.backward()
        assert value.isfinite()
        assert silence.grad.isfinite().all()


def test_distances_are_in_single_precision_whatever_the_network_runs_in():
    mel = synthesis_losses.LogMel(RATE)
    real, fake = noise(1, 4000), noise(1, 4000, seed=1)

    def distances():
        return torch.stack(
            [
                synthesis_losses.mel_distance(real, fake, mel),
                synthesis_losses.multi_resolution_stft(real, fake),
                synthesis_losses.log_spectral_distance(real, fake),
            ]
        )

    expected = distances()
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(distances(), expected)
