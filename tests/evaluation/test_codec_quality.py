"""Study script of codec quality, from speech to tables and plots."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from voicenym.evaluation.results import Measured
from voicenym.nets.codec.codec import Codec
from voicenym.nets.codec.codec_config import CodecConfig

pytest.importorskip("speechmos")
pytest.importorskip("matplotlib")
pytest.importorskip("parselmouth")

RATE = 16_000
BENCHMARKS = Path(__file__).parents[2] / "benchmarks" / "studies" / "synthesis"


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location(
            "codec_quality", BENCHMARKS / "codec_quality.py"
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def speech(tmp_path_factory):
    """Six speakers, half of whom are audible, with four buzzes each."""
    root = tmp_path_factory.mktemp("speech")
    lines = ["utterance\tpath\tspeaker\tgender\tage\tsplit\tlanguage\tcorpus\ttext"]
    time = np.arange(RATE * 3 // 4) / RATE
    for speaker in range(6):
        for part in range(4):
            f0 = 100 * 1.1**speaker * (1 + 0.1 * np.sin((5 + part) * time))
            phase = 2 * np.pi * np.cumsum(f0) / RATE
            sound = sum(np.cos(k * phase + k * speaker) / k for k in range(1, 12))
            name = f"u{speaker}{part}"
            soundfile.write(root / f"{name}.wav", 0.1 * sound, RATE)
            lines.append(f"{name}\t{name}.wav\ts{speaker}\tf\t30\tdev\tmade\tmade\t")
    (root / "manifest.tsv").write_text("\n".join(lines) + "\n")
    return root


def test_tables_and_drawings_of_a_codec(script, speech, tmp_path, capsys, brief):
    torch.manual_seed(0)
    codec = Codec(
        CodecConfig(size=8, codebooks=2, entries=8, speaker=8, causal=True, spectral=8, blocks=1)
    )
    codec.voices.learn_statistics(torch.randn(20, 8))
    codec.save(tmp_path / "codec")
    script.main([
        str(speech), "--weights", str(tmp_path / "codec"), "--split", "dev", "--enrolment", "2",
        "--tried", "2", "--sample", "3", "--strength", "0", "--strength", "1", "--replicates", "20",
        "--draw", str(tmp_path / "drawn"), "--json", str(tmp_path / "found.json"),
    ])  # fmt: skip
    given = capsys.readouterr().out
    assert "3 speakers, 6 recordings tried, 3 of them listened to" in given
    found = json.loads((tmp_path / "found.json").read_text())
    assert set(found) == {
        "original", "original, by the codec's own speaker encoder", "turned, strength 0",
        "turned, strength 1",
    }  # fmt: skip
    own = found["turned, strength 0"]
    assert {"ignorant", "lazy-informed", "mel distance", "DNSMOS", "RTF", "G_VD", "DeID"} <= set(
        own
    )
    assert own["mel distance"]["value"] > 0.0
    assert "WER" not in own
    assert "unprotected" in found["original"]
    assert (tmp_path / "drawn" / "speakers.svg").read_text().startswith("<svg")
    assert "turned, lazy-informed" in (tmp_path / "drawn" / "like-the-original.svg").read_text()


def test_likeness_is_one_of_the_same_and_chance_of_others(script):
    vectors = np.repeat(np.eye(4), 2, axis=0)
    who = list("aabbccdd")
    found = script.likeness(vectors, vectors, who, 20)
    assert found["like the original"].value == pytest.approx(1.0)
    assert found["originals of the same speaker"].value == pytest.approx(1.0)
    assert found["originals of the other speaker"].value == pytest.approx(-1 / 3)


def test_a_table_has_a_column_for_each_figure_that_any_has(script):
    rows = {
        "one": {"WER": Measured(12.34, 10.0, 15.0, "%")},
        "two": {"G_VD": Measured(-3.0, -4.0, -2.0, "dB"), "RTF": Measured(0.051)},
    }
    assert script.table(rows).splitlines() == [
        "| | WER | G_VD | RTF |",
        "| --- | --- | --- | --- |",
        "| one | 12.3 (10.0 to 15.0) |  |  |",
        "| two |  | −3.00 (−4.00 to −2.00) | 0.05 |",
    ]


def test_time_is_warped_and_words_are_distinguished(script):
    rng = np.random.default_rng(0)
    words = [torch.from_numpy(rng.standard_normal((n, 3))).float() for n in (5, 8, 6)]
    slower = [word.repeat_interleave(2, 0) for word in words]
    distances = sys.modules["codec_words"].warped(slower, words)
    assert distances.shape == (3, 3)
    np.testing.assert_allclose(np.diagonal(distances), 0.0, atol=1e-6)
    assert (distances + np.eye(3) * 9 > 0.1).all()
    # one way there is, by hand
    line = [torch.tensor([[0.0], [1.0], [3.0]])]
    other = [torch.tensor([[0.0], [3.0]])]
    assert sys.modules["codec_words"].warped(line, other)[0, 0] == pytest.approx(1 / 5)


def test_repetitions_of_a_word_are_found_by_name(script):
    from voicenym.corpus.recording import Recording

    names = ["x-yes-1_2", "x-yes-1_1", "x-no-1_1", "x-no-1_2", "x-no-1_3", "x-once-1_1"]
    transcripts = [Recording(name, "1", Path("none")) for name in names]
    (own,) = script.repeated(transcripts, r"x-(.+?)-").values()
    assert [(a.name, b.name) for a, b in own] == [
        ("x-no-1_1", "x-no-1_2"), ("x-yes-1_1", "x-yes-1_2"),
    ]  # fmt: skip
