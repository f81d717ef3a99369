import pytest
import torch

from voicenym.nets.synthesis.hifigan import HifiGan
from voicenym.nets.synthesis.hifigan_generator import GeneratorSize
from voicenym.nets.weights.weight_norm import fold, normalize_weights, plain


@pytest.mark.parametrize("transposed", [False, True])
def test_weight_norm_is_torchs(transposed):
    kind = torch.nn.ConvTranspose1d if transposed else torch.nn.Conv1d
    layer = torch.nn.utils.parametrizations.weight_norm(kind(3, 5, 4))
    state = {
        "weight_g": layer.parametrizations.weight.original0.detach() * 1.7,
        "weight_v": layer.parametrizations.weight.original1.detach(),
        "bias": layer.bias.detach(),
    }
    layer.load_state_dict(
        {
            "parametrizations.weight.original0": state["weight_g"],
            "parametrizations.weight.original1": state["weight_v"],
            "bias": state["bias"],
        }
    )
    named = plain({f"layer.{name}": value for name, value in state.items()})
    torch.testing.assert_close(named["layer.weight"], layer.weight.detach())


def test_folding_keeps_the_numbers():
    torch.manual_seed(0)
    network = HifiGan(6, 4, GeneratorSize((4, 3, 2), channels=24), weight_norm=True).eval()
    for parameter in network.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter)  # lengths as well as directions
    given = torch.randn(1, 20, 6), torch.full((1, 20), 0.2), torch.randn(1, 4)
    with torch.inference_mode():
        before = network(*given)
        fold(network)
        after = network(*given)
    assert before.std() > 0.02
    torch.testing.assert_close(after, before, atol=1e-6, rtol=1e-5)
    assert not any("original" in name for name in network.state_dict())
    fold(network)  # nothing left to do
    normalize_weights(network)
    with torch.inference_mode():
        again = network(*given)
    torch.testing.assert_close(again, before, atol=1e-6, rtol=1e-5)
