import pytest
import torch
from torch.nn import functional as F

from voicenym.nets.speakers.ecapa import Ecapa
from voicenym.nets.speakers.speechbrain_encoder import CHECKPOINT, published
from voicenym.nets.weights import pickles


def shapes(channels, size=192, middle=128):
    """Names and shapes of the published layout."""
    found = {}

    def conv(name, outputs, inputs, kernel):
        found[f"{name}.weight"], found[f"{name}.bias"] = (outputs, inputs, kernel), (outputs,)

    def norm(name, width):
        for part in ("weight", "bias", "running_mean", "running_var"):
            found[f"{name}.norm.{part}"] = (width,)
        found[f"{name}.norm.num_batches_tracked"] = ()

    def tdnn(name, outputs, inputs, kernel):
        conv(f"{name}.conv.conv", outputs, inputs, kernel)
        norm(f"{name}.norm", outputs)

    tdnn("blocks.0", channels, 80, 5)
    for block in (1, 2, 3):
        tdnn(f"blocks.{block}.tdnn1", channels, channels, 1)
        for group in range(7):
            width = channels // 8
            tdnn(f"blocks.{block}.res2net_block.blocks.{group}", width, width, 3)
        tdnn(f"blocks.{block}.tdnn2", channels, channels, 1)
        conv(f"blocks.{block}.se_block.conv1.conv", middle, channels, 1)
        conv(f"blocks.{block}.se_block.conv2.conv", channels, middle, 1)
    tdnn("mfa", 3 * channels, 3 * channels, 1)
    tdnn("asp.tdnn", middle, 9 * channels, 1)
    conv("asp.conv.conv", 3 * channels, middle, 1)
    norm("asp_bn", 6 * channels)
    conv("fc.conv", size, 6 * channels, 1)
    return found


def random_state(layout, seed=0):
    """Weights that keep activations of ordinary size; statistics of normalisation unlike one."""
    generator = torch.Generator().manual_seed(seed)
    state = {}
    for name, shape in layout.items():
        values = torch.randn(shape, generator=generator)
        if name.endswith("num_batches_tracked"):
            values = torch.tensor(7)
        elif name.endswith("running_var"):
            values = 0.5 + values.square()
        elif len(shape) == 3:
            values = values * (2.0 / (shape[1] * shape[2])) ** 0.5
        else:
            values = 0.3 * values + (1.0 if name.endswith("norm.weight") else 0.0)
        state[name] = values
    return state


def plain(state, features):
    """The published network on features ``[frame, 80]`` of one recording, step by step."""

    def conv(x, name, dilation=1):
        weight = state[f"{name}.weight"]
        width = dilation * (weight.shape[2] - 1) // 2
        if width:
            x = F.pad(x, (width, width), mode="reflect")
        return F.conv1d(x, weight, state[f"{name}.bias"], dilation=dilation)

    def norm(x, name):
        mean, var, scale, shift = (
            state[f"{name}.norm.{part}"][:, None]
            for part in ("running_mean", "running_var", "weight", "bias")
        )
        return (x - mean) / torch.sqrt(var + 1e-5) * scale + shift

    def tdnn(x, name, dilation=1):
        return norm(conv(x, f"{name}.conv.conv", dilation).clamp_min(0), f"{name}.norm")

    x = (features - features.mean(0)).T[None]
    x = tdnn(x, "blocks.0")
    layers = []
    for block, dilation in ((1, 2), (2, 3), (3, 4)):
        name = f"blocks.{block}"
        y = tdnn(x, f"{name}.tdnn1")
        width = y.shape[1] // 8
        groups = [y[:, :width]]
        for i in range(1, 8):
            group = y[:, i * width : (i + 1) * width]
            if i > 1:
                group = group + groups[-1]
            groups.append(tdnn(group, f"{name}.res2net_block.blocks.{i - 1}", dilation))
        y = tdnn(torch.cat(groups, 1), f"{name}.tdnn2")
        gate = conv(y.mean(2, keepdim=True), f"{name}.se_block.conv1.conv").clamp_min(0)
        gate = 1 / (1 + torch.exp(-conv(gate, f"{name}.se_block.conv2.conv")))
        x = x + gate * y
        layers.append(x)
    x = tdnn(torch.cat(layers, 1), "mfa")
    mean, std = x.mean(2, keepdim=True), x.std(2, keepdim=True, correction=0)
    context = torch.cat([x, mean.expand_as(x), std.expand_as(x)], 1)
    attention = conv(torch.tanh(tdnn(context, "asp.tdnn")), "asp.conv.conv")
    weights = torch.exp(attention - attention.amax(2, keepdim=True))
    weights = weights / weights.sum(2, keepdim=True)
    mean = (weights * x).sum(2, keepdim=True)
    std = ((weights * (x - mean) ** 2).sum(2, keepdim=True)).clamp_min(1e-12).sqrt()
    return conv(norm(torch.cat([mean, std], 1), "asp_bn"), "fc.conv")[0, :, 0]


