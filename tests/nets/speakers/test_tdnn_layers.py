import threading

import pytest
import torch

from voicenym.nets.speakers.tdnn_layers import Conv, Norm, Valid, laid_out, linear, moments


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("kernel", "dilation"), [(1, 1), (5, 1), (3, 4)])
@pytest.mark.parametrize("after", ["none", "relu", "leaky_relu"])
def test_a_convolution_equals_that_of_each_row_reflected(kernel, dilation, after):
    conv = Conv(6, 10, kernel, dilation)
    values, lengths = random(3, 20, 6), torch.tensor([20, 5, 13])
    rectify = {
        "none": lambda x: x,
        "relu": torch.relu,
        "leaky_relu": lambda x: torch.nn.functional.leaky_relu(x, 0.01),
    }[after]
    expected = []
    for row, length in zip(values, lengths.tolist(), strict=True):
        width = (kernel - 1) * dilation // 2
        alone = torch.nn.functional.pad(row[None, :length].mT, (width, width), mode="reflect")
        expected.append(rectify(conv.conv(alone))[0].T)
    with torch.no_grad():
        for found in (
            conv(values, Valid(lengths, values), after),
            *_laid_out(conv, values, Valid(lengths, values), after),
        ):
            for row, want in zip(found, expected, strict=True):
                torch.testing.assert_close(row[: len(want)], want, atol=1e-5, rtol=1e-5)
    found = conv(values.requires_grad_(), Valid(lengths, values), after)
    torch.testing.assert_close(found[0], expected[0], atol=1e-5, rtol=1e-5)


def _laid_out(conv, *arguments):
    with laid_out(conv):
        yield conv(*arguments)


def test_weights_that_are_laid_out_are_forgotten_where_something_fails():
    conv, values = Conv(4, 4), random(1, 3, 4)
    with torch.no_grad():
        with pytest.raises(ZeroDivisionError), laid_out(conv):
            raise ZeroDivisionError
        conv.conv.weight.zero_()
        torch.testing.assert_close(conv(values), conv.conv.bias.expand(1, 3, 4))


def test_a_thread_that_ends_leaves_weights_of_other_threads_laid_out():
    conv, values = Conv(4, 4), random(1, 3, 4)

    def other_thread():
        with torch.no_grad(), laid_out(conv):
            conv(values)

    with torch.no_grad(), laid_out(conv):
        expected = conv(values)
        thread = threading.Thread(target=other_thread)
        thread.start()
        thread.join()
        conv.conv.weight.zero_()  # what is laid out has the values of before
        torch.testing.assert_close(conv(values), expected)


def test_normalisation_is_that_of_torch_with_and_without_gradients():
    norm = Norm(5)
    with torch.no_grad():
        for _ in range(3):
            norm(random(4, 9, 5) * 3 + 1)
        norm.norm.weight.copy_(random(5))
        norm.norm.bias.copy_(random(5, seed=1))
    norm.eval()
    values = random(2, 7, 5)
    expected = norm.norm(values.mT).mT
    torch.testing.assert_close(norm(values), expected)
    with torch.no_grad():
        torch.testing.assert_close(norm(values.clone()), expected)


def test_moments_are_those_of_the_frames_that_count():
    values, lengths = random(2, 9, 3), torch.tensor([9, 4])
    valid = Valid(lengths, values)
    mean, deviation = moments(values, valid.weights)
    torch.testing.assert_close(mean[1, 0], values[1, :4].mean(0))
    torch.testing.assert_close(deviation[1, 0], values[1, :4].std(0, correction=0))
    weights = random(2, 9, 3).softmax(1)
    mean, deviation = moments(values, weights)
    torch.testing.assert_close(mean[:, 0], (weights * values).sum(1))
    second = (weights * values**2).sum(1)
    torch.testing.assert_close(deviation[:, 0] ** 2, second - mean[:, 0] ** 2)


def test_scores_of_frames_that_do_not_count_are_least():
    scores = torch.zeros(2, 5, 3)
    valid = Valid(torch.tensor([5, 2]), scores)
    weights = valid.without_past(scores).softmax(1)
    torch.testing.assert_close(weights[1, :, 0], torch.tensor([0.5, 0.5, 0, 0, 0]))
    torch.testing.assert_close(weights[0], torch.full((5, 3), 0.2))


def test_double_precision_takes_the_plain_way():
    values, weight = random(2, 3, 4).double(), random(5, 4).double()
    with torch.no_grad():
        found = linear(values, weight, None, "relu")
    torch.testing.assert_close(found, torch.relu(values @ weight.T))


def test_weights_are_laid_out_anew_only_after_they_changed(monkeypatch):
    conv, values = Conv(4, 4), random(1, 3, 4)
    calls = []
    lay_out = torch.ops.mkldnn._reorder_linear_weight

    class Counting:
        def __getattr__(self, name):
            return getattr(mkldnn, name)

        def _reorder_linear_weight(self, *arguments):
            calls.append(1)
            return lay_out(*arguments)

    mkldnn = torch.ops.mkldnn
    monkeypatch.setattr(torch.ops, "mkldnn", Counting())
    with torch.no_grad():
        for _ in range(3):
            (found,) = _laid_out(conv, values)
        assert len(calls) == 1
        conv.conv.weight.mul_(2.0)
        (doubled,) = _laid_out(conv, values)
        assert len(calls) == 2
        bias = conv.conv.bias
        torch.testing.assert_close(doubled - bias, 2.0 * (found - bias))
        conv.load_state_dict({name: 0.0 * value for name, value in conv.state_dict().items()})
        (nothing,) = _laid_out(conv, values)
        assert not nothing.any()
        conv.conv.weight = torch.nn.Parameter(torch.eye(4)[:, :, None])
        (same,) = _laid_out(conv, values)
        torch.testing.assert_close(same, values)
