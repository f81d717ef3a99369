"""Householder networks in folders."""

import pytest
import safetensors.torch
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.identity.householder_checkpoint import Rotation, load, save
from voicenym.nets.identity.householder_network import Householder


def rotation(form="loh", **options):
    torch.manual_seed(0)
    net = Householder(form, 12, 2, 5, **options)
    net.learn_statistics(torch.randn(200, 12) * torch.linspace(0.5, 2, 12) + 1.0)
    return Rotation(net, "invented", "3")


@pytest.mark.parametrize("form", ["roh", "loh"])
def test_what_was_kept_turns_alike(form, tmp_path):
    made = rotation(form, whitened=True)
    save(made, tmp_path, {"steps": 3})
    found = load(tmp_path)
    assert load(tmp_path) is found
    assert repr(found) == f"Rotation({form}, 2 x 5, encoder='invented')"
    x = torch.randn(4, 12)
    together = made.network(x).double()
    alone = torch.stack([found.turned(row) for row in x])
    torch.testing.assert_close(alone, together, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found.coloured(found.white(x[0])), x[0].double(), atol=1e-5, rtol=0)


def test_half_precision_is_orthogonal_all_the_same(tmp_path):
    save(rotation("loh"), tmp_path, half=True)
    found = load(tmp_path)
    x = torch.randn(5, 12)
    mean = found.network.mean.double()
    for row in x.double():
        assert (found.turned(row) - mean).norm() == pytest.approx(float((row - mean).norm()))


@pytest.mark.parametrize("whitened", [False, True])
def test_half_precision_is_the_same_matrix_in_one_layer(whitened, tmp_path):
    torch.manual_seed(1)
    net = Householder("roh", 12, 5, 9, whitened=whitened)
    net.learn_statistics(torch.randn(200, 12) * torch.linspace(0.5, 2, 12) + 1.0)
    made = Rotation(net, "invented", "3")
    save(made, tmp_path, half=True)
    found = load(tmp_path)
    assert repr(found) == "Rotation(roh, 1 x 12, encoder='invented')"
    torch.testing.assert_close(found.matrix, made.matrix, atol=3e-3, rtol=0)
    eye = torch.eye(12, dtype=torch.float64)
    torch.testing.assert_close(found.matrix @ found.matrix.mT, eye, atol=1e-12, rtol=0)
    vector = torch.randn(12)
    torch.testing.assert_close(found.white(vector), made.white(vector), atol=5e-3, rtol=5e-3)
    torch.testing.assert_close(
        found.coloured(found.white(vector)), vector.double(), atol=1e-5, rtol=0
    )
    stored = safetensors.torch.load_file(tmp_path / "model.safetensors")
    assert "whitening" not in stored
    assert not stored["colouring"].tril(-1).any()
    assert (tmp_path / "model.safetensors").stat().st_size < 12 * 12 * 2 * 3 + 700


def test_half_precision_of_statistics_alone(tmp_path):
    net = Householder("roh", 12, 0)
    net.learn_statistics(torch.randn(200, 12))
    save(Rotation(net), tmp_path, half=True)
    assert load(tmp_path).network.layers == 0


def test_folders_that_hold_none(tmp_path):
    with pytest.raises(VoicenymError, match="train householder"):
        load(tmp_path / "nothing")
    (tmp_path / "config.json").write_text('{"kind": "pool"}')
    with pytest.raises(VoicenymError, match="holds no Householder network"):
        load(tmp_path)
    save(rotation(), tmp_path)
    text = (tmp_path / "config.json").read_text()
    (tmp_path / "config.json").write_text(text.replace('"loh"', '"rot"'))
    with pytest.raises(VoicenymError, match="make no network"):
        load(tmp_path)


@pytest.mark.parametrize("name", ["mean", "weight"])
def test_statistics_that_are_not_finite_are_refused(name, tmp_path):
    broken = rotation()
    with torch.no_grad():
        dict(broken.network.state_dict())[name].view(-1)[0] = float("nan")
    with pytest.raises(VoicenymError, match=f"{name} would be infinite or undefined"):
        save(broken, tmp_path)
