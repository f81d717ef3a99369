"""Training of synthesizers with frozen encoders, under the conditions of a pipeline."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.synthesis.synthesis_losses import LogMel, mel_distance
from voicenym.resynthesis.pipeline.assembly import assemble
from voicenym.resynthesis.pipeline.synthesis_settings import Settings
from voicenym.training.run.config import changed, load
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import Falling
from voicenym.training.speech.speech_cache import FULL_SCALE, Utterance
from voicenym.training.synthesis import train_synthesizer as recipe
from voicenym.training.synthesis.connecting_mels import mels_of, standardize
from voicenym.training.synthesis.source_filter_step import SourceFilter
from voicenym.training.synthesis.synthesis_dataset import (
    CentreCrops,
    SynthesisCrop,
    SynthesisCrops,
    conditioned,
    crop,
)
from voicenym.training.synthesis.synthesizer_step import (
    FFT,
    MEL_HOP,
    Adversarial,
    SynthesizerConfig,
)
from voicenym.training.synthesis.two_stage_step import TwoStage

RATE, HOP = 16_000, 160
CPU = Machine(accelerator="cpu", workers=0)
GENERATOR = {"rates": [8, 5, 4], "channels": 32, "block_kernels": [3], "block_dilations": [[1]]}
FILTERS = {"mels": 20, "width": 16, "channels": 8, "blocks": 1, "convolutions": 2}
FOLDED = {"channels": 8, "blocks": 1, "convolutions": 2, "width": 8, "speaker_width": 4}
ISTFT = {"width": 24, "inner": 32, "blocks": 1, "speaker_width": 8}
USED = Settings(tracker="live", lowest=70.0, highest=390.0, scale="root")
DISCRIMINATORS = {"period": {"channels": [4, 8]}, "scale": {"scales": 1, "width": 16}}
CONFIG = SynthesizerConfig(
    synthesizer="istft-vocoder",
    options=ISTFT,
    settings=USED,
    seconds=0.3,
    batch=4,
    adversarial=1.0,
    discriminators=DISCRIMINATORS,
    rate=1e-2,
    every=8,
    steps=24,
    schedule=Falling(),
)
KINDS = {
    "hifigan": ("ssl", {"size": GENERATOR}),
    "hifigan-nsf": ("b1b", {"size": GENERATOR}),
    "acoustic-nsf": ("b1a", FILTERS),
    "acoustic-nsf-folded": ("b1a", {"mels": 20, "width": 16, "vocoder": FOLDED}),
    "acoustic-istft": ("b1a", {"mels": 20, "width": 16, "vocoder": ISTFT}),
    "istft-vocoder": ("ssl", ISTFT),
    "convnext-hifigan": ("ssl", {"frames": ISTFT, "vocoder": {"size": GENERATOR}}),
}
SYSTEMS = {"ssl": "ssl-select", "b1a": "b1a", "b1b": "b1b"}


def buzz(f0: float, part: int, seconds: float) -> np.ndarray:
    time = np.arange(round(seconds * RATE)) / RATE
    phase = 2 * np.pi * np.cumsum(f0 * (1 + 0.05 * np.sin(5 * time + part))) / RATE
    made = sum(np.cos(k * phase) / (1 + abs(k * f0 - 600) / 300) for k in range(1, 25))
    return 0.05 * made * (0.6 + 0.4 * np.sin(9 * time))


@pytest.fixture(scope="module")
def utterances(tmp_path_factory):
    """Two of each of four speakers, none of a whole number of frames."""
    folder = tmp_path_factory.mktemp("cache")
    made = []
    for number, f0 in enumerate((100.0, 130.0, 180.0, 220.0)):
        for part in range(2):
            samples = buzz(f0, part, 1.1 + 0.0131 * number)
            path = folder / f"{number}-{part}.i16"
            path.write_bytes(np.rint(samples * FULL_SCALE).astype(np.int16).tobytes())
            recording = Recording(f"{number}-{part}", f"speaker {number}", path)
            made.append(Utterance(recording, path, len(samples)))
    return made


def parts_of(small_parts, config, family="ssl", start=None):
    own = small_parts[family]
    return recipe.parts(config, own["content"], own["speaker"], start)


@pytest.fixture(scope="module")
def prepared(small_parts, utterances, tmp_path_factory):
    parts, _ = parts_of(small_parts, CONFIG)
    return conditioned(utterances, parts, tmp_path_factory.mktemp("features"))


def test_features_of_an_utterance_are_cached(small_parts, utterances, prepared, monkeypatch):
    from voicenym.resynthesis.pipeline import conditioning

    found = prepared[3]
    assert found.frames == utterances[3].length // HOP
    assert len(found.f0) == found.frames + 1  # the last is not full
    assert np.median(found.f0[found.f0 > 0]) == pytest.approx(130.0, rel=0.03)
    assert np.linalg.norm(found.vector) == pytest.approx(math.sqrt(12), rel=1e-5)
    assert found.content.parent.stat().st_mode & 0o077 == 0
    folder = found.content.parents[2]
    for name in ("whole_content", "whole_pitch", "whole_vector"):
        monkeypatch.setattr(conditioning, name, lambda *_: pytest.fail("analysed again"))
    other = changed(CONFIG, settings=dataclasses.replace(USED, scale="unit"))
    again = conditioned(utterances, parts_of(small_parts, other)[0], folder)
    assert np.array_equal(again[3].f0, found.f0)
    assert np.linalg.norm(again[3].vector) == pytest.approx(1.0, rel=1e-5)


def test_crops_are_aligned_with_their_conditioning(prepared):
    found = prepared[2]
    content = np.load(found.content)
    assert found.every == 2
    for first in (7, 8):
        some = crop(found, first, 11, 0.0)
        wanted = [content[(first + i) // 2] for i in range(11)]
        assert np.array_equal(some.content.numpy(), np.stack(wanted))
        assert np.array_equal(some.f0.numpy(), found.f0[first : first + 11])
        own = found.utterance.samples(first * HOP, 11 * HOP)
        assert np.array_equal(some.samples.numpy(), own)
    whole = crop(found, 0, found.frames, 0.95)
    assert float(whole.samples.abs().max()) == pytest.approx(0.95, abs=0.01)
    crops = SynthesisCrops(prepared, 0.3, 0.95, 8, 3)
    one, again = crops[5], SynthesisCrops(prepared, 0.3, 0.95, 8, 3)[5]
    assert all(torch.equal(a, b) for a, b in zip(one, again, strict=True))
    assert (one.samples.shape, one.f0.shape, one.content.shape) == ((4800,), (30,), (30, 10))
    with pytest.raises(CorpusError, match="shorter crop"):
        SynthesisCrops(prepared, 5.0, 0.0, 8, 3)
    middles = CentreCrops(prepared, 0.0, 3, 7)
    assert [len(middles[i].samples) // HOP for i in range(3)] == [110, 112, 113]


@pytest.mark.parametrize("kind", KINDS)
def test_a_pipeline_has_the_settings_of_the_training(kind, small_parts, utterances, tmp_path):
    """Exactly: content, F0 and vector, of the recording as the cache holds it."""
    from voicenym import Audio, Key
    from voicenym import load as system
    from voicenym.nets.synthesis.synthesizers import save
    from voicenym.resynthesis.pipeline import assembly

    family, options = KINDS[kind]
    config = changed(CONFIG, synthesizer=kind, options=options)
    parts, learnt = parts_of(small_parts, config, family)
    (found,) = conditioned(utterances[4:5], parts, tmp_path / "features")
    save(parts.synthesizer, tmp_path / "synthesizer", None, **learnt.config())
    own = small_parts[family]
    made = {"content": own["content"], "speaker": own["speaker"], "pool": own["pool"]}
    assemble(tmp_path / "made", {**made, "synthesizer": tmp_path / "synthesizer"})
    network = assembly.opened(tmp_path / "made").synthesizer
    messages = []
    speaks = network.synthesize

    def listening(content, f0, speaker, seed, memory):
        messages.append((content, f0, speaker))
        return speaks(content, f0, speaker, seed, memory)

    network.synthesize = listening
    samples = torch.from_numpy(found.utterance.samples())
    chosen = system(SYSTEMS[family], weights=str(tmp_path / "made"), identity="copy")
    result = chosen(Audio(samples, RATE), Key(bytes(32)).pseudonym("a"))
    assert result.samples.shape == samples.shape
    messages = [stated for stated in messages if stated[0].shape[1] and stated[0].any()]
    content = torch.cat([stated[0] for stated in messages], 1)[0]
    f0 = torch.cat([stated[1] for stated in messages], 1)[0]
    whole = crop(found, 0, found.frames, 0.0)
    assert torch.equal(content[: found.frames], whole.content)
    assert torch.equal(f0, torch.from_numpy(found.f0))
    assert torch.equal(messages[0][2][0], whole.vector)


@torch.inference_mode()
def distance(network, some):
    """Of mels, as a validation measures it."""
    network.eval()
    mel, lost, frames = LogMel(RATE, FFT, MEL_HOP), 0.0, 0
    for index, found in enumerate(some):
        whole = SynthesisCrop(*[value[None] for value in crop(found, 0, found.frames, 0.95)])
        made = network(whole.content, whole.f0, whole.vector, torch.tensor([index]))
        lost += float(mel_distance(whole.samples, made, mel)) * found.frames
        frames += found.frames
    return lost / frames


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_and_nothing_else_does(kind, small_parts, utterances, tmp_path):
    family, options = KINDS[kind]
    config = changed(CONFIG, synthesizer=kind, options=options, steps=12, every=12, batch=3)
    parts, _ = parts_of(small_parts, config, family)
    network = parts.synthesizer
    frozen = {
        name: [value.clone() for value in part.state_dict().values()]
        for name, part in (("content", parts.content), ("speaker", parts.speaker))
    }
    before = [parameter.clone() for parameter in network.parameters()]
    some = conditioned(utterances, parts, tmp_path / "features")
    if family == "b1a":
        standardize(network, SynthesisCrops(some[:6], 0.3, 0.95, 20, 0))
    untrained = distance(network, some[6:])
    outcome = recipe.train(network, some[:6], some[6:], config, tmp_path / "run", machine=CPU)
    assert outcome.best == pytest.approx(distance(network, some[6:]), rel=1e-3)
    assert outcome.best < 0.9 * untrained
    assert not network.training
    after = list(network.parameters())
    assert len(after) == len(before)  # weight norm is folded
    assert not all(map(torch.equal, before, after))
    for name, part in (("content", parts.content), ("speaker", parts.speaker)):
        assert all(map(torch.equal, frozen[name], part.state_dict().values()))
        assert all(p.grad is None and not p.requires_grad for p in part.parameters())


def batch_of(prepared, config):
    crops = SynthesisCrops(prepared, config.seconds, config.peak, 4, 0)
    return SynthesisCrop(*torch.utils.data.default_collate([crops[i] for i in range(4)]))


def test_discriminators_join_at_the_configured_share(small_parts, prepared, tmp_path):
    config = changed(
        CONFIG, adversarial=0.5, discriminator_seconds=0.1, steps=4, every=2, spectra=1.0, batch=2
    )
    parts, _ = parts_of(small_parts, config)
    outcome = recipe.train(
        parts.synthesizer, prepared[:6], prepared[6:], config, tmp_path, machine=CPU
    )
    assert outcome.steps == 4  # two alone, two of both
    assert [row["step"] for row in outcome.curve] == [2, 4]
    assert "discriminators" not in outcome.curve[0]
    assert all(math.isfinite(value) for row in outcome.curve for value in row.values())
    module = Adversarial(parts.synthesizer, config)
    assert len(module.discriminators) == 2
    assert all(parameter.requires_grad for parameter in module.discriminators.parameters())
    assert list((tmp_path / "log").iterdir())


def test_the_two_models_of_b1a_learn_separately(small_parts, utterances, tmp_path):
    config = changed(CONFIG, synthesizer="acoustic-nsf", options=FILTERS)
    parts, _ = parts_of(small_parts, config, "b1a")
    some = conditioned(utterances, parts, tmp_path)
    network = parts.synthesizer.requires_grad_(True).train()
    module = SourceFilter(network, config)
    module.log = lambda *messages, **more: None
    loss = module.training_step(batch_of(some, config), 0)
    loss.backward()
    both = (network.acoustic.head.weight.grad, network.vocoder.conv.weight.grad)
    assert all(float(gradient.abs().sum()) > 0 for gradient in both)
    network.zero_grad()
    stated = network.acoustic(*batch_of(some, config)[1:]).sum()
    stated.backward()
    assert network.vocoder.conv.weight.grad is None
    with pytest.raises(VoicenymError, match="adversarial"):
        parts_of(small_parts, changed(config, adversarial=0.0), "b1a")


def test_another_vocoder_keeps_the_acoustic_model(small_parts, utterances, tmp_path):
    from voicenym.nets.synthesis.synthesizers import save

    options = {"mels": 20, "width": 16, "vocoder": ISTFT}
    config = changed(CONFIG, synthesizer="acoustic-istft", options=options)
    former, record = parts_of(small_parts, config, "b1a")
    some = conditioned(utterances, former, tmp_path / "features")
    standardize(former.synthesizer, SynthesisCrops(some, 0.3, 0.95, 20, 0))
    save(former.synthesizer, tmp_path / "former", card={}, **record.config())
    other = changed(
        config, synthesizer="acoustic-nsf-folded", options={**options, "vocoder": FOLDED}
    )
    parts, _ = parts_of(small_parts, other, "b1a", tmp_path / "former")
    network = parts.synthesizer
    assert network.kind == "acoustic-nsf-folded"
    kept = former.synthesizer.acoustic.state_dict()
    assert all(torch.equal(kept[n], v) for n, v in network.acoustic.state_dict().items())
    assert torch.equal(network.vocoder.standardize.mean, network.acoustic.standardize.mean)
    assert float(network.vocoder.standardize.mean.abs().max()) > 0
    wider = changed(other, options={**other.options, "width": 24})
    with pytest.raises(VoicenymError, match="acoustic model has another size"):
        parts_of(small_parts, wider, "b1a", tmp_path / "former")
    with pytest.raises(VoicenymError, match="is of the kind acoustic-istft"):
        parts_of(small_parts, changed(CONFIG, options=ISTFT), "ssl", tmp_path / "former")


def test_the_vocoder_learns_from_the_mels_of_the_acoustic_model_and_of_the_speech(
    small_parts, utterances, tmp_path
):
    options = {"mels": 20, "width": 16, "vocoder": ISTFT}
    config = changed(CONFIG, synthesizer="acoustic-istft", options=options)
    parts, _ = parts_of(small_parts, config, "b1a")
    crop = batch_of(conditioned(utterances, parts, tmp_path), config)
    network = parts.synthesizer.requires_grad_(True).train()
    module = TwoStage(network, config)
    figures = {}
    module.log = lambda name, value, **more: figures.update({name: float(value)})
    module.training_step(crop, 0).backward()
    grads = {
        "acoustic": network.acoustic.head.weight.grad,
        "vocoder": network.vocoder.head.weight.grad,
    }
    assert all(float(gradient.abs().sum()) > 0 for gradient in grads.values())
    real = mels_of(network)(crop.samples)
    predicted = network.acoustic(*crop[1:])
    off = ((predicted - real) / network.acoustic.standardize.deviation).square().mean()
    assert figures["train/mels"] == pytest.approx(float(off.detach()), rel=1e-4)
    made = network.spoken(real, crop.f0, crop.vector, module.seeds(len(crop.f0)))
    assert made.shape == crop.samples.shape
    network.zero_grad()
    made.square().sum().backward()
    assert network.acoustic.head.weight.grad is None


def test_a_vocoder_learns_alone_under_a_frozen_acoustic_model(small_parts, utterances, tmp_path):
    options = {"mels": 20, "width": 16, "vocoder": FOLDED}
    config = changed(
        CONFIG, synthesizer="acoustic-nsf-folded", options=options, acoustic=False, steps=8, every=8
    )
    parts, _ = parts_of(small_parts, config, "b1a")
    some = conditioned(utterances, parts, tmp_path / "features")
    network = parts.synthesizer
    standardize(network, SynthesisCrops(some[:6], 0.3, 0.95, 20, 0))
    before = {name: value.clone() for name, value in network.state_dict().items()}
    recipe.train(network, some[:6], some[6:], config, tmp_path / "run", machine=CPU)
    changes = {n for n, value in network.state_dict().items() if not torch.equal(before[n], value)}
    assert changes
    assert all(name.startswith("vocoder.") for name in changes)


def test_hifigan_learns_alone_over_a_frame_network_that_stays(small_parts, prepared, tmp_path):
    from voicenym.nets.synthesis.synthesizers import save

    former, record = parts_of(small_parts, CONFIG)
    save(former.synthesizer, tmp_path / "former", card={}, **record.config())
    options = {"frames": ISTFT, "vocoder": {"size": GENERATOR}}
    config = changed(
        CONFIG, synthesizer="convnext-hifigan", options=options, acoustic=False, steps=8, every=8
    )
    parts, _ = parts_of(small_parts, config, start=tmp_path / "former")
    network, kept = parts.synthesizer, former.synthesizer.state_dict()
    assert all(torch.equal(kept[n], v) for n, v in network.frames.state_dict().items())
    before = {name: value.clone() for name, value in network.state_dict().items()}
    recipe.train(network, prepared[:6], prepared[6:], config, tmp_path / "run", machine=CPU)
    changes = {n for n, value in network.state_dict().items() if not torch.equal(before[n], value)}
    assert {name.split(".")[0] for name in changes} == {"vocoder"}
    wider = changed(config, options={**options, "frames": {**ISTFT, "width": 16}})
    with pytest.raises(VoicenymError, match="frame network has another size"):
        parts_of(small_parts, wider, start=tmp_path / "former")


def test_it_goes_on_where_it_was_and_not_with_other_parts(small_parts, prepared, tmp_path):
    def begin(config, family="ssl", **messages):
        parts, learnt = parts_of(small_parts, config, family, **messages)
        recipe.check_resumable(tmp_path / "run", parts, learnt, config)
        return parts.synthesizer

    def run(config):
        network = begin(config)
        return recipe.train(
            network, prepared[:6], prepared[6:], config, tmp_path / "run", machine=CPU
        ), network

    first, _ = run(changed(CONFIG, steps=4, every=4))
    assert first.steps == 4
    more, network = run(changed(CONFIG, steps=8, every=4))
    assert more.steps == 8
    assert [row["step"] for row in more.curve] == [4, 8]
    with pytest.raises(VoicenymError, match=r"started with content .*choose another folder"):
        begin(CONFIG, "b1b")
    other = dataclasses.replace(USED, highest=300.0)
    with pytest.raises(VoicenymError, match=r"started with highest 390\.0, and this is 300\.0"):
        begin(changed(CONFIG, settings=other))
    with pytest.raises(VoicenymError, match="started with synthesizer"):
        begin(changed(CONFIG, options={**ISTFT, "width": 16}))
    from voicenym.nets.synthesis.synthesizers import save

    save(network, tmp_path / "kept")
    on, _ = parts_of(small_parts, CONFIG, start=tmp_path / "kept")
    assert torch.equal(on.synthesizer.head.weight, network.head.weight)
    with pytest.raises(VoicenymError, match="is of the kind istft-vocoder"):
        parts_of(small_parts, changed(CONFIG, synthesizer="hifigan"), start=tmp_path / "kept")


def test_what_cannot_be_trained_is_refused(small_parts, utterances, prepared, tmp_path):
    for wrong, match in (
        ({"seconds": 0.05}, "crops of 0.05 s are too short"),
        ({"synthesizer": "choir"}, "no synthesizer 'choir'"),
        ({"options": {"breadth": 3}}, "istft-vocoder"),
        ({"options": {**ISTFT, "hop": 128, "fft": 512}}, "take parts of which one divides"),
    ):
        with pytest.raises(VoicenymError, match=match):
            parts_of(small_parts, changed(CONFIG, **wrong))
    parts, _ = parts_of(small_parts, CONFIG)
    for some, watched, match in (
        ([], prepared, "shorter crop"),
        (prepared, [], "too|long enough to watch"),
    ):
        with pytest.raises(CorpusError, match=match):
            recipe.train(parts.synthesizer, some, watched, CONFIG, tmp_path / "r", machine=CPU)


def test_the_bundled_recipes_are_of_their_published_sizes():
    from voicenym.nets.synthesis.synthesizers import make
    from voicenym.training.synthesis.discriminator_setup import make_discriminators

    def millions(network):
        return sum(parameter.numel() for parameter in network.parameters()) / 1e6

    found = {}
    with torch.device("meta"):
        for name in ("hifigan", "hifigan-nsf", "nsf", "istft", "small"):
            config = load(f"synthesizer-{name}", SynthesizerConfig)
            assert config.settings == Settings(scale="root")
            network = make(config.synthesizer, {**config.options, "content": 256, "speaker": 192})
            assert network.hop == HOP
            some = config.discriminators if config.adversarial < 1.0 else {}
            found[name] = (
                millions(network),
                {n: millions(make_discriminators({n: some[n]})[0]) for n in some},
            )
    kong = {"period": pytest.approx(41.1, abs=0.1), "scale": pytest.approx(29.6, abs=0.1)}
    assert found["hifigan"] == (pytest.approx(14.4, abs=0.5), kong)
    assert found["hifigan-nsf"] == (pytest.approx(14.4, abs=0.5), kong)
    assert found["nsf"][1] == {}
    assert found["istft"][0] == pytest.approx(15.9, abs=0.1)
    assert found["small"][0] == pytest.approx(2.8, abs=0.1)
    config = load("synthesizer-hifigan-small", SynthesizerConfig)
    with torch.device("meta"):
        network = make(config.synthesizer, {**config.options, "content": 256, "speaker": 192})
    assert network.hop == HOP
    assert millions(network.vocoder) == pytest.approx(0.127, abs=0.001)
