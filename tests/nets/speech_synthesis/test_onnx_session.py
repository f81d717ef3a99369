"""Graphs run on one core, equal for equal noise."""

import numpy as np
import pytest
import tiny_onnx

from voicenym.errors import VoicenymError
from voicenym.nets.speech_synthesis.onnx_session import Graph

pytest.importorskip("onnxruntime")


@pytest.fixture
def graph(tmp_path):
    (tmp_path / "noisy.onnx").write_bytes(tiny_onnx.noisy())
    return Graph(tmp_path / "noisy.onnx")


def test_equal_generators_give_equal_bits_and_others_do_not(graph):
    x = {"x": np.zeros((1, 50), np.float32)}
    assert graph.inputs == ("x",)
    first, again, other = (graph(x, np.random.default_rng(seed), 64) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).min() > 0.0
    assert 0.6 < first.std() < 1.4


def test_noise_that_is_too_short_is_extended_without_another_result(graph):
    x = {"x": np.zeros((1, 50), np.float32)}
    short = graph(x, np.random.default_rng(1), 4)
    np.testing.assert_array_equal(short, graph(x, np.random.default_rng(1), 4))
    assert short.shape == (50,)
    with pytest.raises(VoicenymError, match="graph fails"):
        graph({"x": np.zeros((1, 2, 3), np.float32)}, np.random.default_rng(1), 4)


def test_files_that_are_no_graphs_are_named(tmp_path):
    (tmp_path / "text.onnx").write_text("hello")
    with pytest.raises(VoicenymError, match=r"text\.onnx: cannot be run"):
        Graph(tmp_path / "text.onnx")
    with pytest.raises(VoicenymError, match=r"none\.onnx: cannot be read"):
        Graph(tmp_path / "none.onnx")
