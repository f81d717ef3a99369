"""Layers of the Wave-U-Net: equal results for any number of steps."""

import torch

from voicenym.nets.cloak.convolutions import Layer


@torch.no_grad()
def test_few_steps_of_a_wide_layer_are_those_of_many():
    torch.manual_seed(0)
    layer = Layer(160, 6, 5).eval()
    signal = torch.randn(1, 160, 90)
    for stride in (1, 4):
        whole = layer(signal, stride)
        few = layer(signal[:, :, 40:60], stride)
        torch.testing.assert_close(few, whole[:, :, 40 // stride :][:, :, : few.shape[2]])
