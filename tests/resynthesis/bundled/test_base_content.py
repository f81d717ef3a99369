"""Content of ``base`` as frames for other trainings."""

import pytest
import torch

from voicenym.nets.content.bottleneck import Bottleneck
from voicenym.resynthesis.bundled.base_content import NarrowContent


@pytest.fixture
def narrow():
    torch.manual_seed(0)
    return NarrowContent(Bottleneck(bands=12, cepstra=6, width=8, inner=8, blocks=1, size=3))


def test_frames_of_20_ms_within_their_steps(narrow):
    found = narrow.extract(torch.randn(16_001))
    assert found.shape == (51, 3)
    assert float(found.abs().max()) <= 1.0


def test_a_louder_recording_says_the_same(narrow):
    speech = 0.1 * torch.randn(8000)
    torch.testing.assert_close(
        narrow.extract(speech), narrow.extract(3 * speech), atol=1e-3, rtol=0
    )


def test_rows_do_not_depend_on_their_company(narrow):
    speech = torch.randn(2, 6400)
    lengths = torch.tensor([6400, 3200])
    both = narrow(speech, lengths)
    torch.testing.assert_close(both[0], narrow(speech[:1])[0])
    torch.testing.assert_close(both[1, :10], narrow(speech[1:, :3200])[0])
    assert not both[1, 10:].any()
