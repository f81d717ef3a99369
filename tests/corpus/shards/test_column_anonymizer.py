"""Columns of recordings, for pipelines of other programs: the command's voices, and no more."""

import io
import pickle
import re

import numpy as np
import pytest
import soundfile

from voicenym import ColumnAnonymizer, Key, VoicenymError
from voicenym.corpus.shards.column_anonymizer import REASON
from voicenym.errors import CorpusError, KeyFileError

RATE = 16_000


def sound(seed, container="WAV"):
    """A file of a voiced second."""
    time = np.arange(RATE) / RATE
    pitch = 110 + 15 * seed
    wave = sum(np.sin(2 * np.pi * pitch * k * time) / k for k in range(1, 25))
    wave = 0.1 * wave * (1 + np.sin(2 * np.pi * 4 * time))
    content = io.BytesIO()
    soundfile.write(content, wave, RATE, format=container)
    return content.getvalue()


@pytest.fixture
def batch():
    return {
        "audio": [sound(number) for number in range(3)],
        "speaker": ["anna", "ben", "anna"],
        "text": ["one", "two", "three"],
    }


@pytest.fixture
def hide(key):
    return ColumnAnonymizer("mcadams", key=key)


def samples(content):
    return soundfile.read(io.BytesIO(content))[0]


def test_rows_are_those_of_a_parquet_shard(anonymize, key, hide, batch, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    cells = [{"bytes": one, "path": f"{n}.wav"} for n, one in enumerate(batch["audio"])]
    table = pyarrow.table({"audio": cells, "speaker": batch["speaker"]})
    (tmp_path / "shards").mkdir()
    parquet.write_table(table, tmp_path / "shards" / "one.parquet")
    anonymize(tmp_path / "shards", "-o", tmp_path / "out")
    written = parquet.read_table(tmp_path / "out" / "one.parquet").to_pydict()
    found = hide({**batch, "audio": cells})
    assert found["audio"] == written["audio"]
    assert found["speaker"] == written["speaker"]


def test_bytes_stay_bytes_and_nothing_is_copied_that_is_not_named(hide, key, batch):
    found = hide(batch)
    assert sorted(found) == ["audio", REASON, "speaker"]
    assert found[REASON] == ["", "", ""]
    for new, old in zip(found["audio"], batch["audio"], strict=True):
        assert isinstance(new, bytes)
        assert samples(new).shape == samples(old).shape
        assert not np.allclose(samples(new), samples(old), atol=1e-2)
    kept = ColumnAnonymizer("mcadams", key=key, keep="text")(batch)
    assert kept["text"] == batch["text"]
    assert kept["audio"] == found["audio"]


def test_partition_does_not_matter(hide, batch):
    whole = hide(batch)["audio"]
    apart = [hide({name: column[n : n + 1] for name, column in batch.items()}) for n in (2, 0, 1)]
    assert [one["audio"][0] for one in apart] == [whole[n] for n in (2, 0, 1)]


def test_arrays_come_back_as_arrays(hide, batch):
    arrays = {name: np.array(column, dtype=object) for name, column in batch.items()}
    found = hide(arrays)
    assert isinstance(found["audio"], np.ndarray)
    assert found["audio"].tolist() == hide(batch)["audio"]
    numbers = hide({**batch, "speaker": np.array([7, 8, 7])})
    assert numbers["audio"] == hide({**batch, "speaker": ["7", "8", "7"]})["audio"]


def test_a_container_is_kept_and_of_a_path_only_the_name(hide):
    cell = {"bytes": sound(0, "FLAC"), "path": "recordings/anna/interview.flac"}
    (found,) = hide({"audio": [cell], "speaker": ["anna"]})["audio"]
    assert found["path"] == "interview.flac"
    assert found["bytes"][:4] == b"fLaC"


@pytest.mark.parametrize(
    ("cell", "speaker", "why"),
    [
        (b"", "anna", "empty"),
        (b"no sound at all", "anna", "row 1 of the batch"),
        ({"bytes": None, "path": "/etc/hostname"}, "anna", "a path is not opened"),
        ({"array": [0.0], "sampling_rate": RATE}, "anna", "Audio\\(decode=False\\)"),
        (None, "anna", "has no bytes"),
        (sound(1)[:2000], None, "names no speaker"),
        (sound(1), "", "names no speaker"),
        (sound(1), 1.5, "neither text nor a whole number"),
    ],
)
def test_a_row_that_fails_has_no_recording_and_says_why(hide, batch, cell, speaker, why):
    batch["audio"][1], batch["speaker"][1] = cell, speaker
    found = hide(batch)
    assert found["audio"][1] is None
    assert re.search(why, found[REASON][1])
    assert found[REASON][::2] == ["", ""]
    assert all(isinstance(found["audio"][number], bytes) for number in (0, 2))


def test_a_missing_column_is_named(hide, batch):
    with pytest.raises(CorpusError, match="voice: no such column; there are: audio, speaker, text"):
        ColumnAnonymizer("mcadams", key="any", audio="voice")(batch)


def test_what_no_row_can_do_without_ends_the_pipeline(batch, key, tmp_path):
    with pytest.raises(KeyFileError, match=r"none\.key"):
        ColumnAnonymizer("mcadams", key=tmp_path / "none.key")(batch)
    with pytest.raises(VoicenymError, match="no system"):
        ColumnAnonymizer("nobody", key=key)(batch)


def test_the_key_travels_nowhere(hide, key, batch):
    hide(batch)
    secret = bytes(range(100, 132))
    sent = pickle.dumps(hide)
    assert secret not in sent
    assert secret.hex().encode() not in sent
    assert pickle.loads(sent)(batch)["audio"] == hide(batch)["audio"]
    with pytest.raises(KeyFileError, match="give the path of a key file"):
        ColumnAnonymizer("mcadams", key=Key.load(key))


def test_no_temporary_file_stays(hide, batch, temporary):
    hide({**batch, "audio": [*batch["audio"][:2], b"damaged"]})
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
def test_ray_data_maps_its_batches(hide, batch):
    pytest.importorskip("ray")
    from voicenym.corpus.workers.ray_session import RaySession

    with RaySession(workers=2):
        import ray.data

        rows = [dict(zip(batch, row, strict=True)) for row in zip(*batch.values(), strict=True)]
        found = ray.data.from_items(rows).map_batches(hide, batch_size=2).take_all()
    wanted = dict(zip(batch["audio"], hide(batch)["audio"], strict=True))
    assert sorted(one["audio"] for one in found) == sorted(wanted.values())
    assert {one[REASON] for one in found} == {""}
