"""Codes and cost of Whisper's silence computed in groups, against those of the whole window.

    python benchmarks/studies/word_codes/silent_groups.py --speech DIR [--split dev] [--half tune]

Found: ``docs/research/word-codes-speed.md``. Takes one recording of each speaker.
Prints, for silence that ends after some seconds and for groups of some states, the share of codes
that stay the same, of the content and with native accent, the squared error of the vectors before
the codebook, relative to their power, and the encoder's processor time over that of whole windows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import torch

from voicenym.corpus.readers.recording_subsets import halved
from voicenym.corpus.recordings import recordings
from voicenym.nets.words.whisper import silent_groups
from voicenym.nets.words.whisper.whisper import RATE, STATE, Encoder
from voicenym.resynthesis.pipeline import assembly

ENDS = (1.0, 2.0, 6.0)
"""Seconds of silence behind the speech, and no more."""
GROUPS = (12, 8, 4, 2)
"""States that are computed as one."""
Way = Callable[[Encoder, torch.Tensor, int], torch.Tensor]


def whole(encoder: Encoder, wave: torch.Tensor, count: int) -> torch.Tensor:
    """States of a window of 30 s, ``[1, count, width]``."""
    return encoder(encoder.spectra(wave), count)


def ending(seconds: float) -> Way:
    """States of a window that ends after some silence."""

    def states(encoder: Encoder, wave: torch.Tensor, count: int) -> torch.Tensor:
        length = min(encoder.states, count + round(seconds * RATE / STATE))
        return encoder(encoder.spectra(wave, length), count)

    return states


def grouped(size: int) -> Way:
    """States with silence in groups of some states."""

    def states(encoder: Encoder, wave: torch.Tensor, count: int) -> torch.Tensor:
        silent_groups.GROUP = size
        spectra = encoder.spectra(wave, silent_groups.spectral_states(encoder, count))
        return silent_groups.states_before_silence(encoder, spectra, count)

    return states


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--part", default="speechocean762")
    parser.add_argument("--half", choices=("tune", "report"), default="tune")
    given = parser.parse_args()
    torch.set_num_threads(1)
    parts = assembly.opened(assembly.BUNDLED / "ssl", natives=["drawn"])
    content, native = parts.content, parts.natives["drawn"]
    first = {}
    for one in halved(recordings(given.speech, given.split, given.part), given.half):
        first.setdefault(one.speaker, one)
    ways: dict[str, Way] = {"whole": whole}
    ways |= {f"silence of {seconds:g} s": ending(seconds) for seconds in ENDS}
    ways |= {f"groups of {size}": grouped(size) for size in GROUPS}
    sums = {name: torch.zeros(5, dtype=torch.float64) for name in ways}
    codes = 0
    for one in first.values():
        wave = torch.from_numpy(one.samples().copy())[None]
        wave = torch.nn.functional.pad(wave, (0, -wave.shape[1] % content.hop))
        count = wave.shape[1] // STATE
        lengths = torch.tensor([count])
        wanted: list[torch.Tensor] = []
        for name, way in ways.items():
            begun = time.process_time()
            states = way(content.encoder, wave, count)
            spent = time.process_time() - begun
            vectors = native.encoded(states, lengths)
            quantised = (content.codes.encoded(states, lengths), vectors)
            found = [content.codes.quantizer(x.transpose(1, 2)).codes[0, 0] for x in quantised]
            wanted = wanted or [*found, vectors]
            same = [float((a == b).sum()) for a, b in zip(found, wanted, strict=False)]
            error = float((vectors - wanted[2]).square().sum())
            sums[name] += torch.tensor([*same, error, float(wanted[2].square().sum()), spent])
        codes += len(wanted[0])
    print(f"{len(first)} recordings, {codes} codes")
    print(f"{'behind the speech':20}{'content, %':>12}{'native, %':>12}{'error':>10}{'time':>8}")
    for name, (own, accent, error, power, spent) in sums.items():
        shares = f"{100 * own / codes:12.1f}{100 * accent / codes:12.1f}{error / power:10.4f}"
        print(f"{name:20}{shares}{spent / sums['whole'][4]:8.2f}")


if __name__ == "__main__":
    main()
