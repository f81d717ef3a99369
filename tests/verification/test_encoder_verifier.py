"""Speaker encoders as verifiers: which names stand for networks."""

from __future__ import annotations

import pytest

from voicenym.errors import VoicenymError
from voicenym.verification.verifiers import network


def test_only_networks_are_gone_on_from(tmp_path):
    assert network("ecapa-small").name == "ECAPA-TDNN small"
    for name in ("nobody", f"ivector:{tmp_path}"):
        with pytest.raises(VoicenymError, match="to go on from; there are: ecapa-small"):
            network(name)
