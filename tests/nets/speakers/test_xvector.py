import pytest
import torch
from torch.nn import functional as F

from voicenym.nets.speakers.speechbrain_encoder import CHECKPOINT, published
from voicenym.nets.speakers.xvector import XVector
from voicenym.nets.weights import pickles

KERNELS, DILATIONS = (5, 3, 3, 1, 1), (1, 2, 3, 1, 1)


def layout(channels=512, pooled=1500, size=512):
    """Names and shapes of the published layout."""
    widths = [24, channels, channels, channels, channels, pooled]
    found = {}
    for layer, kernel in enumerate(KERNELS):
        outputs = widths[layer + 1]
        found[f"blocks.{3 * layer}.conv.weight"] = (outputs, widths[layer], kernel)
        found[f"blocks.{3 * layer}.conv.bias"] = (outputs,)
        for part in ("weight", "bias", "running_mean", "running_var"):
            found[f"blocks.{3 * layer + 2}.norm.{part}"] = (outputs,)
        found[f"blocks.{3 * layer + 2}.norm.num_batches_tracked"] = ()
    return {**found, "blocks.16.w.weight": (size, 2 * pooled), "blocks.16.w.bias": (size,)}


def plain(state, features):
    """The published network, without its noise, on features ``[frame, 24]``."""
    x = (features - features.mean(0)).T[None]
    for layer, (kernel, dilation) in enumerate(zip(KERNELS, DILATIONS, strict=True)):
        width = dilation * (kernel - 1) // 2
        if width:
            x = F.pad(x, (width, width), mode="reflect")
        name = f"blocks.{3 * layer}.conv"
        x = F.conv1d(x, state[f"{name}.weight"], state[f"{name}.bias"], dilation=dilation)
        x = torch.where(x > 0, x, 0.01 * x)
        name = f"blocks.{3 * layer + 2}.norm"
        mean, var, scale, shift = (
            state[f"{name}.{part}"][:, None]
            for part in ("running_mean", "running_var", "weight", "bias")
        )
        x = (x - mean) / torch.sqrt(var + 1e-5) * scale + shift
    pooled = torch.cat([x.mean(2), x.std(2) + 1e-5], 1)
    return (pooled @ state["blocks.16.w.weight"].T + state["blocks.16.w.bias"])[0]


def random_state(layout):
    generator = torch.Generator().manual_seed(0)
    state = {}
    for name, shape in layout.items():
        values = torch.randn(shape, generator=generator)
        if name.endswith("num_batches_tracked"):
            values = torch.tensor(7)
        elif name.endswith("running_var"):
            values = 0.5 + values.square()
        elif len(shape) > 1:
            values = values * (2.0 / values[0].numel()) ** 0.5
        state[name] = values
    return state


@pytest.fixture
def state():
    return random_state(layout(64, 100, 32))


@pytest.fixture
def encoder(state, tmp_path):
    torch.save(state, tmp_path / CHECKPOINT)
    return published("xvector", pickles.state(tmp_path / CHECKPOINT), CHECKPOINT)


def sounds(*lengths):
    generator = torch.Generator().manual_seed(0)
    return [0.1 * torch.randn(length, generator=generator) for length in lengths]


def test_a_published_checkpoint_gives_the_published_numbers(encoder, state):
    for sound in sounds(16_000, 23_456):
        features = encoder.features(sound[None])
        assert features.shape[2] == 24
        expected = plain(state, features[0])
        assert expected.abs().mean() > 0.1
        torch.testing.assert_close(encoder.embed([sound])[0], expected, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(encoder(sound[None])[0], expected, atol=1e-4, rtol=1e-4)


def test_the_published_size_is_loaded_as_it_is(tmp_path):
    torch.save({n: torch.zeros(s) for n, s in layout().items()}, tmp_path / CHECKPOINT)
    encoder = published("xvector", pickles.state(tmp_path / CHECKPOINT), CHECKPOINT)
    assert {n: tuple(v.shape) for n, v in encoder.state_dict().items()} == layout()
    assert encoder.config() == {"channels": 512, "pooled": 1500, "size": 512}


def test_a_vector_does_not_depend_on_its_company(encoder):
    recordings = sounds(16_000, 1_700, 9_999, 30_000)
    together = encoder.embed(recordings)
    for recording, vector in zip(recordings, together, strict=True):
        torch.testing.assert_close(encoder.embed([recording])[0], vector, atol=1e-4, rtol=1e-4)


def test_gradients_reach_the_waveform_of_silence_too(encoder):
    for sound in (sounds(4_000)[0], torch.zeros(4_000)):
        sound.requires_grad_()
        encoder(sound[None]).sum().backward()
        assert torch.isfinite(sound.grad).all()


def test_gradients_to_the_waveform_are_finite_differences():
    torch.manual_seed(0)
    encoder = XVector(channels=8, pooled=12, size=6).double().eval()
    encoder.load_state_dict(random_state({n: v.shape for n, v in encoder.state_dict().items()}))
    generator = torch.Generator().manual_seed(3)
    sound, direction = torch.randn(2, 1, 2_400, generator=generator, dtype=torch.float64)
    toward = torch.randn(6, generator=generator, dtype=torch.float64)
    sound.requires_grad_()
    (gradient,) = torch.autograd.grad((encoder(sound) * toward).sum(), sound)
    step = 1e-6
    with torch.no_grad():
        rise = (encoder(sound + step * direction) - encoder(sound - step * direction)) @ toward
    numeric = float(rise) / (2 * step)
    assert float((gradient * direction).sum()) == pytest.approx(numeric, rel=1e-4)
