"""Training of the codec."""

import math

import numpy as np
import pytest
import torch

from voicenym.corpus.recording import Recording
from voicenym.errors import VoicenymError
from voicenym.nets.codec.codec import Codec
from voicenym.nets.codec.codec_config import sizes
from voicenym.training.codec import train_musa as recipe
from voicenym.training.codec.codec_dataset import CodecCrops, Segments, labelled
from voicenym.training.codec.codec_losses import Weights
from voicenym.training.codec.codec_step import Coding
from voicenym.training.codec.musa_config import MusaConfig
from voicenym.training.run.config import changed, load
from voicenym.training.run.machine import Machine
from voicenym.training.speech.speech_cache import FULL_SCALE, Utterance
from voicenym.training.synthesis.recogniser_loss import RecogniserLoss

pytest.importorskip("lightning")

RATE = 16_000
TINY = {
    "channels": 4, "size": 16, "layers": 1, "codebooks": 2, "entries": 16, "least": 0.1,
    "speaker": 16,
}  # fmt: skip
CONFIG = MusaConfig(
    codec=TINY,
    seconds=0.2,
    batch=4,
    every=10,
    rate=3e-3,
    adversarial=1.0,
    discriminator_width=0.05,
    steps=20,
)
CPU = Machine(accelerator="cpu", workers=0)


