"""Limit of the tensors that are made while a network is built from a configuration.

A configuration may be another's work. One that states a size of 10^9 would fill the memory before
its tensors are compared with the weights, and the system would end the process, or others. A
network that fits its weights has hardly more numbers than their file has bytes; what is built of a
folder may therefore make a certain number of elements, and an error follows before more are made.

Initial weights, which those of the folder replace, are zeros, since to draw them takes a third of
the time of loading. What else is drawn meanwhile comes from a generator of its own: the random
numbers of a program that uses the package are the same whether or not it loads a network.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from voicenym.errors import VoicenymError
from voicenym.nets.weights.weight_files import CONFIG

FREE = 1 << 27
"""Elements that any folder may ask for, 512 MB: tables and buffers, which are not stored, and
parts that other folders hold."""
PER_BYTE = 8
"""Elements for each byte of a folder's files: weights of four bits are two in a byte, and a
tensor counts when it is made and when it is filled, and so do intermediate results."""
LEAST = 1 << 10
"""Elements that a tensor counts at least: the objects around a small one take more memory than it
does, so that their number is limited, too."""
FACTORIES = frozenset(
    getattr(torch, name)
    for name in (
        "arange", "bartlett_window", "blackman_window", "empty", "empty_like", "empty_permuted",
        "empty_strided", "eye", "full", "full_like", "hamming_window", "hann_window",
        "kaiser_window", "linspace", "logspace", "normal", "ones", "ones_like", "rand", "rand_like",
        "randint", "randint_like", "randn", "randn_like", "randperm", "tril_indices",
        "triu_indices", "zeros", "zeros_like",
    )
) | frozenset(
    getattr(torch.Tensor, name)
    for name in ("new", "new_empty", "new_full", "new_ones", "new_tensor", "new_zeros", "repeat")
)  # fmt: skip
"""Functions that make a tensor of a size that an argument states."""
FILLERS = frozenset((torch.Tensor.normal_, torch.Tensor.uniform_)) | frozenset(
    getattr(torch.nn.init, name)
    for name in (
        "kaiming_normal_", "kaiming_uniform_", "normal_", "orthogonal_", "sparse_",
        "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_",
    )
)  # fmt: skip
"""Functions that draw the elements of an existing tensor. They first touch its memory, such as that
of the old constructor ``torch.Tensor(size)``, which is not seen here and only reserves it."""
DRAWING = FILLERS | frozenset(
    getattr(torch, name) for name in ("normal", "rand", "randint", "randn", "randperm")
)
"""Functions that draw from torch's global generator unless they get another one."""


class Counter(TorchFunctionMode):
    """Counts the elements of new tensors.

    Args:
        most: elements; beyond them :attr:`refusal` is raised.
        refusal: the error.
    """

    def __init__(self, most: int, refusal: VoicenymError) -> None:
        super().__init__()
        self.left, self.refusal = most, refusal
        self.generator = torch.Generator().manual_seed(0)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = dict(kwargs or {})
        # of nested folders the inner one has its own limit
        if func in _COUNTED and _CURRENT.get() is self:
            self.left -= max(_elements(func, args, kwargs), LEAST)
            if self.left < 0:
                raise self.refusal
        if func in DRAWING and kwargs.get("generator") is None and _on_processor(args, kwargs):
            if func in FILLERS:
                filled = _filled(args, kwargs)
                filled.detach().zero_()
                return filled
            kwargs["generator"] = self.generator
        return func(*args, **kwargs)


_COUNTED = FACTORIES | FILLERS
_CURRENT: ContextVar[Counter | None] = ContextVar("current", default=None)


