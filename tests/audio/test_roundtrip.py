"""Container, codec, rate, channels, bits, length, alignment and level survive reader and writer."""

import numpy as np
import pytest
import torch

from voicenym.audio import Audio, Format, open_reader, open_writer, read, write

LOSSLESS = [
    ("wav", "pcm_u8", None, 2**-7),
    ("wav", "pcm_s16le", None, 2**-15),
    ("wav", "pcm_s24le", None, 2**-23),
    ("wav", "pcm_s32le", None, 2**-24),
    ("wav", "pcm_f32le", None, 1e-9),
    ("wav", "pcm_f64le", None, 1e-9),
    ("rf64", "pcm_s16le", None, 2**-15),
    ("flac", "flac", 16, 2**-15),
    ("flac", "flac", 24, 2**-23),
    ("ogg", "flac", 16, 2**-15),
    ("m4a", "alac", 16, 2**-15),
    ("mov", "pcm_s16le", None, 2**-15),
    ("mka", "flac", 24, 2**-23),
]
LOSSY = [
    ("wav", "pcm_alaw"),
    ("ogg", "vorbis"),
    ("ogg", "opus"),
    ("opus", "opus"),
    ("mp3", "mp3"),
    ("m4a", "aac"),
    ("mp4", "aac"),
    ("mov", "aac"),
    ("mka", "aac"),
    ("mka", "mp3"),
    ("mka", "opus"),
    ("mka", "vorbis"),
    ("webm", "opus"),
    ("webm", "vorbis"),
    ("aac", "aac"),
]


def signal(length: int, rate: int, channels: int) -> torch.Tensor:
    """Band-limited noise, so that alignment is unambiguous, with quiet ends."""
    rng = np.random.default_rng(length + channels)
    noise = rng.standard_normal((channels, length))
    spectrum = np.fft.rfft(noise)
    spectrum[:, int(spectrum.shape[1] * min(1.0, 3000 / (rate / 2))) :] = 0
    spectrum[:, : int(spectrum.shape[1] * 100 / (rate / 2))] = 0
    noise = np.fft.irfft(spectrum, length)
    return torch.tensor(0.5 * noise / np.abs(noise).max(), dtype=torch.float32)


def lag(a, b) -> int:
    a, b = a.reshape(-1, a.shape[-1])[0].numpy(), b.reshape(-1, b.shape[-1])[0].numpy()
    count = 1 << int(np.ceil(np.log2(len(a) + len(b))))
    cross = np.fft.irfft(np.fft.rfft(a, count) * np.conj(np.fft.rfft(b, count)), count)
    shift = int(cross.argmax())
    return shift - count if shift > count // 2 else shift