class Loud:
    """Says whether a frame is loud."""

    classes, hop = 2, 320
    source = {"features": "level"}  # noqa: RUF012

    def __call__(self, speech):
        whole = speech[: len(speech) // 320 * 320].view(-1, 320)
        return (whole.square().mean(1) > 0.004).long().numpy()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    made = []
    for number, f0 in enumerate((100.0, 130.0, 180.0, 220.0)):
        time = np.arange(RATE) / RATE
        for part in range(2):
            phase = 2 * np.pi * f0 * (time + 0.01 * np.sin(5 * time + part))
            buzz = sum(np.cos(k * phase) / (1 + abs(k * f0 - 600) / 300) for k in range(1, 15))
            samples = 0.1 * buzz * (0.6 + 0.4 * np.sign(np.sin(9 * time)))
            path = folder / f"{number}-{part}.i16"
            clipped = np.clip(samples, -1, 1) * FULL_SCALE
            path.write_bytes(np.rint(clipped).astype(np.int16).tobytes())
            made.append(
                Utterance(Recording(path.stem, f"speaker {number}", path), path, len(samples))
            )
    return labelled(made, Loud(), folder / "told")


def test_it_learns_goes_on_and_knows_how_speakers_lie(prepared, tmp_path):
    codec = recipe.new(CONFIG)
    before = codec.state_dict()
    outcome = recipe.train(
        codec, prepared[:6], prepared[6:], CONFIG, tmp_path, teacher=Loud(), machine=CPU
    )
    assert outcome.steps == 20
    distances = [row["mel distance"] for row in outcome.curve]
    assert distances[-1] < distances[0]
    assert all(0.0 <= row["units right"] <= 1.0 for row in outcome.curve)
    # plain weights again, as they are kept
    assert set(codec.state_dict()) == set(before)
    assert not codec.training
    # what it knows of speakers is the mean over its input
    whole = [torch.from_numpy(take.utterance.samples())[None] for take in prepared[:6]]
    with torch.no_grad():
        mean = torch.cat([codec.speaker(speech) for speech in whole]).mean(0)
    torch.testing.assert_close(codec.voices.mean, mean, atol=1e-4, rtol=1e-3)
    more = changed(CONFIG, steps=30)
    again = recipe.train(
        codec, prepared[:6], prepared[6:], more, tmp_path, teacher=Loud(), machine=CPU
    )
    assert again.steps == 30
    codec.save(tmp_path / "codec")
    same, _ = Codec.load(tmp_path / "codec")
    speech = torch.randn(1, 3200)
    torch.testing.assert_close(same(speech).waveform, codec(speech).waveform)


def test_frames_are_quantised_from_the_step_that_the_recipe_says(prepared, tmp_path):
    config = changed(CONFIG, steps=8, every=4, unquantized=6)
    codec = recipe.new(config)
    begun = []
    begin = codec.quantizer.begin
    codec.quantizer.begin = lambda frames: begun.append(len(frames)) or begin(frames)
    outcome = recipe.train(
        codec, prepared[:6], prepared[6:], config, tmp_path, teacher=Loud(), machine=CPU
    )
    # for the validation after four steps, from then on after two more, and then never
    assert begun == [4, 2]
    assert "train/commitment" not in outcome.curve[0]
    assert outcome.curve[-1]["train/commitment"] > 0.0
    assert int(codec.quantizer.books[0].steps) in (1, 3)  # the better one's


def test_some_crops_are_decoded_from_few_codebooks(prepared, tmp_path):
    config = changed(CONFIG, steps=2, every=2, partial=0.5)
    codec = recipe.new(config)
    module = Coding(codec, 4, 2, config)
    generator = torch.Generator().manual_seed(0)
    counts = torch.cat([module._codebooks(64, generator) for _ in range(50)])
    # half of them as drawn, of which the square root of a half has one codebook of two
    assert set(counts.tolist()) == {1, 2}
    assert (counts == 1).float().mean() == pytest.approx(0.5 * 0.5**0.5, abs=0.02)
    assert Coding(codec, 4, 2, CONFIG)._codebooks(64, generator) is None
    outcome = recipe.train(
        codec, prepared[:6], prepared[6:], config, tmp_path, teacher=Loud(), machine=CPU
    )
    assert math.isfinite(outcome.curve[-1]["mel distance"])


def test_discriminators_join_at_the_configured_step(prepared, tmp_path):
    config = changed(CONFIG, steps=2, every=2, batch=2, adversarial=0.5)
    codec = recipe.new(config)
    outcome = recipe.train(
        codec, prepared[:6], prepared[6:], config, tmp_path, teacher=Loud(), machine=CPU
    )
    assert math.isfinite(outcome.curve[-1]["discriminators"])
    assert outcome.steps == 2  # of the codec; the discriminators' are not counted
    assert {"train/deceiving", "train/features"} <= set(outcome.curve[-1])


def test_small_discriminators_see_a_part_of_a_crop(prepared, tmp_path):
    by = {
        "period": {"channels": [2, 2], "periods": [2]},
        "spectral": {"spectra": [[64, 16]], "width": 2},
    }
    config = changed(
        CONFIG, steps=2, every=2, batch=2, adversarial=0.0,
        discriminators=by, discriminator_seconds=0.1,
        mels=(1024, 256), codec={**TINY, "spectral": 8, "blocks": 1, "causal": True},
    )  # fmt: skip
    codec = recipe.new(config)
    module = Coding(codec, 4, 2, config)
    assert [one.__class__.__name__ for one in module.discriminators] == [
        "MultiPeriod",
        "MultiSpectral",
    ]
    seen = []
    module.discriminators[0].register_forward_pre_hook(
        lambda _, given: seen.append(given[0].shape[1])
    )
    assert [len(mel.bank) for mel in module.mels] == [80, 21]
    module._discriminated(torch.randn(1, 1600))
    assert seen == [1600]
    outcome = recipe.train(
        codec, prepared[:6], prepared[6:], config, tmp_path, teacher=Loud(), machine=CPU
    )
    assert math.isfinite(outcome.curve[-1]["train/deceiving"])
    with pytest.raises(VoicenymError, match="multiple of 4"):
        Coding(codec, 4, 2, changed(config, mels=(30,)))


def test_a_recogniser_compares_words_where_they_are_weighed(prepared, whisper):
    weighed = changed(CONFIG, weights=Weights(words=2.0))
    codec = recipe.new(CONFIG)
    crops = CodecCrops(prepared, 0.2, 320, 4, 0)
    batch = Segments(*(torch.stack(x) for x in zip(*(crops[i] for i in range(4)), strict=True)))
    modules = [Coding(codec, 4, 2, config, whisper.encoder) for config in (CONFIG, weighed)]
    for module in modules:
        module.who, module.what = modules[0].who, modules[0].what
    codec.eval()
    (plain, made), (both, _) = (
        module.losses(batch, torch.Generator().manual_seed(0)) for module in modules
    )
    assert "words" not in plain
    expected = RecogniserLoss(whisper.encoder)(batch.samples, made)
    torch.testing.assert_close(both["words"], expected)
    total = weighed.weights.total(both) - CONFIG.weights.total(plain)
    torch.testing.assert_close(total, 2.0 * expected, rtol=1e-4, atol=1e-4)
    assert modules[1].state_dict().keys() == modules[0].state_dict().keys()


def test_words_cannot_be_weighed_without_a_recogniser(prepared, tmp_path):
    config = changed(CONFIG, weights=Weights(words=1.0))
    with pytest.raises(VoicenymError, match="--whisper"):
        recipe.train(
            recipe.new(config), prepared[:6], prepared[6:], config, tmp_path,
            teacher=Loud(), machine=CPU,
        )  # fmt: skip


def test_every_part_learns_from_its_own_loss(prepared):
    module = Coding(recipe.new(CONFIG), 4, 2, CONFIG)
    crops = CodecCrops(prepared, 0.2, 320, 4, 0)
    batch = Segments(*(torch.stack(x) for x in zip(*(crops[i] for i in range(4)), strict=True)))
    lost, fake = module.losses(batch, torch.Generator().manual_seed(0))
    assert fake.shape == batch.samples.shape

    def reached(name):
        module.zero_grad()
        lost[name].backward(retain_graph=True)
        parts = {
            "encoder": module.codec.encoder, "decoder": module.codec.decoder,
            "speakers": module.codec.speakers, "who": module.who, "what": module.what,
        }  # fmt: skip
        return {
            key for key, part in parts.items()
            if any(p.grad is not None and p.grad.abs().sum() > 0 for p in part.parameters())
        }  # fmt: skip

    assert reached("rebuilding") == {"encoder", "decoder", "speakers"}
    assert reached("commitment") == {"encoder", "speakers"}
    assert reached("speaker") == {"speakers", "who"}
    assert reached("semantic") == {"encoder", "speakers", "what"}


def test_ablations_leave_a_loss_out(prepared):
    config = changed(CONFIG, weights=Weights(speaker=0.0, semantic=0.0))
    module = Coding(recipe.new(config), 4, 0, config)
    crops = CodecCrops(prepared, 0.2, 320, 2, 0)
    batch = Segments(*(torch.stack(x) for x in zip(crops[0], crops[1], strict=True)))
    lost, _ = module.losses(batch, torch.Generator().manual_seed(0))
    assert set(lost) == {"rebuilding", "commitment"}


def test_recipes_that_do_not_fit_are_refused():
    codec = recipe.new(CONFIG)
    with pytest.raises(VoicenymError, match="semantic: 0"):
        recipe.checked(CONFIG, codec, None)
    with pytest.raises(VoicenymError, match=r"give 0\.064"):
        recipe.checked(changed(CONFIG, seconds=0.01), codec, Loud())
    other = Loud()
    other.hop = 160
    with pytest.raises(VoicenymError, match="strides whose product is 160"):
        recipe.checked(CONFIG, codec, other)


def test_the_bundled_recipes_are_the_papers_and_a_small_one():
    paper = load("musa", MusaConfig)
    net = sizes(paper.codec, "musa")
    assert (net.channels, net.strides, net.size, net.layers) == (32, (2, 4, 5, 8), 512, 2)
    assert (net.codebooks, net.entries) == (8, 1024)
    assert (paper.batch, paper.steps, paper.rate, paper.decay) == (128, 500_000, 2e-4, 0.01)
    assert paper.weights == Weights(45.0, 1.0, 1.0, 0.1, 1.0, 1.0)
    for name in ("musa-small", "musa-quick", "musa-few"):
        small = load(name, MusaConfig)
        assert sizes(small.codec, name).causal
    assert sizes(small.codec, name).spectral
