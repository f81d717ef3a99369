"""Devices that systems compute on: the processor, and GPUs of CUDA."""

from __future__ import annotations

from functools import cache

from voicenym.errors import VoicenymError

CPU = "cpu"


def check_device(device: str) -> None:
    """Checks that torch can compute on a device.

    Args:
        device: ``cpu``, ``cuda``, ``cuda:1`` and so on.

    Raises:
        VoicenymError: another kind of device, or a GPU that is not here; the message has the cure.
    """
    if device != CPU:  # which needs no torch
        _check_gpu(device)


@cache
def _check_gpu(device: str) -> None:
    import torch

    kind, colon, number = device.partition(":")
    if kind != "cuda" or (colon and not (number.isascii() and number.isdigit())):
        raise VoicenymError(f"device {device!r}: take cpu, cuda, or a GPU by number as cuda:1")
    if not torch.cuda.is_available():
        raise VoicenymError(
            f"device {device}: torch finds no GPU here; take --device cpu, or install a driver and "
            "a build of torch for CUDA (docs/install.md)"
        )
    count = torch.cuda.device_count()
    if number and int(number) >= count:
        raise VoicenymError(f"device {device}: GPUs here are cuda:0 to cuda:{count - 1}")
