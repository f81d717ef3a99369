"""MUSA: removal of the speaker vector, and synthesis in another or an empty voice."""

import pytest
import torch

from voicenym import Audio, load
from voicenym.errors import AudioError, UnknownSystemError, VoicenymError, WeightsError
from voicenym.nets.codec.codec import Codec
from voicenym.nets.codec.codec_config import CodecConfig
from voicenym.nets.content.units import Units
from voicenym.pseudonym import Key
from voicenym.resynthesis.codec.codec_core import CodecSpeakers, CodedCore

KEY, OTHER = Key(bytes(range(32))), Key(bytes(32))
SIZES = {"channels": 2, "size": 8, "layers": 1, "codebooks": 3, "entries": 8, "speaker": 8}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Weights of two codecs, one causal and one not."""
    root = tmp_path_factory.mktemp("codecs")
    for causal in (True, False):
        torch.manual_seed(0)
        codec = Codec(CodecConfig(**SIZES, causal=causal)).eval()
        with torch.no_grad():
            for parameter in codec.parameters():
                if parameter.ndim > 1 and parameter.numel():
                    torch.nn.init.kaiming_uniform_(parameter, a=1.0)
        codec.voices.learn_statistics(torch.randn(200, 8))
        codec.save(root / str(causal))
    Units(torch.randn(6, 39)).save(root / "units")
    return {"causal": root / "True", "whole": root / "False", "units": root / "units"}


@pytest.fixture(scope="module")
def speech():
    time = torch.arange(40_000) / 16_000
    buzz = sum(torch.cos(2 * torch.pi * 120 * k * time) / k for k in range(1, 20))
    return 0.1 * buzz * (0.6 + 0.4 * torch.sin(9 * time))


def distance(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one - other).square().mean().sqrt() / one.square().mean().sqrt())


def test_the_empty_voice_is_the_same_under_every_key(folders, speech):
    source = Audio(speech, 16_000)
    empty = load("musa", voice="empty", weights=str(folders["causal"]))
    turned = load("musa", weights=str(folders["causal"]))
    nobody = empty(source, KEY.pseudonym("a")).samples
    assert torch.equal(nobody, empty(source, OTHER.pseudonym("b")).samples)
    mine = turned(source, KEY.pseudonym("a")).samples
    assert distance(mine, turned(source, OTHER.pseudonym("a")).samples) > 1e-2
    assert distance(mine, nobody) > 1e-2


def test_fewer_codebooks_say_less(folders, speech):
    source, who = Audio(speech, 16_000), KEY.pseudonym("a")
    weights = str(folders["causal"])
    made = {n: load("musa", codebooks=n, weights=weights)(source, who).samples for n in (0, 1, 3)}
    assert torch.equal(made[0], made[3])
    assert distance(made[0], made[1]) > 1e-3
    with pytest.raises(VoicenymError, match="1 to 3 with these weights, not 4"):
        load("musa", codebooks=4, weights=weights).check()
    with pytest.raises(UnknownSystemError, match="0 for all, not -1"):
        load("musa", codebooks=-1)


def test_strength_goes_from_the_own_voice_to_the_other(folders, speech):
    source, who = Audio(speech, 16_000), KEY.pseudonym("a")

    def at(strength):
        system = load("musa", voice="empty", strength=strength, weights=str(folders["whole"]))
        return system(source, who).samples

    copied = load("musa", identity="copy", weights=str(folders["whole"]))
    own, half, full = copied(source, who).samples, at(0.5), at(1.0)
    assert distance(own, half) < distance(own, full)
    codec, _ = Codec.load(folders["whole"])
    vector = CodecSpeakers(codec).embed([speech])
    core = CodedCore(codec, vector, vector, None)
    rebuilt = torch.cat([core.push(speech[None]), core.flush()], 1)[0]
    torch.testing.assert_close(own, rebuilt, atol=1e-4, rtol=0)


@pytest.mark.parametrize("strength", [0.0, -0.1, 1.1, float("nan")])
def test_the_own_voice_is_kept_by_name_alone(strength):
    with pytest.raises(UnknownSystemError, match="identity=copy keeps the speaker's voice by name"):
        load("musa", strength=strength)


def test_windows_give_what_blocks_of_any_size_give(folders, speech, monkeypatch):
    from voicenym.resynthesis.codec import codec_core

    monkeypatch.setattr(codec_core, "MOST_SAMPLES", 16_000)
    monkeypatch.setattr(codec_core, "CONTEXT", 3_200)
    system, who = load("musa", weights=str(folders["whole"])), KEY.pseudonym("a")
    profiling = system.profiling(16_000)
    profiling.push(speech[None])
    profile = profiling.result()

    def through(size):
        stream = system.stream(who, 16_000, profile=profile)
        parts = [stream.push(part[None]) for part in speech.split(size)]
        return torch.cat([*parts, stream.flush()], dim=1)

    whole = through(len(speech))
    assert whole.shape == (1, len(speech))
    for size in (777, 5_000, 16_001):
        torch.testing.assert_close(through(size), whole, atol=1e-5, rtol=0)


def test_a_live_stream_hears_who_speaks_after_a_second(folders, speech):
    system = load("musa", identity="copy", weights=str(folders["causal"]))
    stream = system.stream(KEY.pseudonym("a"), 16_000)
    live = torch.cat([stream.push(speech), stream.flush()])
    assert live.shape == speech.shape
    assert system.profile_optional
    # Of a copy, what is put back is what is taken away: the mean speaker's vector in the first
    # second, then the speaker's.
    codec, _ = Codec.load(folders["causal"])
    mean = codec.voices.mean[None]
    core = CodedCore(codec, mean, mean, None)
    ordinary = torch.cat([core.push(speech[None]), core.flush()], 1)[0]
    torch.testing.assert_close(live[:14_000], ordinary[:14_000], atol=1e-4, rtol=0)
    assert distance(live[20_000:], ordinary[20_000:]) > 1e-3


def test_from_revision_two_on_a_live_stream_comes_sooner(folders, speech):
    """Its level looks four frames of 10 ms less ahead; files stay the same."""
    systems = [load("musa", weights=str(folders["causal"]), revision=n) for n in (1, 2)]
    streams = [system.stream(KEY.pseudonym("a"), 16_000) for system in systems]
    assert streams[0].latency - streams[1].latency == 4 * 160
    first, second = (torch.cat([one.push(speech), one.flush()]) for one in streams)
    assert first.shape == second.shape
    assert 1e-4 < distance(first, second) < 0.3
    whole = [system(Audio(speech, 16_000), KEY.pseudonym("a")).samples for system in systems]
    assert torch.equal(*whole)
    keys = (Key(bytes(32), {"musa": 1}), Key(bytes(32), {"musa": 2}))
    with pytest.raises(UnknownSystemError, match="need one revision"):
        load("musa", weights=str(folders["causal"])).core_for(
            [key.pseudonym("a") for key in keys], 16_000, None
        )


def test_a_codec_that_looks_ahead_needs_the_recording_first(folders):
    system = load("musa", weights=str(folders["whole"]))
    assert not system.profile_optional
    with pytest.raises(AudioError, match="analyse the whole recording first"):
        system.stream(KEY.pseudonym("a"), 16_000)


def test_mistakes_name_the_cure(folders, tmp_path):
    with pytest.raises(UnknownSystemError, match="strength"):
        load("musa", strength=1.5)
    with pytest.raises(UnknownSystemError, match="turned or empty"):
        load("musa", voice="whispered")
    with pytest.raises(WeightsError, match=r"voicenym train musa .*--units bundled"):
        load("musa", weights=str(tmp_path / "nothing")).check()
    with pytest.raises(VoicenymError, match="holds no codec"):
        load("musa", weights=str(folders["units"])).check()


def test_one_command_speaks_in_another_voice(folders, speech, tmp_path):
    import soundfile
    from typer.testing import CliRunner

    from voicenym.apps.cli import app

    soundfile.write(tmp_path / "talk.wav", speech.numpy(), 16_000)
    for strength in ("1", "0.3"):
        arguments = [
            "anonymize", tmp_path / "talk.wav", "--system", "musa", "--set", "voice=empty",
            "--strength", strength, "--weights", folders["causal"],
            "-o", tmp_path / f"{strength}.wav",
        ]  # fmt: skip
        done = CliRunner().invoke(app, [str(a) for a in arguments])
        assert done.exit_code == 0, done.output
    full, part = (soundfile.read(tmp_path / f"{s}.wav", dtype="float32")[0] for s in ("1", "0.3"))
    assert len(full) == len(part) == len(speech)
    assert distance(torch.from_numpy(full), torch.from_numpy(part)) > 1e-2
