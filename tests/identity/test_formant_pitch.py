"""Formant and F0 scaling."""

import pytest
import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.formant_pitch import FormantPitch

VOICE = torch.tensor([120.0, 500.0, 1500.0, 2500.0])


def test_formants_share_a_factor_within_its_range(key):
    method = FormantPitch()
    found = method.batch(VOICE.expand(400, -1), [key.pseudonym(str(i)) for i in range(400)])
    factors = (found / VOICE).double().log()
    assert torch.allclose(factors[:, 1:2].expand(-1, 3), factors[:, 1:], atol=1e-5)
    for column, limits in ((0, method.pitch), (1, method.formants)):
        low, high = torch.tensor(limits).double().log()
        own = factors[:, column]
        assert (own.abs() >= low - 1e-5).all()
        assert (own.abs() <= high + 1e-5).all()
        assert 150 < int((own > 0).sum()) < 250
        assert float(own.abs().mean()) == pytest.approx(float((low + high) / 2), rel=0.05)
    assert abs(float(torch.corrcoef(factors[:, :2].T)[0, 1])) < 0.2


def test_factors_of_one_leave_the_voice(key):
    method = FormantPitch((1.0, 1.0), (1.0, 1.0))
    assert torch.equal(method(VOICE, key.pseudonym("a")), VOICE)


def test_speaker_vectors_and_odd_ranges_are_refused(key):
    with pytest.raises(VoicenymError, match="in Hz"):
        FormantPitch()(torch.tensor([0.2, -0.4]), key.pseudonym("a"))
    for wrong in ((0.5, 1.2), (1.3, 1.2), (1.0, 20.0)):
        with pytest.raises(UnknownSystemError, match="smaller first"):
            FormantPitch(pitch=wrong)