@pytest.mark.parametrize(("rate", "channels"), [(8000, 1), (44100, 2), (96000, 1), (48000, 6)])
@pytest.mark.parametrize(("extension", "codec", "bits", "step"), LOSSLESS)
def test_lossless_formats_keep_samples_within_half_a_step(
    tmp_path, extension, codec, bits, step, rate, channels
):
    samples = signal(rate // 4 + 77, rate, channels)
    path = tmp_path / f"a.{extension}"
    write(path, Audio(samples, rate, Format("x", codec, bits=bits)))
    once = read(path)
    assert (once.rate, once.channels, once.format.codec) == (rate, channels, codec)
    assert once.format.bits == bits
    assert once.samples.shape[-1] == samples.shape[-1]
    assert (once.samples.reshape(channels, -1) - samples).abs().max() <= step / 2 * 1.01
    write(tmp_path / f"b.{extension}", once)
    assert torch.equal(read(tmp_path / f"b.{extension}").samples, once.samples)
    assert (tmp_path / f"b.{extension}").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(("rate", "channels"), [(48000, 1), (16000, 2)])
@pytest.mark.parametrize(("extension", "codec"), LOSSY)
def test_lossy_formats_keep_rate_channels_length_and_codec(
    tmp_path, extension, codec, rate, channels
):
    samples = signal(rate + 777, rate, channels)
    path = tmp_path / f"a.{extension}"
    write(path, Audio(samples, rate, Format("x", codec)))
    once = read(path)
    write(tmp_path / f"b.{extension}", once)
    twice = read(tmp_path / f"b.{extension}")
    assert (twice.rate, twice.channels) == (once.rate, channels)
    assert twice.format.container == once.format.container
    assert twice.format.codec == once.format.codec == codec
    assert twice.samples.shape == once.samples.shape
    assert lag(twice.samples, once.samples) == 0
    level = 20 * np.log10(float(twice.samples.std() / once.samples.std()))
    assert abs(level) < 0.5
    if codec == "opus":
        assert once.rate == 48000
    else:
        assert once.rate == rate
        assert lag(once.samples, samples) == 0
        if extension != "aac":
            assert once.samples.shape[-1] == samples.shape[-1]
        else:
            assert once.samples.shape[-1] == -(-samples.shape[-1] // 1024) * 1024


@pytest.mark.parametrize("length", [1, 2, 100, 11520, 11557, 12000, 12287, 12671])
@pytest.mark.parametrize("extension", ["m4a", "mp3", "opus", "ogg", "webm", "flac", "wav"])
def test_length_is_exact(tmp_path, extension, length):
    if extension == "webm" and length < 648:
        pytest.skip("ffmpeg cannot trim both ends of one packet: 648 samples (13 ms) come back")
    codec = {"webm": "opus", "opus": "opus"}.get(extension)
    form = Format("x", codec) if codec else None
    write(tmp_path / f"a.{extension}", Audio(torch.full((length,), 0.1), 48000, form))
    assert read(tmp_path / f"a.{extension}").samples.shape == (length,)


@pytest.mark.parametrize("length", [1300, 1536, 5000, 12671])
@pytest.mark.parametrize("codec", ["ac3", "eac3"])
@pytest.mark.parametrize("extension", ["mp4", "mkv"])
def test_ac3_keeps_its_length(tmp_path, extension, codec, length):
    path = tmp_path / f"a.{extension}"
    write(path, Audio(torch.full((2, length), 0.1), 48000, Format("x", codec)))
    back = read(path)
    assert (back.format.codec, back.samples.shape) == (codec, (2, length))


@pytest.mark.parametrize("rate", [8000, 22050, 44100])
@pytest.mark.parametrize("length", [1, 2, 100, 5000, 44100, 133077])
def test_vorbis_in_webm_keeps_rate_and_length(tmp_path, length, rate):
    """Noise too: it makes the encoder change between long and short blocks."""
    torch.manual_seed(1)
    for samples in (torch.full((length,), 0.1), 0.1 * torch.randn(length)):
        write(tmp_path / "a.webm", Audio(samples, rate, Format("x", "vorbis")), overwrite=True)
        back = read(tmp_path / "a.webm")
        assert (back.rate, back.format.codec, back.samples.shape) == (rate, "vorbis", (length,))


@pytest.mark.parametrize("channels", range(1, 9))
@pytest.mark.parametrize(
    ("extension", "codec"),
    [("wav", "pcm_s16le"), ("flac", "flac"), ("m4a", "aac"), ("opus", "opus"),
     ("ogg", "vorbis"), ("mka", "vorbis"),
     ("m4a", "alac")],
)  # fmt: skip
def test_channels_keep_their_order(tmp_path, extension, codec, channels):
    samples = signal(24000, 48000, channels)
    write(tmp_path / f"a.{extension}", Audio(samples, 48000, Format("x", codec)))
    back = read(tmp_path / f"a.{extension}").samples.reshape(channels, -1)
    table = np.corrcoef(samples.numpy(), back.numpy())[:channels, channels:]
    # The fourth of six or eight channels (the sixth of seven) is the bass channel of lossy codecs.
    kept = [
        c for c in range(channels) if codec in ("pcm_s16le", "flac", "vorbis") or table[c, c] > 0.9
    ]
    assert len(kept) >= channels - (channels >= 6)
    assert all(table[c].argmax() == c for c in kept)


def test_full_scale_clips_and_does_not_wrap(tmp_path):
    samples = torch.tensor([1.0, -1.0, 1.5, -1.5, 0.0])
    for name in ("a.wav", "a.flac"):
        write(tmp_path / name, Audio(samples, 16000))
        back = read(tmp_path / name).samples
        assert torch.allclose(back, torch.tensor([1.0, -1.0, 1.0, -1.0, 0.0]), atol=2**-15)


@pytest.mark.parametrize(("extension", "rate"), [("mp3", 64000), ("m4a", 48000), ("opus", 32000)])
def test_bit_rate_is_kept(tmp_path, extension, rate):
    codec = {"mp3": "mp3", "m4a": "aac", "opus": "opus"}[extension]
    samples = signal(48000 * 2, 48000, 1)
    write(tmp_path / f"a.{extension}", Audio(samples, 48000, Format("x", codec, bit_rate=rate)))
    found = read(tmp_path / f"a.{extension}").format.bit_rate
    assert 0.7 * rate < found < 1.5 * rate


@pytest.mark.parametrize("extension", ["wav", "flac", "ogg", "opus", "mp3", "m4a", "mka"])
def test_streaming_equals_whole(tmp_path, extension):
    samples = signal(30011, 48000, 2)
    write(tmp_path / f"a.{extension}", Audio(samples, 48000))
    path = tmp_path / f"b.{extension}"
    with open_writer(path, None, 48000, 2) as writer:
        for part in samples.split(997, dim=1):
            writer.write(part)
    if extension != "ogg":  # libsndfile numbers its streams at random
        assert path.read_bytes() == (tmp_path / f"a.{extension}").read_bytes()
    whole = read(path).samples.numpy()
    for size in (100, 4096, 10**6):
        with open_reader(path) as reader:
            parts = list(reader.blocks(size))
        assert all(part.shape[1] == size for part in parts[:-1])
        assert all(part.dtype == np.float32 for part in parts)
        assert np.array_equal(np.concatenate(parts, axis=1), whole)


def test_memory_is_bounded(tmp_path):
    import tracemalloc

    path = tmp_path / "long.wav"
    write(path, Audio(torch.zeros(1000), 48000))
    with open(path, "r+b") as file:  # sparse: an hour of silence
        head = bytearray(file.read(200))
        at = head.find(b"data")
        count = 2 * 48000 * 3600
        head[at + 4 : at + 8] = count.to_bytes(4, "little")
        file.seek(0)
        file.write(head[: at + 8])
        file.truncate(at + 8 + count)
    tracemalloc.start()
    total = 0
    with open_reader(path) as reader, open_writer(tmp_path / "o.wav", None, 48000, 1) as writer:
        for block in reader.blocks(1 << 18):
            total += block.shape[1]
            if total < 10**7:
                writer.write(block)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == 48000 * 3600
    assert peak < 30e6


def test_rf64_beyond_4_gib_is_announced(tmp_path):
    from voicenym.audio.sinks.wav_sink import WavSink

    sink = WavSink(tmp_path / "a.wav", "pcm_s16le", 48000, 2, rf64=False)
    sink._bytes = 5 << 30  # as if so much had been written
    sink.finish()
    assert (tmp_path / "a.wav").read_bytes()[:4] == b"RF64"
    with open(tmp_path / "a.wav", "r+b") as file:
        file.truncate((tmp_path / "a.wav").stat().st_size + (5 << 30))
    with open_reader(tmp_path / "a.wav") as reader:
        assert reader.frames == (5 << 30) // 4
