"""Time of the SSL-based pipeline by part at its published sizes, against the limit of its
arithmetic.

    python benchmarks/pipelines.py [--synthesizer istft-vocoder] [--seconds 30] [--threads 1]
    python benchmarks/pipelines.py --device cuda --rows 16

The architecture is the published one (HuBERT-soft of 12 layers, ECAPA-TDNN of 512 channels, YAAPT,
and HiFi-GAN V1 or an inverse-STFT synthesizer of 14 million parameters), its weights are random:
that makes no difference to speed. For each part and the whole: multiply-adds per second of speech,
processor time over duration and threads, and that over the limit, which is the multiply-adds at the
rate of a large convolution on one thread, measured in the same run. Then the process's peak memory.
With ``--rows``, so many signals are worked on at once; on an accelerator, elapsed time counts.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable

import torch
from torch.utils.flop_counter import FlopCounterMode

from embedding import Clock
from voicenym.nets.content.hubert import HubertSoft
from voicenym.nets.speakers.ecapa import Ecapa
from voicenym.nets.synthesis import synthesizers
from voicenym.resynthesis.pipeline.conditioning import pitch_of
from voicenym.resynthesis.pipeline.pipeline_core import PipelineCore, Voice
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly
from voicenym.resynthesis.pipeline.profile_reader import ProfileReader
from voicenym.resynthesis.pipeline.synthesis_settings import Settings

RATE = 16_000
SYNTHESIZERS = ("istft-vocoder", "hifigan")


def best(clock: Clock, function: Callable[[], object], times: int) -> float:
    """Least of several times in seconds, after one run that is not counted."""
    function()
    return min(clock(function) for _ in range(times))


def convolution_rate(device: str, rows: int) -> float:
    """Multiply-adds per second of a convolution like those of HiFi-GAN's middle stages."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    x = torch.randn(rows, 128, 4000, device=device)
    w = torch.randn(128, 128, 7, device=device)
    taken = best(Clock(device, 1), lambda: torch.conv1d(x, w, padding=3), 20)
    torch.set_num_threads(threads)
    return rows * 4000 * 128 * 128 * 7 / taken


def operations(function: Callable[[], object]) -> int:
    """Multiply-adds in matrix products and convolutions."""
    torch.backends.mha.set_fastpath_enabled(False)  # it is not counted
    with FlopCounterMode(display=False) as counter:
        function()
    torch.backends.mha.set_fastpath_enabled(True)
    return int(counter.get_total_flops()) // 2


def speech(seconds: float) -> torch.Tensor:
    """A buzz that glides, with pauses, ``[1, time]``."""
    when = torch.arange(round(seconds * RATE)) / RATE
    phase = 2 * torch.pi * torch.cumsum(130.0 * (1 + 0.1 * torch.sin(4 * when)) / RATE, 0)
    buzz = sum(torch.cos(k * phase) / k for k in range(1, 25))
    noise = torch.randn(len(when), generator=torch.Generator().manual_seed(0))
    return (0.05 * buzz * (torch.sin(5 * when) > -0.5) + 0.003 * noise)[None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--synthesizer", choices=SYNTHESIZERS, default="istft-vocoder")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--layers", type=int, default=12, help="of HuBERT-soft; the paper has 6")
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--part", default="", help="of the names to measure; default: all")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rows", type=int, default=1, help="signals at once")
    options = parser.parse_args()
    device, rows = options.device, options.rows
    clock = Clock(device, options.threads)
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    made = synthesizers.make(options.synthesizer, {"content": 256, "speaker": 192})
    parts = Assembly(
        HubertSoft(layers=options.layers).eval(), Ecapa().eval(), made.eval(), Settings()
    ).to(device)
    signal = speech(options.seconds).repeat(rows, 1).to(device)
    frames = signal.shape[1] // made.hop
    content = torch.randn(rows, frames, 256, device=device)
    f0 = torch.full((rows, frames), 130.0, device=device)
    voice = Voice(
        torch.randn(rows, 192, device=device),
        torch.zeros(rows, device=device),
        torch.ones(rows, device=device),
        torch.zeros(rows, dtype=torch.int64, device=device),
    )

    def first_pass() -> ProfileReader:
        reader = ProfileReader(parts, rows, None, device)
        reader.push(signal)
        return reader

    def synthesis() -> None:
        stream = made.stream(voice.vectors)
        for some, pitch in zip(content.split(200, 1), f0.split(200, 1), strict=True):
            stream.push(some, pitch)
        stream.flush()

    def whole() -> None:
        found = first_pass().result()
        core = PipelineCore(parts, voice, found, device=device)
        for block in signal.split(40 * RATE, dim=1):
            core.push(block)
        core.flush()

    named: dict[str, Callable[[], object]] = {
        "speaker vector": lambda: first_pass().result(),
        "content": lambda: [parts.content.extract(row) for row in signal],
        "pitch": lambda: pitch_of(parts, signal, 0, signal.shape[1]),
        f"synthesis ({made.kind})": synthesis,
        "whole, in windows": whole,
    }
    # its layers are oneDNN's own, which are not counted: each weight once a frame of 10 ms, but
    # for those that work once a recording
    once = ("se_block", "fc.")
    each = sum(
        weight.numel()
        for name, weight in parts.speaker.named_parameters()
        if weight.ndim == 3 and not any(part in name for part in once)
    )
    seconds = rows * options.seconds
    speaker = round(each * 100 * seconds)
    rate = convolution_rate(device, 1 if device == "cpu" else 64)
    where = f"{options.threads} threads" if device == "cpu" else device
    print(f"{rows} at once, {where}, {rate / 1e9:.0f} billion multiply-adds a second on one")
    print(f"{'':28s} {'M / s':>8s} {'of real time':>12s} {'x limit':>8s}")
    with torch.inference_mode():
        for name, function in named.items():
            if options.part not in name:
                continue
            taken = best(clock, function, options.times)
            needed = speaker if name == "speaker vector" else operations(function)
            if function is whole:
                needed += speaker - operations(first_pass)
            limit = needed / rate / options.threads
            ratio = f"{taken / limit:8.1f}" if needed else f"{'':8s}"
            shares = needed / seconds / 1e6, taken / seconds
            print(f"{name:28s} {shares[0]:8.0f} {shares[1]:12.5f} {ratio}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MiB")


if __name__ == "__main__":
    main()
