import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.synthesis import synthesizers
from voicenym.nets.synthesis.hifigan import HifiGan
from voicenym.nets.synthesis.hifigan_generator import GeneratorSize

SMALL = {
    "hifigan": {"content": 4, "speaker": 3, "size": {"rates": [5, 4], "channels": 8}},
    "hifigan-nsf": {"content": 4, "speaker": 3, "size": {"rates": [5, 4], "channels": 8}},
    "acoustic-nsf": {
        "content": 4,
        "speaker": 3,
        "mels": 5,
        "width": 8,
        "channels": 8,
        "blocks": 1,
        "convolutions": 2,
    },
    "acoustic-nsf-folded": {
        "content": 4,
        "speaker": 3,
        "mels": 5,
        "width": 8,
        "vocoder": {"channels": 8, "blocks": 1, "convolutions": 2, "width": 8},
    },
    "acoustic-istft": {
        "content": 4,
        "speaker": 3,
        "mels": 5,
        "width": 8,
        "vocoder": {"width": 8, "inner": 16, "blocks": 1},
    },
    "istft-vocoder": {"content": 4, "speaker": 3, "width": 8, "inner": 16, "blocks": 1},
    "convnext-hifigan": {
        "content": 4,
        "speaker": 3,
        "frames": {"width": 8, "inner": 16, "blocks": 1},
        "vocoder": {"size": {"rates": [8, 5, 4], "channels": 8}},
    },
}


def inputs():
    generator = torch.Generator().manual_seed(0)
    f0 = torch.tensor([[120.0, 130.0, 0.0, 0.0, 140.0]])
    return (
        torch.randn(1, 5, 4, generator=generator),
        f0,
        torch.randn(1, 3, generator=generator),
        torch.tensor([3]),
    )


@pytest.mark.parametrize("kind", synthesizers.KINDS.places)
def test_a_network_comes_back_from_its_folder(kind, tmp_path):
    torch.manual_seed(0)
    network = synthesizers.make(kind, SMALL[kind]).eval()
    synthesizers.save(network, tmp_path / "net", {"steps": 0})
    again = synthesizers.load(tmp_path / "net")
    assert type(again) is type(network)
    assert again.config() == network.config()
    assert not again.training
    with torch.inference_mode():
        assert torch.equal(again(*inputs()), network(*inputs()))
        synthesizers.save(network, tmp_path / "half", half=True)
        near = synthesizers.load(tmp_path / "half")(*inputs())
        torch.testing.assert_close(near, network(*inputs()), atol=2e-3, rtol=2e-2)


def test_weight_norm_is_folded_in_the_file_and_stays_in_training(tmp_path):
    torch.manual_seed(0)
    size = GeneratorSize((5, 4), channels=8)
    network = HifiGan(4, 3, size, weight_norm=True).eval()
    synthesizers.save(network, tmp_path)
    assert any("original0" in name for name in network.state_dict())
    again = synthesizers.load(tmp_path)
    assert not any("original0" in name for name in again.state_dict())
    with torch.inference_mode():
        torch.testing.assert_close(again(*inputs()), network(*inputs()))


def test_what_is_no_synthesizer_is_refused(tmp_path):
    with pytest.raises(VoicenymError, match="hifigan-nsf"):
        synthesizers.make("wavenet", {})
    with pytest.raises(VoicenymError, match="istft-vocoder has no parameter depth"):
        synthesizers.make("istft-vocoder", {"depth": 3})
    from voicenym.nets.checkpoint import write

    write(tmp_path, {"a": torch.zeros(1)}, {"kind": "ecapa", "options": {}})
    with pytest.raises(VoicenymError, match="holds no synthesizer"):
        synthesizers.load(tmp_path)
