"""CPU and GPU agree: no operation mixes devices, found without a GPU.

A second device is made up: tensors are marked as being there. What is computed stays on the CPU and
so proves nothing about a GPU's rounding, which ``test_laws.py`` compares where there is one; but an
operation over tensors of both devices fails here as it would there.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten

from voicenym.anonymizer import available, load, system_class
from voicenym.audio import Audio
from voicenym.pseudonym import Key

NAME = "cuda"
WITHOUT_NETWORKS = [
    name
    for name in available()
    if name == "asr-tts" or system_class(name).card.needs.startswith("no weights")
]
"""Modules of torch cannot be moved to a device that is made up; those of ``asr-tts`` are scripted
here."""
PLAIN = ("tolist", "item", "__bool__", "__int__", "__float__", "__index__", "__len__")


def place(tensor: torch.Tensor) -> str:
    return getattr(tensor, "_place", "cpu")


def tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_flatten(tree)[0] if isinstance(leaf, torch.Tensor)]


class MarkedDevice(TorchFunctionMode):
    """Within it the device ``cuda`` exists; raises RuntimeError where devices are mixed."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if func == torch.Tensor.device.__get__:
            return torch.device(place(args[0]))
        if func == torch.Tensor.is_cuda.__get__:
            return place(args[0]) == NAME
        if name in ("to", "cpu"):
            return self._moved(func, name, list(args), kwargs)
        if name == "numpy" and place(args[0]) == NAME:
            raise RuntimeError("numpy() of a tensor on the GPU")
        wanted = kwargs.get("device")
        if wanted is not None:
            kwargs["device"] = "cpu"
        inputs = tensors((args, kwargs))
        # a number in a tensor may come from the CPU, and so may an index
        meeting = inputs
        if name in ("__getitem__", "__setitem__") and place(args[0]) == NAME:
            meeting = tensors((args[0], args[2:]))
        if len({place(t) for t in meeting if t.ndim}) > 1:
            raise RuntimeError(f"{name} mixes devices: {[(place(t), *t.shape) for t in inputs]}")
        out = func(*args, **kwargs)
        if name in PLAIN:
            return out
        if wanted is not None:
            there = str(wanted)
        else:
            there = NAME if any(place(t) == NAME for t in inputs) else "cpu"
        for tensor in tensors(out):
            tensor._place = there
        return out

    def _moved(self, func: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        there = "cpu" if name == "cpu" else place(args[0])
        for i, argument in enumerate(args[1:], 1):
            if isinstance(argument, (str, torch.device)):
                there, args[i] = str(argument), "cpu"
        if kwargs.get("device") is not None:
            there, kwargs["device"] = str(kwargs["device"]), "cpu"
        out = func(*args, **kwargs)
        if out is args[0] and there != place(out):
            out = torch.Tensor.clone(out)
        out._place = there
        return out


@pytest.mark.parametrize("name", WITHOUT_NETWORKS)
def test_no_operation_of_a_system_mixes_devices(name, talk, monkeypatch):
    for module in ("system_streams", "whole_recordings"):
        monkeypatch.setattr(f"voicenym.anonymizer.{module}.check_device", lambda device: None)
    samples, pseudonym = talk(0.5), Key(bytes(32)).pseudonym("a")
    expected = load(name)(Audio(samples, 16000), pseudonym).samples
    system = load(name, device=NAME)
    with MarkedDevice():
        result = system(Audio(samples, 16000), pseudonym).samples
        if system_class(name).streams:
            stream = system.stream(pseudonym, 48000, channels=2)
            parts = torch.stack([samples, samples]).split(3000, dim=1)
            torch.cat([*(stream.push(part) for part in parts), stream.flush()], dim=1)
    torch.testing.assert_close(result, expected, atol=2e-3, rtol=0)


def test_mixed_devices_are_found():
    with MarkedDevice():
        here, there = torch.ones(3), torch.ones(3, device=NAME)
        assert (there * 2).sum(0, keepdim=True).device.type == NAME
        torch.testing.assert_close((here.to(NAME) + there).cpu(), here + 1)
        for mix in (lambda: here + there, lambda: torch.cat([here, there]), there.numpy):
            with pytest.raises(RuntimeError, match=r"mixes devices|numpy"):
                mix()
