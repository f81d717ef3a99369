"""Speed of the codec on one core, against the limit of its arithmetic on this machine.

    python benchmarks/codec.py [--seconds 10] [--codec small]
    python benchmarks/codec.py --device cuda --rows 64 [--precision bf16]

For each size: parameters, multiply-adds per second of speech, then processor time over duration of
the speaker encoder, the speech encoder, the quantiser, the decoder, and of the whole (analysis,
encoding, decoding in an empty voice); that over the limit: its multiply-adds at the rate at which
this machine multiplies matrices (recurrence, quantisation, layers within frames) and convolves (the
rest), both measured in the same run; tokens per second; and for causal ones the stream's time over
duration in blocks of 100 ms. Weights are random, which changes no time. The aim is 0.2.

With ``--rows``, or on another device, so many signals are worked on at once: how many times faster
than speech each part is, and tokens per second of encoder and quantiser, and of all.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable

import torch

from embedding import Clock
from synthesis import BLOCK_SECONDS, Counter, best, convolution_rate, matrix_rate
from voicenym.nets.codec.codec import RATE, Codec
from voicenym.nets.codec.codec_config import CodecConfig, sizes
from voicenym.nets.codec.codec_stream import CodecStream
from voicenym.training.codec.train_musa import MusaConfig
from voicenym.training.run.config import load

CODECS = {
    "paper": CodecConfig(),
    "paper, causal": CodecConfig(causal=True),
    "paper, half the channels": CodecConfig(channels=16),
    "small": sizes(load("musa-small", MusaConfig).codec, "musa-small"),
    "quick": sizes(load("musa-quick", MusaConfig).codec, "musa-quick"),
}
AIM = 0.2


def quantisation(codec: Codec, frames: int) -> int:
    """Multiply-adds of looking for the nearest entries."""
    net = codec.sizes
    return frames * net.codebooks * net.entries * net.size


def row(name: str, config: CodecConfig, seconds: float, rates: tuple[float, float]) -> str:
    """A line of the table."""
    torch.manual_seed(0)
    codec = Codec(config).eval()
    speech = 0.1 * torch.randn(1, round(seconds * RATE) // codec.hop * codec.hop)
    seconds = speech.shape[1] / RATE
    frames = speech.shape[1] // codec.hop
    empty = torch.zeros(1, codec.size)

    def whole() -> torch.Tensor:
        return codec.convert(speech, codec.speaker(speech), empty)

    def stream() -> None:
        running = CodecStream(codec, empty, empty)
        for block in speech.split(round(BLOCK_SECONDS * RATE), dim=1):
            running.push(block)
        running.flush()

    with torch.inference_mode():
        x = codec.encoder(speech)
        parts = [
            best(lambda: codec.speaker(speech), seconds=1.0),
            best(lambda: codec.encoder(speech)),
            best(lambda: codec.quantizer(x), seconds=1.0),
            best(lambda: codec.decoder(x)),
        ]
        total = best(whole)
        streamed = best(stream, least=1) / seconds if config.causal else None
        counter = Counter(codec)
        whole()
    matrices = counter.matrices + quantisation(codec, frames)
    limit = matrices / rates[0] + counter.convolutions / rates[1]
    parameters = sum(p.numel() for p in codec.parameters() if p.requires_grad) / 1e6
    operations = (matrices + counter.convolutions) / seconds / 1e9
    each = " ".join(f"{part / seconds:7.4f}" for part in parts)
    line = f"{name:26s} {parameters:6.2f} {operations:8.2f} {each} {total / seconds:8.4f}"
    tokens = frames * config.codebooks / total
    line += f" {total / limit:7.2f} {tokens:9.0f}"
    if streamed is not None:
        line += f" {streamed:9.4f}"
    return line


def elapsed(work: Callable[[], object], clock: Clock, repeats: int = 5) -> float:
    """Seconds, the least of some tries after two for nothing."""
    return min([clock(work) for _ in range(2 + repeats)][2:])


def batch(
    name: str, config: CodecConfig, seconds: float, rows: int, device: str, precision: str
) -> str:
    """A line of the table for many signals at once."""
    torch.manual_seed(0)
    codec, clock = Codec(config).eval().to(device), Clock(device, 1)
    speech = 0.1 * torch.randn(rows, round(seconds * RATE) // codec.hop * codec.hop, device=device)
    empty = torch.zeros(rows, codec.size, device=device)
    short: contextlib.AbstractContextManager[object] = contextlib.nullcontext()
    if precision == "bf16":
        short = torch.autocast(device, dtype=torch.bfloat16)
    with torch.inference_mode(), short:
        x = codec.encoder(speech)
        parts = [
            elapsed(work, clock)
            for work in (
                lambda: codec.speaker(speech),
                lambda: codec.encoder(speech),
                lambda: codec.quantizer(x),
                lambda: codec.decoder(x),
                lambda: codec.convert(speech, codec.speaker(speech), empty),
            )
        ]
    duration = speech.numel() / RATE
    tokens = speech.numel() // codec.hop * config.codebooks
    each = " ".join(f"{duration / part:9.0f}" for part in parts)
    return f"{name:26s} {each} {tokens / (parts[1] + parts[2]):12.0f} {tokens / parts[-1]:12.0f}"


def batches(options: argparse.Namespace) -> None:
    """The table of many signals at once."""
    print(
        f"{options.rows} signals of {options.seconds:g} s, {options.device}, {options.precision}:"
    )
    heads = ("speaker", "encode", "quant.", "decode", "all")
    print(f"{'times faster than speech':26s} " + " ".join(f"{head:>9s}" for head in heads), end="")
    print(f" {'coded/s':>12s} {'tokens/s':>12s}")
    for name, config in CODECS.items():
        if options.codec in name:
            some = options.seconds, options.rows, options.device, options.precision
            print(batch(name, config, *some), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--codec", default="", help="part of the names to measure")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rows", type=int, default=1, help="signals at once")
    parser.add_argument("--precision", choices=["single", "bf16"], default="single")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.device != "cpu" or options.rows > 1:
        batches(options)
        return
    torch.manual_seed(0)
    rates = matrix_rate(), convolution_rate()
    print(f"one core: {rates[0] / 1e9:.0f} G multiply-adds a second in products of matrices, ")
    print(f"{rates[1] / 1e9:.0f} G in convolutions; {options.seconds:g} s of speech; aim {AIM:g}")
    print(
        f"{'':26s} {'M par.':>6s} {'G ops/s':>8s} {'speaker':>7s} {'encode':>7s} {'quant.':>7s}",
        end="",
    )
    print(f" {'decode':>7s} {'x real':>8s} {'x limit':>7s} {'tokens/s':>9s} {'in blocks':>9s}")
    for name, config in CODECS.items():
        if options.codec in name:
            print(row(name, config, options.seconds, rates), flush=True)


if __name__ == "__main__":
    main()
