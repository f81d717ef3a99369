"""MUSA's anonymization: speaker vector of the output."""

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.identity.blank import Blank
from voicenym.nets.codec.codec import Codec
from voicenym.nets.codec.codec_config import CodecConfig
from voicenym.pseudonym import Key
from voicenym.resynthesis.codec.codec_anonymization import anonymized, rotation, voices

KEY = Key(bytes(range(32)))
NAMES = [KEY.pseudonym("ann"), KEY.pseudonym("bob")]
SIZES = CodecConfig(channels=2, size=8, layers=1, codebooks=3, entries=8, speaker=8)


@pytest.fixture(scope="module")
def codec():
    torch.manual_seed(0)
    made = Codec(SIZES).eval()
    spread = torch.tensor([3.0, 2.0, 1.0, 1.0, 0.5, 0.5, 0.2, 0.1])
    made.voices.learn_statistics(5.0 + spread * torch.randn(400, 8))
    return made


@pytest.fixture(scope="module")
def speech():
    torch.manual_seed(1)
    return 0.1 * torch.randn(2, 4000)


def test_the_empty_voice_is_nobodys_and_the_keys_do_not_change_it(codec, speech):
    own = codec.speaker(speech).detach()
    assert torch.equal(voices(own, NAMES), torch.zeros(2, 8))
    expected = codec.decode(codec.encode(speech, own).total, torch.zeros(2, 8))[:, :4000]
    found = anonymized(codec, speech, NAMES)
    torch.testing.assert_close(found, expected)
    assert torch.equal(found, anonymized(codec, speech, [Key(bytes(32)).pseudonym("x")] * 2))


def test_strength_blends_linearly(codec, speech):
    own = codec.speaker(speech).detach()
    assert torch.equal(voices(own, NAMES, strength=0.0), own)
    torch.testing.assert_close(voices(own, NAMES, strength=0.25), 0.75 * own)
    torch.testing.assert_close(voices(own, NAMES, strength=0.25), Blank(0.25).batch(own, NAMES))
    turned = rotation(codec)
    half = voices(own, NAMES, turned, 0.5)
    torch.testing.assert_close(half, 0.5 * (own + turned.batch(own, NAMES)))
    # without any strength speech is rebuilt in its own voice
    torch.testing.assert_close(
        anonymized(codec, speech, NAMES, strength=0.0), codec(speech).waveform
    )


@pytest.mark.parametrize("strength", [-0.1, 1.5, float("nan")])
def test_a_strength_beyond_0_to_1_is_refused(codec, speech, strength):
    with pytest.raises(VoicenymError, match="strength is 0"):
        anonymized(codec, speech, NAMES, strength=strength)


def test_a_clip_too_short_to_hear_who_speaks_is_refused(codec, speech):
    with pytest.raises(VoicenymError, match="join the clip"):
        anonymized(codec, speech[:, :1000], NAMES)


def test_a_turned_voice_is_the_pseudonyms_and_one_for_all_that_it_says(codec, speech):
    turned = rotation(codec)
    own = codec.speaker(speech).detach()
    found = voices(own, NAMES, turned)
    assert torch.equal(found, voices(own, NAMES, turned))
    # another speaker under the key, or the speaker under another key: another voice
    swapped = voices(own, NAMES[::-1], turned)
    assert float((found - swapped).norm(dim=1).min()) > 0.1
    # in coordinates where speakers have covariance I angles under one pseudonym are kept
    near = torch.stack([own[0], own[0] + 0.1 * (own[1] - own[0])])
    model = turned.model
    before = torch.stack([model.white(v) for v in near])
    after = torch.stack([model.white(v) for v in voices(near, [NAMES[0]] * 2, turned)])
    cosine = torch.nn.functional.cosine_similarity
    torch.testing.assert_close(
        cosine(after[0], after[1], dim=0), cosine(before[0], before[1], dim=0), atol=1e-4, rtol=0
    )


def test_turned_voices_lie_as_speakers_do(codec):
    own = 5.0 + torch.randn(1, 8)
    names = [KEY.pseudonym(str(i)) for i in range(300)]
    found = voices(own.expand(300, -1), names, rotation(codec)).double()
    z = (found - codec.voices.mean) @ codec.voices.whitening.double()
    torch.testing.assert_close(z.mean(0), torch.zeros(8).double(), atol=0.3, rtol=0)
    torch.testing.assert_close(z.T @ z / 300, torch.eye(8).double(), atol=0.35, rtol=0)
