"""``half``: different speaker vectors in acoustic model and vocoder (M1c3 and M1c4)."""

import pytest
import torch

from voicenym import Audio, Key, load
from voicenym.identity.selection import Selection
from voicenym.resynthesis.pipeline import assembly

RATE = 16_000
KEY, OTHER = Key(bytes(range(32))), Key(bytes(range(1, 33)))


@pytest.fixture(autouse=True)
def weights(pipelines, monkeypatch):
    monkeypatch.setenv("VOICENYM_WEIGHTS", str(pipelines))


@pytest.fixture
def half(pipelines):
    """``half(part)``: ``b1a`` with the voice of a selection in that part."""

    def make(part, **parameters):
        text = f"half:of=(selection:pool={pipelines / 'b1a' / 'pool'}),part={part}"
        return load("b1a", identity=text, **parameters)

    return make


def speech(seconds=1.0, f0=130.0):
    time = torch.arange(round(seconds * RATE)) / RATE
    buzz = sum(torch.cos(2 * torch.pi * k * f0 * time) / k for k in range(1, 25))
    return 0.1 * buzz * (0.5 + 0.5 * torch.sin(9 * time))


def profiled(system, signal):
    profiling = system.profiling(RATE, len(signal))
    profiling.push(signal)
    return profiling.result()


@pytest.mark.parametrize("part", ["acoustic", "vocoder"])
def test_each_part_hears_its_own(part, half, pipelines):
    system, pseudonym = half(part), KEY.pseudonym("a")
    profile = profiled(system, speech()[None])
    voice = system.voice([pseudonym], profile)
    pool = str(pipelines / "b1a" / "pool")
    pseudo = Selection(pool).batch(profile.vectors, [pseudonym])
    recorded = {"acoustic": (pseudo, profile.vectors), "vocoder": (profile.vectors, pseudo)}[part]
    torch.testing.assert_close(voice.vectors, torch.stack(recorded, 1))
    network = assembly.opened(system.folder).synthesizer
    received = []
    for module in (network.acoustic, network.vocoder):
        module.register_forward_pre_hook(lambda _, given: received.append(given[2]))
    try:
        system(Audio(speech(0.5), RATE), pseudonym)
    finally:
        for module in (network.acoustic, network.vocoder):
            module._forward_pre_hooks.clear()
    own = profiled(system, speech(0.5)[None]).vectors
    pseudo = Selection(pool).batch(own, [pseudonym])
    for vector, wanted in zip(
        received, (pseudo, own) if part == "acoustic" else (own, pseudo), strict=True
    ):
        torch.testing.assert_close(vector, wanted)


@pytest.mark.parametrize("part", ["acoustic", "vocoder"])
def test_a_half_obeys_the_laws_of_systems(part, half):
    system, audio = half(part), Audio(speech(), RATE)
    made = system(audio, KEY.pseudonym("a")).samples
    assert torch.equal(made, half(part)(audio, KEY.pseudonym("a")).samples)
    others = [system(audio, p).samples for p in (KEY.pseudonym("b"), OTHER.pseudonym("a"))]
    level = audio.samples.square().mean()
    for other in others:
        assert (made - other).square().mean() > 1e-4 * level
    assert (made - audio.samples).square().mean() > 10**-2.5 * level
    gain = 10 * torch.log10(made.square().mean() / level)
    assert abs(float(gain)) < 1.0
    for samples in (torch.zeros(2, 4000), torch.zeros(0), speech(0.01)):
        result = system(Audio(samples, RATE), KEY.pseudonym("a")).samples
        assert result.shape == samples.shape
        assert torch.isfinite(result).all()
        assert result.any() == samples.any()


def test_recordings_of_a_batch_come_out_as_alone(half):
    system = half("vocoder")
    audios = [Audio(speech(0.9), RATE), Audio(torch.stack([speech(0.6, 180.0)] * 2), RATE)]
    who = [KEY.pseudonym("a"), KEY.pseudonym("b")]
    for audio, pseudonym, made in zip(audios, who, system.batch(audios, who), strict=True):
        torch.testing.assert_close(
            made.samples, system(audio, pseudonym).samples, atol=2e-3, rtol=0
        )


def test_pitch_goes_with_the_voice_that_is_put_in(half, pipelines):
    whole = load("b1a", identity=f"selection:pool={pipelines / 'b1a' / 'pool'}", f0="moved")
    profile = profiled(whole, speech()[None])
    wanted = whole.voice([KEY.pseudonym("a")], profile).log_f0
    for part in ("acoustic", "vocoder"):
        assert torch.equal(
            half(part, f0="moved").voice([KEY.pseudonym("a")], profile).log_f0, wanted
        )


def test_a_vector_for_each_part_and_no_other_number():
    from voicenym.nets.synthesis import synthesizers

    sizes = {"content": 3, "speaker": 4, "mels": 8, "width": 8, "channels": 4}
    network = synthesizers.make("acoustic-nsf", {**sizes, "blocks": 1, "convolutions": 2}).eval()
    content, f0, speaker = torch.randn(2, 5, 3), torch.full((2, 5), 120.0), torch.randn(2, 4)
    with torch.inference_mode():
        one = network(content, f0, speaker)
        assert torch.equal(network(content, f0, torch.stack([speaker, speaker], 1)), one)
        other = network(content, f0, torch.stack([speaker, -speaker], 1))
    assert not torch.allclose(other, one)
    for wrong in (torch.randn(2, 3, 4), torch.randn(4)):
        with pytest.raises(ValueError, match="do not fit"):
            network(content, f0, wrong)
