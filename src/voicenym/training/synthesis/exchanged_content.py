"""A trained synthesizer under another content encoder: only the projection of the content is new.

What a synthesizer has learnt of voices, of excitation and of phase does not depend on the frames
that say what is spoken. Weights that read content are new where content has another size; all
others are kept. Least squares fit the new ones so that the layer gets what the former content gave
it, as far as that is a linear function of the new content, and a short training does the rest.
Content comes first among the inputs (:class:`voicenym.nets.synthesis.synthesizer.Conditions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.synthesis import synthesizers
from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.training.synthesis.synthesis_dataset import ConditionedUtterance

RIDGE = 1e-3
"""Ridge of the least squares, as a share of the mean power of an input."""
FITTED = 160
"""Number of utterances for the least squares, evenly over all."""
SPARSE = 4
"""Every fourth frame counts in the least squares; neighbours differ little."""
INPUTS = 1
"""Axis of a weight matrix, or of the kernel of a convolution, that holds its inputs."""


def with_content(network: Synthesizer, size: int, seed: int) -> Synthesizer:
    """The network for content frames of another size; itself where the size is its own.

    Args:
        network: trained.
        size: elements of a frame of the other content.
        seed: of the weights that read content, which are new.

    Raises:
        VoicenymError: a network whose weights do not read content beside other inputs.
    """
    before = int(network.config()["content"])
    if size == before:
        return network
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = synthesizers.make(network.kind, {**network.config(), "content": size})
    state = made.state_dict()
    for name, value in network.state_dict().items():
        if state[name].shape == value.shape:
            state[name] = value
            continue
        if state[name].ndim < 2 or state[name].shape[INPUTS] - value.shape[INPUTS] != size - before:
            raise VoicenymError(
                f"a {network.kind} cannot change its content: {name} is {list(value.shape)} in it; "
                "train a new one"
            )
        kept = value.shape[INPUTS] - before
        state[name].narrow(INPUTS, size, kept).copy_(value.narrow(INPUTS, before, kept))
    made.load_state_dict(state)
    return made.eval()


@torch.no_grad()
def fit_content(
    network: Synthesizer,
    former: Synthesizer,
    frames: Iterable[tuple[torch.Tensor, torch.Tensor]],
) -> float:
    """Fits the weights of :func:`with_content` that read content, by least squares.

    The layer's output has a part that content alone decides. The weights and the bias are set so
    that frames of the new content give the part that frames of the former content gave.

    Args:
        network: of :func:`with_content`, with new weights; changed in place.
        former: the network that it was made from.
        frames: of recordings: new and former content ``[frame, element]``, at the same frames.

    Returns:
        The share of the variance of that part that the fit explains.

    Raises:
        VoicenymError: no frames, or networks of one content.
    """
    new, old = dict(network.named_parameters()), dict(former.named_parameters())
    name = next((n for n in new if new[n].shape != old[n].shape), None)
    if name is None:
        raise VoicenymError("both synthesizers read the same content; there is nothing to fit")
    weight, bias = new[name], new[name.removesuffix("weight") + "bias"]
    size, before = (int(net.config()["content"]) for net in (network, former))
    read = old[name].narrow(INPUTS, 0, before).reshape(len(bias), before, -1).double()
    taps = read.shape[2]
    inputs, outputs = size * taps, len(bias)
    square = torch.zeros(inputs, inputs, dtype=torch.float64)
    cross = torch.zeros(inputs, outputs, dtype=torch.float64)
    sums, wanted_sums = torch.zeros(inputs).double(), torch.zeros(outputs).double()
    power, count = 0.0, 0
    for given, wanted in frames:
        if len(given) < taps:
            continue
        x = given.unfold(0, taps, SPARSE).flatten(1)
        y = torch.einsum("fet,oet->fo", wanted.unfold(0, taps, SPARSE).double(), read)
        square += (x.T @ x).double()
        cross += x.double().T @ y
        sums += x.double().sum(0)
        wanted_sums += y.sum(0)
        power += float(y.square().sum())
        count += len(x)
    if not count:
        raise VoicenymError("no frames of content to fit a synthesizer to; give longer recordings")
    mean, wanted_mean = sums / count, wanted_sums / count
    square = square / count - torch.outer(mean, mean)
    cross = cross / count - torch.outer(mean, wanted_mean)
    ridge = RIDGE * float(square.trace()) / inputs
    solved = torch.linalg.solve(square + ridge * torch.eye(inputs).double(), cross)
    shape = [outputs, size, *weight.shape[2:]]
    weight.narrow(INPUTS, 0, size).copy_(solved.T.reshape(shape))
    bias.copy_(old[name.removesuffix("weight") + "bias"] + wanted_mean - mean @ solved)
    variance = power / count - float(wanted_mean.square().sum())
    explained = 2.0 * (solved * cross).sum() - ((square @ solved) * solved).sum()
    return float(explained) / max(variance, 1e-30)


def frames_of_both(
    new: Sequence[ConditionedUtterance], former: Sequence[ConditionedUtterance]
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """New and former content of the same utterances, at the synthesizer's frames.

    Args:
        new, former: the same utterances under both encoders; those that only one has are left out.
    """
    by_path = {item.utterance.path: item for item in former}
    for item in new:
        other = by_path.get(item.utterance.path)
        if other is not None:
            both = [
                np.repeat(np.load(one.content, allow_pickle=False), one.every, axis=0)
                for one in (item, other)
            ]
            count = min(item.frames, *map(len, both))
            yield torch.from_numpy(both[0][:count]), torch.from_numpy(both[1][:count])
