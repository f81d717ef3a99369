"""Text to speech: published ONNX voices behind one interface."""
