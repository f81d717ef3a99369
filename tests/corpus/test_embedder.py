import numpy as np
import pytest

from voicenym import Key
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.skipped import LeftOut
from voicenym.corpus.transforms import Anonymize, Transform
from voicenym.errors import AudioError, VoicenymError
from voicenym.verification.vector_store import VectorCache

KEY = Key(bytes(range(32)))
PROTECTED = Transform((Anonymize("vtln", KEY),))


def test_what_was_embedded_once_is_not_embedded_again(corpus, spectrum, tmp_path):
    path = tmp_path / "cache" / "vectors.sqlite"
    with Embedder(VectorCache(path)) as embedder:
        first = embedder(spectrum, corpus)
    assert first.shape == (len(corpus), 40)
    assert spectrum.embedded == len(corpus)
    with Embedder(VectorCache(path)) as embedder:
        again = embedder(spectrum, corpus[::-1])
        assert spectrum.embedded == len(corpus)
        embedder(spectrum, corpus[:3], PROTECTED)
    np.testing.assert_array_equal(again, first[::-1])
    assert spectrum.embedded == len(corpus) + 3


def test_the_cache_distinguishes_keys_systems_verifiers_devices_and_contents(
    corpus, spectrum, monkeypatch
):
    first = corpus[0]
    transforms = [
        Transform(),
        PROTECTED,
        Transform((Anonymize("vtln", Key(bytes(32))),)),
        Transform((Anonymize("vtln", KEY, "utterance"),)),
        Transform((Anonymize("vtln", KEY, "everybody"),)),
        Transform((Anonymize("mcadams", KEY),)),
        Transform((Anonymize("mcadams", KEY, "speaker", (("order", 18),)),)),
    ]
    identities = [t.identity(first) for t in transforms]
    assert len(set(identities)) == len(identities)
    assert KEY.tag("anything") not in "".join(identities)
    assert all(corpus[1].digest() not in i for i in identities)
    embedder = Embedder()
    for number, transform in enumerate(transforms, 1):
        embedder(spectrum, [first], transform)
        assert spectrum.embedded == number
    spectrum.version = "2"
    embedder(spectrum, [first])
    assert spectrum.embedded == len(transforms) + 1
    spectrum.device = "cuda"  # whose last bits are others
    monkeypatch.setattr("voicenym.corpus.embedder.check_device", lambda device: None)
    embedder(spectrum, [first])
    assert spectrum.embedded == len(transforms) + 2


def test_progress_counts_every_recording_once(corpus, spectrum):
    counts = []
    embedder = Embedder(progress=counts.append)
    embedder(spectrum, corpus[:5])
    embedder(spectrum, corpus[:7])
    assert sum(counts) == 12


def test_a_cache_that_is_none_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, longer than a page of any data base " * 100)
    with pytest.raises(VoicenymError, match=r"notes.txt: cannot be used as cache"):
        VectorCache(path)
    with pytest.raises(VoicenymError, match="is a folder, and a cache is a file"):
        VectorCache(tmp_path)


def test_a_cache_with_damaged_pages_is_named_when_it_is_used(tmp_path):
    """It opens, since its first page is whole."""
    path = tmp_path / "vectors.sqlite"
    cache = VectorCache(path)
    cache.put((str(number), np.zeros(200)) for number in range(200))
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + bytes([7]) * (len(whole) - 8192))
    damaged = VectorCache(path)
    for use in (
        lambda: [damaged.get(str(number)) for number in range(200)],
        lambda: damaged.put((f"new {number}", np.zeros(200)) for number in range(200)),
    ):
        with pytest.raises(VoicenymError, match=r"vectors.sqlite: cannot be used as cache .*; del"):
            use()


def test_missing_silent_and_short_recordings_are_named(corpus, tmp_path, spectrum):
    import dataclasses

    import soundfile

    for name, samples in (("silent", np.zeros(16000)), ("short", np.full(800, 0.1))):
        path = tmp_path / f"{name}.wav"
        soundfile.write(path, samples, 16000)
        recording = dataclasses.replace(corpus[0], path=path)
        with pytest.raises(AudioError, match=rf"{name}.wav"):
            Embedder()(spectrum, [recording])
    gone = dataclasses.replace(corpus[0], path=tmp_path / "gone.wav")
    with pytest.raises(AudioError, match=r"gone.wav: No such file"):
        Embedder()(spectrum, [gone])


def test_a_silent_result_is_a_failure_of_its_recording_alone(corpus, spectrum):
    class Mutes(Transform):
        def __call__(self, recording):
            samples = super().__call__(recording)
            return 0 * samples if recording.name == corpus[1].name else samples

    left_out = LeftOut()
    vectors, kept = Embedder(left_out=left_out).kept(spectrum, corpus[:4], Mutes())
    assert [one.name for one in kept] == [corpus[n].name for n in (0, 2, 3)]
    assert np.isfinite(vectors).all()
    assert (
        "silent"
        in Embedder(left_out=left_out).failing(spectrum, corpus[:2], Mutes())[corpus[1].name]
    )


def test_a_node_without_the_device_ends_the_run_and_blames_no_recording(corpus, spectrum):
    spectrum.device = "mps"
    left_out = LeftOut()
    with pytest.raises(VoicenymError, match="device 'mps': take cpu"):
        Embedder(left_out=left_out).kept(spectrum, corpus[:2])
    assert not list(left_out)
