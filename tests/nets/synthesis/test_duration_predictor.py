"""Duration predictor: padding, bounds, and files."""

from __future__ import annotations

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.synthesis import f0_predictor
from voicenym.nets.synthesis.duration_predictor import MOST, DurationPredictor, load, save


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    made = DurationPredictor(6, 640, width=16, inner=24, kernel=5)
    with torch.no_grad():
        for value in made.parameters():
            value.add_(0.5 * torch.randn(value.shape))
    return made.eval()


def test_a_row_depends_on_nothing_behind_its_end(network):
    content = torch.randn(2, 30, 6, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        together = network(content, torch.tensor([30, 12]))
        alone = network(content[1:, :12])
    assert together.shape == (2, 30)
    torch.testing.assert_close(together[1, :12], alone[0])


def test_ratios_are_bounded_whatever_the_content(network):
    wild = 1e4 * torch.randn(1, 200, 6, generator=torch.Generator().manual_seed(2))
    found = network.ratios(wild)
    assert float(found.log().abs().max()) <= MOST + 1e-5
    assert float(found.std()) > 0.1


def test_it_is_stored_and_read(network, tmp_path):
    save(network, tmp_path / "d", {"data": "none"})
    again = load(tmp_path / "d")
    content = torch.randn(1, 20, 6)
    torch.testing.assert_close(again.ratios(content), network.ratios(content))
    f0_predictor.save(f0_predictor.F0Predictor(6), tmp_path / "f0")
    with pytest.raises(VoicenymError, match="duration predictor"):
        load(tmp_path / "f0")
    with pytest.raises(ValueError, match="odd"):
        DurationPredictor(6, 640, kernel=4)
