import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import write
from voicenym.nets.speakers import speaker_encoders

SMALL = {"channels": 16, "size": 12, "attention": 8, "squeeze": 8}


def sounds():
    generator = torch.Generator().manual_seed(0)
    return [0.1 * torch.randn(n, generator=generator) for n in (8_000, 12_345)]


@pytest.mark.parametrize("half", [False, True])
def test_a_kept_encoder_hears_the_same(tmp_path, half):
    torch.manual_seed(0)
    encoder = speaker_encoders.make("ecapa", SMALL).eval()
    speaker_encoders.save(encoder, tmp_path, {"data": "none"}, half=half)
    again = speaker_encoders.load(tmp_path)
    one, two = encoder.embed(sounds()), again.embed(sounds())
    cosine = torch.nn.functional.cosine_similarity(one, two, dim=1)
    assert (cosine > (0.999 if half else 0.999999)).all()
    assert again.config() == encoder.config()


@pytest.mark.parametrize("kind", list(speaker_encoders.KINDS.places))
def test_every_kind_rebuilds_from_its_own_options(kind):
    encoder = speaker_encoders.make(kind, {})
    again = speaker_encoders.make(kind, encoder.config())
    assert {n: v.shape for n, v in encoder.state_dict().items()} == {
        n: v.shape for n, v in again.state_dict().items()
    }


def test_mistakes_are_named(tmp_path):
    with pytest.raises(
        VoicenymError, match="no speaker encoder 'resnet'; there are: dvector, ecapa"
    ):
        speaker_encoders.make("resnet", {})
    with pytest.raises(VoicenymError, match="chanels"):
        speaker_encoders.make("ecapa", {"chanels": 3})
    with pytest.raises(VoicenymError, match="multiple of the scale"):
        speaker_encoders.make("ecapa", {"channels": 30})
    write(tmp_path, {"a": torch.zeros(1)}, {"kind2": 1})
    with pytest.raises(VoicenymError, match="holds no speaker encoder"):
        speaker_encoders.load(tmp_path)
