import pytest
import torch

from voicenym.nets.synthesis.discriminators import (
    MultiPeriod,
    MultiScale,
    MultiSpectral,
    Period,
    Scale,
    Several,
    Spectral,
)

ALL = {
    "period": lambda: MultiPeriod((2, 3), (4, 8)),
    "scale": lambda: MultiScale(2, 16),
    "spectral": lambda: MultiSpectral(((256, 64), (128, 32)), 4),
    "magnitude": lambda: MultiSpectral(((256, 64), (128, 32)), 4, magnitude=True),
}


def noise(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("samples", [1601, 2000])
def test_scores_features_and_gradients(name, samples):
    torch.manual_seed(0)
    discriminators = ALL[name]()
    waveform = (0.1 * noise(3, samples)).requires_grad_()
    judgements = discriminators(waveform)
    assert len(judgements) == 2
    for judgement in judgements:
        assert judgement.score.shape[0] == 3
        assert torch.equal(judgement.features[-1].flatten(1), judgement.score)
        assert len(judgement.features) >= 3
    sum(judgement.score.sum() for judgement in judgements).backward()
    assert waveform.grad.isfinite().all()
    assert (waveform.grad != 0).float().mean() > 0.9


@pytest.mark.parametrize("name", ALL)
def test_rows_are_scored_separately(name):
    torch.manual_seed(0)
    discriminators, waveforms = ALL[name]().eval(), 0.1 * noise(3, 1600)
    with torch.inference_mode():
        for one, all_of_them in zip(
            discriminators(waveforms[1:2]), discriminators(waveforms), strict=True
        ):
            torch.testing.assert_close(one.score[0], all_of_them.score[1], atol=1e-5, rtol=1e-4)


def test_a_period_sees_only_its_own_column():
    torch.manual_seed(0)
    discriminator = Period(5, (4, 8))
    waveform = noise(1, 500).requires_grad_()
    score = discriminator(waveform).features[-1]
    assert score.shape[-1] == 5
    score[0, 0, 10, 3].backward()
    received = waveform.grad[0].nonzero()[:, 0]
    assert (received % 5 == 3).all()
    assert len(received) > 3


def test_magnitudes_do_not_hear_phase_but_spectra_do():
    torch.manual_seed(0)
    waveform = 0.1 * noise(1, 2000)
    for magnitude in (True, False):
        discriminator = Spectral(256, 64, 4, magnitude)
        with torch.inference_mode():
            one, other = (discriminator(sign * waveform).score for sign in (1, -1))
        assert torch.allclose(one, other, atol=1e-6) == magnitude


def test_a_sine_is_where_it_should_be_and_of_unit_window_energy():
    rate = 16_000
    waveform = torch.sin(2 * torch.pi * 2000 / rate * torch.arange(4096.0))[None]
    seen = Spectral(256, 64, 4, magnitude=True).look(waveform)
    assert (seen[0, 0, 5:-5].argmax(-1) == 2000 * 256 / rate).all()
    white = Spectral(256, 64, 4, magnitude=True).look(noise(1, 64_000))
    assert white.square()[..., 2:-2].mean() == pytest.approx(1.0, rel=0.03)


def test_published_sizes_and_names():
    with torch.device("meta"):
        period, scale = MultiPeriod(), MultiScale()
    plain = 5 * (192 + 20_608 + 328_192 + 2_622_464 + 5_243_904 + 3_073)
    lengths = 5 * (32 + 128 + 512 + 1024 + 1024 + 1)
    assert sum(p.numel() for p in period.parameters()) == plain + lengths
    assert 29e6 < sum(p.numel() for p in scale.parameters()) < 30e6
    names = {name.rsplit(".", 1)[0] for name in period.state_dict()}
    assert "discriminators.4.convs.4.parametrizations.weight" in names
    assert any(name.startswith("discriminators.2.conv_post") for name in names)


def test_halvings_keep_low_and_lose_high_tones():
    time = torch.arange(4000.0) / 16_000
    low, high = (torch.sin(2 * torch.pi * f * time)[None] for f in (200.0, 8000.0 - 1))
    look = Scale(2, 16).look
    assert look(low).shape[-1] == pytest.approx(1000, abs=2)
    assert look(low).std() > 0.6
    assert look(high)[..., 5:-5].std() < 0.05


def test_kinds_stand_side_by_side():
    torch.manual_seed(0)
    mixed = Several([ALL["period"](), ALL["spectral"]()])
    assert len(mixed(0.1 * noise(1, 1600))) == 4


def test_a_discriminator_learns_to_tell_tones_from_noise():
    from voicenym.nets.synthesis import synthesis_losses

    torch.manual_seed(0)
    discriminator = MultiSpectral(((128, 32),), 4)
    time = torch.arange(1600.0) / 16_000
    generator = torch.Generator().manual_seed(1)
    optimizer = torch.optim.Adam(discriminator.parameters(), 5e-3)
    found = []
    for _ in range(40):
        hertz = 200 + 3000 * torch.rand(4, 1, generator=generator)
        tones = torch.sin(2 * torch.pi * hertz * time)
        others = torch.randn(4, 1600, generator=generator)
        real, fake = discriminator(tones), discriminator(others)
        loss = synthesis_losses.discriminator_least_squares(
            [r.score for r in real], [f.score for f in fake]
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    assert found[-1] < 0.2 * found[0]
