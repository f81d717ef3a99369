import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.folder import write
from voicenym.nets.speakers import weights

SMALL = {"channels": 16, "size": 12, "attention": 8, "squeeze": 8}


def sounds():
    generator = torch.Generator().manual_seed(0)
    return [0.1 * torch.randn(n, generator=generator) for n in (8_000, 12_345)]


@pytest.mark.parametrize("half", [False, True])
def test_a_kept_encoder_hears_the_same(tmp_path, half):
    torch.manual_seed(0)
    encoder = weights.make("ecapa", SMALL).eval()
    weights.save(encoder, tmp_path, {"data": "none"}, half=half)
    again = weights.load(tmp_path)
    one, two = encoder.embed(sounds()), again.embed(sounds())
    cosine = torch.nn.functional.cosine_similarity(one, two, dim=1)
    assert (cosine > (0.999 if half else 0.999999)).all()
    assert again.config() == encoder.config()


@pytest.mark.parametrize("kind", list(weights.KINDS.places))
def test_every_kind_rebuilds_from_its_own_options(kind):
    encoder = weights.make(kind, {})
    again = weights.make(kind, encoder.config())
    assert {n: v.shape for n, v in encoder.state_dict().items()} == {
        n: v.shape for n, v in again.state_dict().items()
    }


def test_mistakes_are_named(tmp_path):
    with pytest.raises(
        VoicenymError, match="no speaker encoder 'resnet'; there are: dvector, ecapa"
    ):
        weights.make("resnet", {})
    with pytest.raises(VoicenymError, match="chanels"):
        weights.make("ecapa", {"chanels": 3})
    with pytest.raises(VoicenymError, match="multiple of the scale"):
        weights.make("ecapa", {"channels": 30})
    write(tmp_path, {"a": torch.zeros(1)}, {"kind2": 1})
    with pytest.raises(VoicenymError, match="holds no speaker encoder"):
        weights.load(tmp_path)
