"""Units: the nearest centre, in a folder; and features that they are clusters of."""

from __future__ import annotations

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import write
from voicenym.nets.content.hubert import HubertSoft
from voicenym.nets.content.units import Cepstra, HubertLayer, Units


def noise(*shape):
    return 0.1 * torch.randn(shape, generator=torch.Generator().manual_seed(1))


def test_the_nearest_centre():
    units = Units(noise(7, 4))
    frames = noise(3, 50, 4)
    expected = torch.cdist(frames, units.centres).argmin(-1)
    assert torch.equal(units(frames), expected)
    assert torch.equal(units(units.centres), torch.arange(7))
    assert units.error(units.centres) == 0.0
    error = torch.cdist(frames[0], units.centres).min(-1).values.square().mean()
    torch.testing.assert_close(units.error(frames[0]), error)


def test_a_folder_holds_them(tmp_path):
    pytest.importorskip("safetensors")
    units = Units(noise(7, 4), {"features": "cepstra"})
    units.save(tmp_path, {"frames": 3})
    again = Units.load(tmp_path)
    assert torch.equal(again.centres, units.centres)
    assert (len(again), again.size, again.source) == (7, 4, {"features": "cepstra"})
    write(tmp_path, {}, {"kind": "ecapa"})
    with pytest.raises(VoicenymError, match="holds no units"):
        Units.load(tmp_path)


def test_cepstra_do_not_hear_levels_nor_company():
    network = Cepstra()
    signal = noise(2, 16_000)
    found = network(signal)
    assert found.shape == (2, 50, 39)
    torch.testing.assert_close(found.mean(1), torch.zeros(2, 39), atol=1e-4, rtol=0)
    torch.testing.assert_close(network(4.0 * signal), found, atol=1e-3, rtol=1e-3)
    batch = network(signal, torch.tensor([16_000, 5_000]))
    alone = network(signal[1:, :5_000])[0]
    torch.testing.assert_close(batch[1, : len(alone)], alone)


def test_a_layer_of_hubert_is_that_layer():
    torch.manual_seed(0)
    hubert = HubertSoft(4, 3, 2, 8, 2, 8, 4, 4, 2).eval()
    network = HubertLayer(hubert, 1)
    signal = noise(2, 6_400)
    assert network.size == 8
    torch.testing.assert_close(network(signal), hubert.hidden(signal, layer=1))
    batch = network(signal, torch.tensor([6_400, 700]))
    alone = network(signal[1:, :700])[0]
    torch.testing.assert_close(batch[1, :3], alone, atol=1e-5, rtol=1e-4)
    assert not batch[1, 3:].any()
