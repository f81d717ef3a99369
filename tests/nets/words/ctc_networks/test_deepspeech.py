"""DeepSpeech2: company changes nothing, gradients reach the waveform, checkpoints load."""

from __future__ import annotations

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint_conversion import convert
from voicenym.nets.masked_batch import padded
from voicenym.nets.words.ctc_networks.character_model import CharacterModel
from voicenym.nets.words.ctc_networks.deepspeech import (
    LABELS,
    DeepSpeech2,
    DeepSpeech2Config,
    posteriorgram_distance,
)


def net(cell: str = "lstm", layers: int = 2) -> DeepSpeech2:
    torch.manual_seed(0)
    made = DeepSpeech2(DeepSpeech2Config(size=6, layers=layers, cell=cell, channels=3))
    for module in made.modules():
        if isinstance(module, torch.nn.BatchNorm1d):
            torch.nn.init.normal_(module.running_mean, 0.0, 0.1)
            torch.nn.init.uniform_(module.running_var, 0.5, 2.0)
    return made.eval()


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_a_recording_in_a_batch_is_what_it_is_alone(cell):
    model = net(cell)
    signals = [0.1 * torch.randn(n) for n in (9_000, 16_000, 4_801, 200)]
    with torch.inference_mode():
        together, frames = model(*padded(signals))
        for row, signal in enumerate(signals):
            alone, count = model(*padded([signal]))
            assert count.item() == frames[row].item() == alone.shape[1]
            torch.testing.assert_close(together[row, :count], alone[0], atol=1e-5, rtol=1e-4)


def test_features_are_normalised_log_magnitudes():
    signals = [torch.randn(3_200), 0.01 * torch.randn(1_600)]
    features, frames = net().features(*padded(signals))
    assert features.shape == (2, 21, 161)
    assert frames.tolist() == [21, 11]
    for row, count in enumerate(frames):
        assert abs(features[row, :count].mean()) < 1e-5
        assert abs(features[row, :count].std() - 1.0) < 1e-3
    assert not features[1, 11:].any()
    around = torch.nn.functional.pad(signals[0], (160, 160))
    n = torch.arange(320)
    window = 0.54 - 0.46 * torch.cos(2 * torch.pi * n / 320)
    frame = torch.log1p(torch.fft.rfft(around[5 * 160 : 5 * 160 + 320] * window).abs())
    together = torch.stack([frame, features[0, 5]])
    assert torch.corrcoef(together)[0, 1] > 1.0 - 1e-6


def test_the_gradient_of_the_posteriorgram_is_that_of_finite_differences():
    model = net().freeze().double()
    generator = torch.Generator().manual_seed(3)
    original = 0.1 * torch.randn(1, 1_600, dtype=torch.float64, generator=generator)
    lengths = torch.tensor([1_600])
    wanted, frames = model(original, lengths)

    def loss(samples: torch.Tensor) -> torch.Tensor:
        return posteriorgram_distance(model(samples, lengths)[0], wanted, frames).sum()

    cloaked = original + 0.02 * torch.randn(1, 1_600, dtype=torch.float64, generator=generator)
    cloaked.requires_grad_()
    loss(cloaked).backward()
    for _ in range(5):
        direction = torch.randn(1, 1_600, dtype=torch.float64, generator=generator)
        step = 1e-6 * direction
        with torch.no_grad():
            slope = (loss(cloaked + step) - loss(cloaked - step)) / 2e-6
        torch.testing.assert_close((cloaked.grad * direction).sum(), slope, rtol=1e-4, atol=1e-9)


def test_freezing_changes_no_output_and_leaves_weights_alone():
    model = net()
    batch = padded([torch.randn(3_000), torch.randn(2_000)])
    with torch.inference_mode():
        before, _ = model(*batch)
    frozen = model.freeze()
    samples = batch[0].clone().requires_grad_()
    after, _ = frozen(samples, batch[1])
    torch.testing.assert_close(after, before)
    after.sum().backward()
    assert samples.grad.abs().sum() > 0
    assert all(parameter.grad is None for parameter in model.parameters())


def test_the_distance_counts_frames_that_are_there():
    first, second = torch.zeros(2, 3, 4), torch.ones(2, 3, 4)
    second[1, 1:] = 100.0
    assert posteriorgram_distance(first, second, torch.tensor([3, 1])).tolist() == [1.0, 1.0]


