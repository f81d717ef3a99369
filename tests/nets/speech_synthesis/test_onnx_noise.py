"""Random numbers of ONNX graphs become inputs: the caller draws them."""

import numpy as np
import pytest
import tiny_onnx

from voicenym.errors import VoicenymError
from voicenym.nets.speech_synthesis.onnx_noise import with_noise_inputs

onnxruntime = pytest.importorskip("onnxruntime")


def run(graph: bytes, **inputs):
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


@pytest.mark.parametrize(
    ("kind", "drawn"), [("RandomNormalLike", "normal"), ("RandomUniformLike", "uniform")]
)
def test_a_graph_adds_the_noise_that_it_is_given(kind, drawn):
    found = with_noise_inputs(tiny_onnx.noisy(kind))
    assert list(found.noises.values()) == [drawn]
    (name,) = found.noises
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    noise = np.arange(100, dtype=np.float32)
    out = run(found.graph, **{"x": x, name: noise, "voicenym.zero": np.zeros(1, np.int64)})
    np.testing.assert_array_equal(out, x + noise[:6].reshape(2, 3))


def test_a_graph_without_noise_stays_as_it_is():
    plain = tiny_onnx.model(
        tiny_onnx.node("Neg", ["x"], "y"),
        tiny_onnx.value(11, "x", tiny_onnx.FLOAT, ["n"]),
        tiny_onnx.value(12, "y", tiny_onnx.FLOAT, ["n"]),
    )
    found = with_noise_inputs(plain)
    assert found.graph == plain
    assert not found.noises


def test_noise_of_another_spread_or_kind_is_refused():
    with pytest.raises(VoicenymError, match="random numbers with scale"):
        with_noise_inputs(tiny_onnx.noisy("RandomNormalLike", tiny_onnx.attribute("scale", 2.0)))
    with pytest.raises(VoicenymError, match="cannot be replaced \\(Bernoulli\\)"):
        with_noise_inputs(tiny_onnx.noisy("Bernoulli"))


def test_what_is_no_graph_is_refused():
    with pytest.raises(VoicenymError, match="no ONNX file"):
        with_noise_inputs(b"RandomNormalLike, but no protocol buffer \xff\xff\xff")
