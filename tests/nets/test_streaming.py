import pytest
import torch

from voicenym.nets.streaming import Conv, Memory, Upsample, align, extend


def noise(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def in_blocks(layer, signal, sizes):
    """The layer's outputs of a stream of blocks, joined."""
    memory = Memory()
    outputs, start = [], 0
    while start < signal.shape[-1]:
        size = sizes[len(outputs) % len(sizes)]
        outputs.append(layer(signal[..., start : start + size], memory))
        start += size
    memory.last = True
    outputs.append(layer(signal[..., :0], memory))
    return torch.cat(outputs, dim=-1)


@pytest.fixture(params=[[1], [3], [8], [2, 11, 1], [100]], ids=str)
def sizes(request):
    return request.param


def test_extend_is_zeros_around_the_whole_and_the_past_in_a_stream():
    signal = noise(2, 3, 40)
    assert torch.equal(extend(signal, 4, 2), torch.nn.functional.pad(signal, (4, 2)))
    memory = Memory()
    first = extend(signal[..., :10], 4, 2, memory)
    assert torch.equal(first, torch.nn.functional.pad(signal[..., :10], (4, 0)))
    second = extend(signal[..., 10:20], 4, 2, memory)
    assert torch.equal(second, signal[..., 4:20])
    memory.last = True
    third = extend(signal[..., 20:20], 4, 2, memory)
    assert torch.equal(third, torch.nn.functional.pad(signal[..., 14:20], (0, 2)))


@pytest.mark.parametrize("ahead", [None, 0, 3])
@pytest.mark.parametrize(("kernel", "dilation"), [(1, 1), (7, 1), (3, 5), (4, 1)])
def test_a_convolution_in_blocks_is_that_of_the_whole(kernel, dilation, ahead, sizes):
    if ahead is not None and ahead > dilation * (kernel - 1):
        pytest.skip("looks further ahead than it reaches")
    layer = Conv(3, 2, kernel, dilation, ahead)
    signal = noise(2, 3, 37)
    whole = layer(signal)
    assert whole.shape == (2, 2, 37)
    padded = torch.nn.functional.pad(signal, (layer.behind, layer.ahead))
    expected = torch.nn.functional.conv1d(padded, layer.weight, layer.bias, dilation=dilation)
    torch.testing.assert_close(whole, expected)
    torch.testing.assert_close(in_blocks(layer, signal, sizes), whole)


@pytest.mark.parametrize("stride", [2, 5])
def test_a_convolution_with_a_stride_takes_blocks_of_so_many(stride, sizes):
    layer = Conv(1, 4, 2 * stride, stride=stride)
    signal = noise(2, 1, 24 * stride)
    whole = layer(signal)
    assert whole.shape == (2, 4, 24)
    torch.testing.assert_close(in_blocks(layer, signal, [n * stride for n in sizes]), whole)


@pytest.mark.parametrize("ahead", [0, 1, 3])
@pytest.mark.parametrize("sizes", [[1] * 24, [5, 1, 2, 9, 3, 4], [23, 1]])
def test_a_convolution_with_a_stride_takes_blocks_of_any_length(ahead, sizes):
    layer = Conv(1, 4, 6, stride=3, ahead=ahead)
    signal = noise(2, 1, 24)
    with torch.inference_mode():
        whole = layer(signal)
    torch.testing.assert_close(in_blocks(layer, signal, sizes), whole)
    memory, given = Memory(), 0
    with torch.inference_mode():
        for count in range(1, 25):  # an output comes with the last step that it needs
            given += layer(signal[..., count - 1 : count], memory).shape[-1]
            assert given == max(0, (count - ahead) // 3)


@pytest.mark.parametrize("ahead", [0, 2])
def test_an_output_hears_just_as_far_ahead_as_it_says(ahead):
    layer = Conv(1, 1, 5, ahead=ahead)
    signal = noise(1, 1, 30).requires_grad_()
    layer(signal)[0, 0, 10].backward()
    received = signal.grad[0, 0].nonzero()[:, 0]
    assert received.max() == 10 + ahead
    assert received.min() == 10 - layer.behind


@pytest.mark.parametrize(("kernel", "factor"), [(16, 8), (4, 2), (11, 5), (3, 3), (12, 2)])
def test_upsampling_in_blocks_is_that_of_the_whole(kernel, factor, sizes):
    layer = Upsample(3, 2, kernel, factor)
    signal = noise(2, 3, 23)
    whole = layer(signal)
    assert whole.shape == (2, 2, 23 * factor)
    torch.testing.assert_close(in_blocks(layer, signal, sizes), whole)


def test_upsampling_that_would_change_the_length_is_refused():
    with pytest.raises(ValueError, match="11"):
        Upsample(1, 1, 10, 5)


def test_align_delays_the_quicker_branch(sizes):
    slow, signal = Conv(2, 2, 9), noise(1, 2, 31)

    def both(block, memory):
        return torch.add(*align(memory, "sum", block, slow(block, memory)))

    torch.testing.assert_close(in_blocks(both, signal, sizes), signal + slow(signal))


@pytest.mark.parametrize(("inputs", "stride", "rows"), [(128, 1, 2), (128, 4, 1), (3, 2, 1)])
def test_short_blocks_of_many_weights_are_products_of_matrices(inputs, stride, rows, monkeypatch):
    torch.manual_seed(0)
    conv = Conv(inputs, 5, 7 if stride == 1 else 2 * stride, ahead=0, stride=stride)
    x = torch.randn(rows, inputs, 48)
    whole = conv(x)
    calls = []
    product = torch.nn.functional.linear
    monkeypatch.setattr(torch.nn.functional, "linear", lambda *a: calls.append(1) or product(*a))
    memory = Memory()
    parts = [conv(part, memory) for part in x.split([4, 40, 4], dim=2)]
    torch.testing.assert_close(torch.cat(parts, 2), whole, atol=1e-5, rtol=1e-4)
    # the longest block has too many outputs where there is no stride
    assert len(calls) == {(128, 1): 2, (128, 4): 3, (3, 2): 0}[inputs, stride]
