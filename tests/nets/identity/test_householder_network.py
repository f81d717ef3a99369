"""The orthogonal Householder network of Miao et al. 2023."""

import itertools

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.identity.householder_network import INPUTS, READINGS, Householder

KINDS = [("roh", "positions", "input"), *itertools.product(["loh"], READINGS, INPUTS)]


def network(form, reading, sees, size=8, layers=3, reflections=6, **options):
    torch.manual_seed(0)
    return Householder(form, size, layers, reflections, reading, sees, **options)


def vectors(count, size=8, seed=1, dtype=torch.float64):
    return torch.randn(count, size, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def plainly(net, z):
    """Convolutions as torch has them, reflections one after another."""
    seen = z
    for layer in range(net.layers):
        if net.form == "roh":
            made = net.vectors[layer][None].expand(len(z), -1, -1)
        elif net.reading == "dense":
            middle = torch.nn.functional.pad(net.weight[layer][..., None], (1, 1))
            sequence = (seen / net.spread)[..., None]
            made = torch.stack(
                [
                    torch.nn.functional.conv1d(sequence, w, b, padding=1)[..., 0]
                    for w, b in zip(middle, net.bias[layer], strict=True)
                ],
                dim=1,
            )
        else:
            made = torch.nn.functional.conv1d(
                (seen / net.spread)[:, None], net.weight[layer][:, None], net.bias[layer], padding=1
            )
            if net.reading == "positions":
                made = made.mT[:, : net.reflections]
        for v in made.unbind(1):
            z = z - 2.0 * (v * z).sum(1, keepdim=True) / (v * v).sum(1, keepdim=True) * v
        if net.sees == "layer":
            seen = z
    return z


@pytest.mark.parametrize(("form", "reading", "sees"), KINDS)
def test_it_is_the_reflections_one_after_another(form, reading, sees):
    net = network(form, reading, sees).double()
    net.spread.fill_(1.7)
    z = vectors(5)
    expected = plainly(net, z)
    torch.testing.assert_close(net.rotated(z), expected)
    turned = (net.rotation(z) @ z[..., None])[..., 0]
    torch.testing.assert_close(turned, expected)


@pytest.mark.parametrize(("form", "reading", "sees"), KINDS)
def test_gradients_are_those_of_finite_differences(form, reading, sees):
    net = network(form, reading, sees, size=5, layers=2, reflections=3).double()
    names = [name for name, _ in net.named_parameters()]

    def turned(z, *values):
        return torch.func.functional_call(net, dict(zip(names, values, strict=True)), (z,))

    values = [p.detach().clone().requires_grad_() for p in net.parameters()]
    assert torch.autograd.gradcheck(turned, (vectors(2, 5).requires_grad_(), *values))


@pytest.mark.parametrize(("form", "reading", "sees"), KINDS)
def test_orthogonal_at_the_papers_size_in_single_precision(form, reading, sees):
    # The dense reading has 22 million weights; two layers of it are enough here.
    layers = 2 if reading == "dense" else 12
    torch.manual_seed(0)
    net = Householder(form, layers=layers, reading=reading, sees=sees)
    assert net.reflections == (192 if form == "roh" else 50)
    z = vectors(16, 192, dtype=torch.float32)
    with torch.no_grad():
        turn = net.rotation(z[:3])
        ratio = net.rotated(z).norm(dim=1) / z.norm(dim=1)
    assert (turn.mT @ turn - torch.eye(192)).abs().max() < 1e-5
    torch.testing.assert_close(ratio, torch.ones(16), atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("form", "reading", "count"),
    [
        ("roh", "positions", 442_368),
        ("loh", "positions", 9_216),
        ("loh", "filters", 2_400),
        ("loh", "dense", 600 * (192 + 1) * 192),  # of three taps the middle one
    ],
)
def test_parameters_at_the_papers_size(form, reading, count):
    with torch.device("meta"):
        net = Householder(form, reading=reading)
    assert sum(parameter.numel() for parameter in net.parameters()) == count


@pytest.mark.parametrize(
    ("form", "reading", "turned", "together"),
    [
        ("roh", "positions", 24, 24),
        ("loh", "positions", 12, 12),
        ("loh", "filters", 4, 7),
        ("loh", "dense", 18, 24),
    ],
)
def test_dimensions_that_are_turned(form, reading, turned, together):
    """Rank of W - I, and of those of two speakers: ``positions`` turn four a layer, the same for
    all; ``filters`` four in all, of the speaker's own but for the ones.
    """
    reflections = 24 if form == "roh" else 6
    net = network(form, reading, "input", 24, 3, reflections).double()
    turn = net.rotation(vectors(2, 24))
    change = turn - torch.eye(24, dtype=torch.float64)
    assert [int(torch.linalg.matrix_rank(one, atol=1e-9)) for one in change] == [turned] * 2
    assert int(torch.linalg.matrix_rank(torch.cat(list(change), dim=1), atol=1e-9)) == together


def test_one_matrix_for_all_keeps_the_distribution():
    """ROH keeps distances to the mean and all angles seen from it (equation 8)."""
    net = network("roh", "positions", "input").double()
    x = 3.0 + vectors(400) @ torch.diag(torch.logspace(-1, 1, 8, dtype=torch.float64))
    net.learn_statistics(x)
    before, after = x - x.mean(0), net(x) - x.mean(0)
    torch.testing.assert_close(after @ after.mT, before @ before.mT)
    assert (after - before).abs().max() > 0.1


def test_whitened_it_keeps_the_covariance():
    """Equation 7: mean and covariance stay, which are all of a Gaussian's distribution."""
    net = network("roh", "positions", "input", whitened=True).double()
    mixing = vectors(8, seed=2)
    x = vectors(5_000) @ mixing + 2.0
    net.learn_statistics(x, floor=0.0)
    turned = net(x)
    torch.testing.assert_close(turned.mean(0), x.mean(0))
    torch.testing.assert_close(turned.T.cov(), x.T.cov())
    assert (turned - x).norm(dim=1).min() > 0.1
    white = net.centred(x)
    torch.testing.assert_close(white.T.cov(), torch.eye(8, dtype=torch.float64))
    torch.testing.assert_close(net.uncentred(white), x)


@pytest.mark.parametrize("value", [1.0, float("nan"), float("inf")])
def test_vectors_that_tell_nothing_are_refused(value):
    net = network("roh", "positions", "input")
    with pytest.raises(VoicenymError, match="several speakers"):
        net.learn_statistics(torch.full((4, 8), value))
    assert net.mean.isfinite().all()


def test_directions_without_variance_are_floored():
    net = network("roh", "positions", "input", whitened=True)
    x = vectors(100, dtype=torch.float32)
    x[:, 0] = 1.0
    net.learn_statistics(x)
    assert net(x).isfinite().all()


@pytest.mark.parametrize(("form", "reading", "sees"), KINDS)
def test_a_row_does_not_depend_on_the_others_and_a_config_rebuilds(form, reading, sees):
    net = network(form, reading, sees, whitened=True).double()
    z = vectors(4)
    torch.testing.assert_close(net(z)[1:2], net(z[1:2]))
    again = Householder(**net.config()).double()
    again.load_state_dict(net.state_dict())
    torch.testing.assert_close(again(z), net(z))


def test_without_layers_nothing_changes():
    assert torch.equal(Householder("loh", 8, 0)(vectors(2)), vectors(2))


@pytest.mark.parametrize(
    "options",
    [{"form": "rot"}, {"reading": "none"}, {"sees": "all"}, {"layers": -1}, {"reflections": 0},
     {"form": "loh", "size": 8, "reflections": 9}],
)  # fmt: skip
def test_options_that_make_no_sense(options):
    with pytest.raises(ValueError, match=r"none of|at least|positions"):
        Householder(**options)