@pytest.fixture
def state():
    return random_state(shapes(64))


@pytest.fixture
def encoder(state, tmp_path):
    torch.save(state, tmp_path / CHECKPOINT)
    return published("ecapa", pickles.state(tmp_path / CHECKPOINT), CHECKPOINT)


def sounds(*lengths, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [0.1 * torch.randn(length, generator=generator) for length in lengths]


def test_a_published_checkpoint_gives_the_published_numbers(encoder, state):
    for sound in sounds(16_000, 23_456):
        features = encoder.features(sound[None])
        expected = plain(state, features[0])
        assert expected.abs().mean() > 0.1
        torch.testing.assert_close(encoder.embed([sound])[0], expected, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(encoder(sound[None])[0], expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("channels", "parameters"), [(512, 6_194_048), (1_024, 20_767_552)])
def test_the_published_sizes_are_loaded_as_they_are(channels, parameters, tmp_path):
    layout = shapes(channels)
    torch.save({n: torch.zeros(s) for n, s in layout.items()}, tmp_path / CHECKPOINT)
    encoder = published("ecapa", pickles.state(tmp_path / CHECKPOINT), CHECKPOINT)
    assert {n: tuple(v.shape) for n, v in encoder.state_dict().items()} == layout
    assert sum(p.numel() for p in encoder.parameters()) == parameters
    assert encoder.config()["channels"] == channels
    assert encoder.size == 192


def test_a_vector_does_not_depend_on_its_company(encoder):
    recordings = sounds(16_000, 1_700, 9_999, 30_000)
    recordings[1][-20:] = 0.9  # a click at the end, to be reflected
    together = encoder.embed(recordings)
    for recording, vector in zip(recordings, together, strict=True):
        torch.testing.assert_close(encoder.embed([recording])[0], vector, atol=1e-4, rtol=1e-4)
    padded = torch.nn.utils.rnn.pad_sequence(recordings, batch_first=True)
    lengths = torch.tensor([len(r) for r in recordings])
    found = encoder(padded, lengths)
    torch.testing.assert_close(found.detach(), together, atol=1e-4, rtol=1e-4)
    found = encoder.embed(recordings, padded=24_000)
    torch.testing.assert_close(found, together, atol=1e-4, rtol=1e-4)


def test_level_is_of_no_matter(encoder):
    (sound,) = sounds(16_000)
    torch.testing.assert_close(
        encoder.embed([0.1 * sound]), encoder.embed([sound]), atol=1e-3, rtol=1e-3
    )


def test_gradients_to_the_waveform_are_finite_differences():
    torch.manual_seed(0)
    encoder = Ecapa(channels=16, size=6, attention=8, squeeze=8).double().eval()
    layout = {n: tuple(v.shape) for n, v in encoder.state_dict().items()}
    encoder.load_state_dict(random_state(layout))
    generator = torch.Generator().manual_seed(3)
    sound = torch.randn(2, 2_400, generator=generator, dtype=torch.float64)
    sound[1, 1_900:] = 0.0
    lengths = torch.tensor([2_400, 1_900])
    toward = torch.randn(2, 6, generator=generator, dtype=torch.float64)

    def score(waveforms):
        return (encoder(waveforms, lengths) * toward).sum()

    sound.requires_grad_()
    (gradient,) = torch.autograd.grad(score(sound), sound)
    assert torch.count_nonzero(gradient[0]) > 2_000
    for _ in range(3):
        direction = torch.randn(sound.shape, generator=generator, dtype=torch.float64)
        direction[1, 1_900:] = 0.0
        step = 1e-6
        with torch.no_grad():
            rise = score(sound + step * direction) - score(sound - step * direction)
        numeric = float(rise) / (2 * step)
        assert float((gradient * direction).sum()) == pytest.approx(numeric, rel=1e-4, abs=1e-7)


def test_it_learns_to_distinguish_two_noises():
    torch.manual_seed(0)
    encoder = Ecapa(channels=16, size=8, attention=8, squeeze=8)
    generator = torch.Generator().manual_seed(0)
    white = 0.1 * torch.randn(16, 4_000, generator=generator)
    labels = torch.arange(16) % 2
    tilted = white - 0.9 * torch.nn.functional.pad(white, (1, 0))[:, :-1]
    sound = torch.where(labels[:, None] == 1, tilted, white)
    optimizer = torch.optim.Adam(encoder.parameters(), 1e-2)
    losses = []
    for _ in range(8):
        loss = F.cross_entropy(encoder(sound), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.3 * losses[0]
    assert all(p.grad is not None for p in encoder.parameters())


def test_its_configuration_rebuilds_it():
    encoder = Ecapa(channels=32, size=10, scale=4, attention=6, squeeze=5)
    again = Ecapa(**encoder.config())
    again.load_state_dict(encoder.state_dict())
    with pytest.raises(ValueError, match="multiple of the scale"):
        Ecapa(channels=30)