def published(layers: int = 3, cell: str = "lstm") -> dict[str, torch.Tensor]:
    """Random weights in the layout of published checkpoints, by the layers it is made of."""
    torch.manual_seed(1)
    parts = {
        "conv.seq_module.0": torch.nn.Conv2d(1, 32, (41, 11)),
        "conv.seq_module.1": torch.nn.BatchNorm2d(32),
        "conv.seq_module.3": torch.nn.Conv2d(32, 32, (21, 11)),
        "conv.seq_module.4": torch.nn.BatchNorm2d(32),
        "fc.0.module.0": torch.nn.BatchNorm1d(8),
        "fc.0.module.1": torch.nn.Linear(8, 29, bias=False),
    }
    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell]
    for layer in range(layers):
        parts[f"rnns.{layer}.rnn"] = kind(8 if layer else 1312, 8, bidirectional=True)
        if layer:
            parts[f"rnns.{layer}.batch_norm.module"] = torch.nn.BatchNorm1d(8)
    return {
        f"{prefix}.{name}": value
        for prefix, part in parts.items()
        for name, value in part.state_dict().items()
    }


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_published_checkpoints_load(tmp_path, cell):
    state = published(cell=cell)
    torch.save({"state_dict": state, "epoch": 3}, tmp_path / "deepspeech.ckpt")
    convert(tmp_path / "deepspeech.ckpt", "deepspeech2", tmp_path / "ours")
    model = CharacterModel.load(tmp_path / "ours")[0].net
    assert model.config == DeepSpeech2Config(29, 8, 3, cell, 32)
    assert torch.equal(model.layers[2].norm.weight, state["rnns.2.batch_norm.module.weight"])
    # the published layers, one after the other, on one recording
    features, frames = model.features(*padded([torch.randn(4_000)]))
    found, _ = model.logits(features, frames)
    x = features.transpose(1, 2)[:, None]
    for number, stride, padding in ((0, (2, 2), (20, 5)), (3, (2, 1), (10, 5))):
        weight, bias = (state[f"conv.seq_module.{number}.{n}"] for n in ("weight", "bias"))
        x = torch.nn.functional.conv2d(x, weight, bias, stride, padding)
        x = torch.nn.functional.hardtanh(x / (1 + 1e-5) ** 0.5, 0, 20)  # untrained statistics
    x = x.flatten(1, 2).permute(2, 0, 1)  # [time, batch, feature]
    for layer in range(3):
        if layer:
            x = x / (1 + 1e-5) ** 0.5
        both, _ = model.layers[layer].rnn(x.transpose(0, 1))
        x = (both[..., :8] + both[..., 8:]).transpose(0, 1)
    wanted = (x / (1 + 1e-5) ** 0.5) @ state["fc.0.module.1.weight"].T
    torch.testing.assert_close(found, wanted.transpose(0, 1), atol=1e-5, rtol=1e-4)


def test_labels_are_those_of_v_cloak():
    assert len(LABELS) == len(set(LABELS)) == 29


def test_another_architecture_is_named_by_its_first_key(tmp_path):
    state = published()
    del state["rnns.1.rnn.weight_hh_l0_reverse"]
    with pytest.raises(VoicenymError, match=r"layers\.1\.rnn\.weight_hh_l0_reverse is missing"):
        DeepSpeech2.from_published(state)
    with pytest.raises(VoicenymError, match=r"lacks 'layers\.0"):
        DeepSpeech2.from_published({"blocks.0.weight": torch.zeros(2)})
    one_way = {n: v for n, v in published().items() if "reverse" not in n}
    with pytest.raises(VoicenymError, match="reverse is missing"):
        DeepSpeech2.from_published(one_way, "one-way.pt")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(VoicenymError, match="not found"):
        convert(tmp_path / "none.pt", "deepspeech2", tmp_path / "ours")
    (tmp_path / "text.pt").write_text("no weights")
    with pytest.raises(VoicenymError, match="state_dict alone"):
        convert(tmp_path / "text.pt", "deepspeech2", tmp_path / "ours")


def test_another_cell_is_refused():
    with pytest.raises(ValueError, match="lstm or gru"):
        DeepSpeech2Config(cell="rnn")
