"""Sound beyond a stated end, a first link or a first track is not lost unnoticed."""

import struct

import av
import numpy as np
import pytest
import soundfile
import torch

from voicenym.audio import Audio, open_reader, read, write
from voicenym.errors import AudioError

RATE = 16000


def noise(seconds, seed=1, rate=RATE):
    generator = torch.Generator().manual_seed(seed)
    return Audio(torch.randn(int(seconds * rate), generator=generator) * 0.1, rate)


def written(path, *audios):
    parts = []
    for number, audio in enumerate(audios):
        part = path.with_name(f"{number}-{path.name}")
        write(part, audio)
        parts.append(part)
    path.write_bytes(b"".join(part.read_bytes() for part in parts))
    return [read(part) for part in parts]


def test_every_link_of_a_chained_ogg_vorbis_is_read_to_its_stated_end(tmp_path):
    path = tmp_path / "radio.ogg"
    parts = written(path, noise(1.3), noise(2.1, seed=2), noise(0.4, seed=3))
    whole = read(path)
    assert torch.equal(whole.samples, torch.cat([part.samples for part in parts], -1))
    assert whole.format.container == "ogg"
    with open_reader(path) as reader:
        assert reader.frames == whole.samples.shape[-1]
        sizes = [block.shape[1] for block in reader.blocks(7000)]
    assert set(sizes[:-1]) == {7000}
    assert sum(sizes) == whole.samples.shape[-1]


def test_links_of_different_rates_are_refused(tmp_path):
    path = tmp_path / "radio.ogg"
    written(path, noise(0.5), noise(0.5, rate=8000))
    with pytest.raises(AudioError, match=r"radio\.ogg: changes its sample rate"):
        read(path)


def without_length(path):
    """A FLAC as programs write it to a pipe: its header states no number of samples."""
    data = bytearray(path.read_bytes())
    data[21] &= 0xF0
    data[22:26] = bytes(4)
    path.write_bytes(data)


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24"])
def test_a_flac_that_states_no_length_is_read(tmp_path, subtype):
    path = tmp_path / "piped.flac"
    samples = noise(1.7).samples.numpy().T
    soundfile.write(path, samples, RATE, subtype=subtype)
    expected = read(path)
    without_length(path)
    found = read(path)
    assert torch.equal(found.samples, expected.samples)
    assert found.format == expected.format


def test_joined_flacs_are_refused(tmp_path):
    path = tmp_path / "joined.flac"
    written(path, noise(1.0), noise(2.0, seed=2))
    with pytest.raises(AudioError, match=r"joined\.flac: is several FLAC recordings.* own"):
        read(path)


def with_length(path, count):
    data = bytearray(path.read_bytes())
    fields = int.from_bytes(data[18:26], "big") >> 36 << 36
    data[18:26] = (fields | count).to_bytes(8, "big")
    path.write_bytes(data)


@pytest.mark.parametrize("count", [RATE, 2 * 4096, RATE // 3])
@pytest.mark.parametrize("level", [0, 5 / 8])
def test_a_flac_that_goes_on_after_its_stated_end_is_refused_with_the_cure(tmp_path, count, level):
    path = tmp_path / "interrupted.flac"
    samples = noise(3.0).samples.numpy()
    soundfile.write(path, samples, RATE, subtype="PCM_16", compression_level=level)
    with_length(path, count)
    end = rf"{count / RATE:.1f} s"
    with pytest.raises(
        AudioError, match=rf"interrupted\.flac: goes on after the end at {end}.*ffm"
    ):
        read(path)


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("count", [1, 4095, 4096, 4097, 40_000])
def test_a_flac_of_any_length_with_bytes_behind_it_is_read(tmp_path, channels, count):
    path = tmp_path / "tagged.flac"
    samples = noise(3.0).samples.numpy()[:count]
    soundfile.write(path, np.stack([samples] * channels, 1), RATE)
    path.write_bytes(path.read_bytes() + b"TAG" + b"\xff\xf8\xc9\x08" * 100)
    assert read(path).samples.shape[-1] == count


def with_size(path, size):
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.find(b"data") + 4, size)
    path.write_bytes(data)


def test_a_wav_that_goes_on_after_its_stated_end_is_refused_with_the_cure(tmp_path):
    path = tmp_path / "interrupted.wav"
    write(path, noise(3.0))
    with_size(path, 2 * RATE)
    with pytest.raises(AudioError, match=r"interrupted\.wav: goes on for 2\.0 s.*-ignore_length"):
        read(path)


def test_a_wav_of_more_than_four_gibibytes_whose_size_is_stated_modulo_is_refused(tmp_path):
    path = tmp_path / "long.wav"
    write(path, noise(1.0))
    with path.open("r+b") as file:
        file.seek(0, 2)
        file.write(b"\1" * 1000)
        file.truncate((1 << 32) + path.stat().st_size)  # a hole, which takes no disk
    with pytest.raises(AudioError, match=r"long\.wav: goes on"):
        open_reader(path)


def test_two_wavs_joined_into_one_are_refused(tmp_path):
    path = tmp_path / "joined.wav"
    written(path, noise(1.0), noise(1.0, seed=2))
    with pytest.raises(AudioError, match=r"joined\.wav: goes on for 1\.0 s"):
        read(path)


@pytest.mark.parametrize(
    "after",
    [
        b"",
        b"LIST" + struct.pack("<I", 60_000) + b"INFO" + bytes(range(256)) * 234 + bytes(92),
        bytes(100_000),
        b"TAG" + b"x" * 125,
        b"APETAGEX" + b"x" * 50_000,
        b"x" * 300,
    ],
)
def test_chunks_tags_zeros_and_a_few_bytes_may_follow_the_sound(tmp_path, after):
    path = tmp_path / "tagged.wav"
    write(path, noise(1.0))
    path.write_bytes(path.read_bytes() + after)
    assert read(path).samples.shape[-1] == RATE


def two_tracks(path):
    with av.open(str(path), "w") as container:
        streams = [container.add_stream("aac", rate=RATE, layout="mono") for _ in range(2)]
        for number, stream in enumerate(streams):
            for start in range(0, RATE, 1024):
                block = noise(1024 / RATE, seed=number).samples.numpy().reshape(1, -1)
                frame = av.AudioFrame.from_ndarray(
                    np.ascontiguousarray(block), format="fltp", layout="mono"
                )
                frame.sample_rate, frame.pts = RATE, start
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))


@pytest.mark.parametrize("padded", [True, False])
def test_a_large_chunk_may_follow_sound_of_odd_length(tmp_path, padded):
    path = tmp_path / "a.wav"
    sound = bytes(128 + number % 7 for number in range(2 * RATE + 1))
    after = b"LIST" + struct.pack("<I", 200_000) + b"INFO" + b"x" * 199_996
    body = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, RATE, RATE, 1, 8)
    body += b"data" + struct.pack("<I", len(sound)) + sound + bytes(padded) + after
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)
    assert read(path).samples.shape[-1] == len(sound)


def test_further_sound_tracks_are_named_in_a_warning(tmp_path):
    path = tmp_path / "two.m4a"
    two_tracks(path)
    with open_reader(path) as reader:
        assert any("two.m4a: has 2 sound tracks; the first" in w for w in reader.warnings)
    write(tmp_path / "one.m4a", noise(1.0))
    with open_reader(tmp_path / "one.m4a") as reader:
        assert not reader.warnings