def _on_processor(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether a function draws on the processor, where the generator is."""
    tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor)]
    device = torch.device(kwargs.get("device") or "cpu")
    return device.type == "cpu" and all(tensor.device.type == "cpu" for tensor in tensors)


def _filled(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> torch.Tensor:
    """The tensor of a function of :data:`FILLERS`."""
    tensor: torch.Tensor = args[0] if args else kwargs["tensor"]
    return tensor


def _elements(func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int:
    """Number of elements that a function would make in memory; 0 of those of the device meta.

    It is told from the arguments: to make the same on the device meta would import the compiler of
    torch, which takes seconds.
    """
    if func in FILLERS:
        filled = _filled(args, kwargs)
        return 0 if filled.is_meta else filled.numel()
    if torch.device(kwargs.get("device") or "cpu").type == "meta":
        return 0
    name = func.__name__
    own = args[0] if args and isinstance(args[0], torch.Tensor) else None
    rest = args[1:] if own is not None else args
    if name == "repeat" and own is not None:
        return own.numel() * math.prod(_numbers(rest, kwargs.get("repeats")))
    if name.endswith("_like"):
        return (own if own is not None else kwargs["input"]).numel()
    if name == "new_tensor":  # of data that are there
        return 0
    if name == "arange":
        return _length_of_range(*_given(rest, kwargs, "start", "end", "step"))
    if name in ("linspace", "logspace"):
        return int(_given(rest, kwargs, "start", "end", "steps")[2] or 0)
    if name.endswith("_window"):
        return int(_given(rest, kwargs, "window_length")[0] or 0)
    if name == "eye":
        rows, columns = _given(rest, kwargs, "n", "m")
        return int(rows) * int(rows if columns is None else columns)
    if name in ("tril_indices", "triu_indices"):
        rows, columns = _given(rest, kwargs, "row", "col")
        return 2 * int(rows) * int(columns)
    sizes = _numbers(rest, kwargs.get("size"))
    if name == "normal" and not sizes:  # of the size of its means and deviations
        return max((x.numel() for x in (*args, *kwargs.values()) if torch.is_tensor(x)), default=0)
    return math.prod(sizes)


def _numbers(args: tuple[Any, ...], named: Any) -> tuple[int, ...]:
    """A size: by name, as the first sequence among arguments, or as integers one by one."""
    sequence = next((x for x in (named, *args) if isinstance(x, (tuple, list))), None)
    numbers = args if sequence is None else sequence
    return tuple(int(number) for number in numbers if not isinstance(number, (float, bool)))


def _given(args: tuple[Any, ...], kwargs: Mapping[str, Any], *names: str) -> tuple[Any, ...]:
    """Arguments by position or by name; None where there is none."""
    places = dict(zip(names, args, strict=False))
    return tuple(places.get(name, kwargs.get(name)) for name in names)


def _length_of_range(start: Any, end: Any, step: Any) -> int:
    """Length of ``torch.arange``, whose first argument is the end where it is alone."""
    if end is None:
        start, end = 0, start
    length = (float(end) - float(start or 0)) / float(step or 1)
    return max(0, math.ceil(length)) if math.isfinite(length) else 1 << 62


@contextmanager
def limited(place: Path | str) -> Iterator[None]:
    """Context manager in which no more is allocated than weights of a folder can need.

    Args:
        place: folder, or file of weights.

    Raises:
        VoicenymError: a network inside would be much larger than the files of its weights.
    """
    size = _bytes(Path(place))
    named = Path(place) / CONFIG if Path(place).is_dir() else Path(place)
    counter = Counter(
        FREE + PER_BYTE * size,
        VoicenymError(
            f"{named}: states sizes of a network that is far larger than the {size:,} bytes of its "
            "weights, and nothing is made of it; fetch or train it again"
        ),
    )
    outer = _CURRENT.set(counter)
    try:
        with counter:
            yield
    finally:
        _CURRENT.reset(outer)


def _bytes(place: Path) -> int:
    """Size of a file, or of the files of a folder; 0 if there are none."""
    try:
        files = list(place.iterdir()) if place.is_dir() else [place]
        return sum(path.stat().st_size for path in files if path.is_file())
    except OSError:
        return 0
