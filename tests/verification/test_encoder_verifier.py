"""Speaker encoders as verifiers: which names stand for networks."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.verification.verifiers import network, verifier


def test_only_networks_are_gone_on_from(tmp_path):
    assert network("ecapa-small").name == "ECAPA-TDNN small"
    for name in ("nobody", f"ivector:{tmp_path}"):
        with pytest.raises(VoicenymError, match="to go on from; there are: ecapa-small"):
            network(name)


def test_a_verifier_on_a_device_is_another_one():
    here = verifier("ecapa-small")
    there = here.on("meta")
    assert (here.device, there.device) == ("cpu", "meta")
    assert next(here._shared().parameters()).device.type == "cpu"
    assert next(there._shared().parameters()).device.type == "meta"
    assert (there.name, there.version) == (here.name, here.version)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_vectors_of_a_gpu_are_those_of_the_processor():
    noise = np.random.default_rng(0).standard_normal(32_000).astype(np.float32)
    here = verifier("ecapa-small")
    given = here.embed([0.1 * noise]), here.on("cuda").embed([0.1 * noise])
    np.testing.assert_allclose(*given, atol=2e-3)
