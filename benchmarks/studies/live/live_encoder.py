"""Codes of live streams against those of whole recordings, by how far a stream looks ahead.

    python benchmarks/studies/live/live_encoder.py --speech DIR [--pipeline FOLDER] [--each 3]

Speech of the tune half. Windows: 4.8 s before each step and some time after it are encoded again
for each step. Live encoder: of a pipeline with ``live/``
(:mod:`voicenym.nets.words.word_codes.live_word_codes`), which computes each chunk once and some
states after it. Printed are the share of codes that are those of whole recordings and the error of
the vectors that are quantised, in shares of their power, both without silence, and processor time
over duration, of content alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

from voicenym.corpus.readers.recording_subsets import halved
from voicenym.corpus.recordings import recordings
from voicenym.nets.words.whisper.silent_groups import spectral_states, states_before_silence
from voicenym.nets.words.whisper.whisper import RATE, STATE
from voicenym.nets.words.word_codes.live_code_stream import LiveCodeStream
from voicenym.resynthesis.pipeline import assembly
from voicenym.resynthesis.pipeline.live_content import BEFORE_SECONDS
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly

STEPS = ((0.16, 0.32), (0.16, 0.16), (0.08, 0.08))
"""Seconds of a step of windows, and after it."""
AHEADS = (4, 8, 16)
"""States of 20 ms after a chunk of a live encoder."""
Way = Callable[[torch.Tensor], torch.Tensor]
"""Samples ``[time]`` of whole steps to vectors ``[code, element]``."""


def whole(parts: Assembly, wave: torch.Tensor) -> torch.Tensor:
    encoder, count = parts.content.encoder, len(wave) // STATE
    spectra = encoder.spectra(wave[None], spectral_states(encoder, count))
    states = states_before_silence(encoder, spectra, count)
    return parts.natives["drawn"].encoded(states, torch.tensor([count]))[0]


def windows(parts: Assembly, step: float, ahead: float) -> Way:
    """Windows that are encoded again."""
    encoder, head, hop = parts.content.encoder, parts.natives["drawn"], parts.content.hop
    long, before, after = (round(x * RATE / hop) * hop for x in (step, BEFORE_SECONDS, ahead))

    def pieces(wave: torch.Tensor) -> Iterator[torch.Tensor]:
        for start in range(0, len(wave), long):
            first, end = max(0, start - before), min(len(wave), start + long + after)
            count = (end - first) // STATE
            states = encoder(encoder.spectra(wave[None, first:end], count))
            found = head.encoded(states, torch.tensor([count]))[0]
            place = (start - first) // hop
            yield found[place : place + min(long, len(wave) - start) // hop]

    return lambda wave: torch.cat(list(pieces(wave)))


def chunks(parts: Assembly, ahead: int) -> Way:
    """A live encoder that looks so many states ahead."""
    network = parts.live_codes
    assert network is not None
    encoder = network.of_encoder.changed(parts.content.encoder)
    head = network.of_head.changed(parts.natives["drawn"])

    def found(wave: torch.Tensor) -> torch.Tensor:
        stream, made = LiveCodeStream(network, encoder, head, ahead), []
        for start in range(0, len(wave), stream.chunk):
            end = start + stream.chunk + stream.ahead
            last = end > len(wave)
            end = min(len(wave), start + stream.chunk + ahead * STATE) if last else end
            made.append(stream.step(wave[max(0, start - stream.before) : end], last).own)
        return torch.cat(made)

    return found


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--part", default="speechocean762")
    parser.add_argument("--pipeline", type=Path, default=assembly.BUNDLED / "ssl")
    parser.add_argument("--each", type=int, default=3, help="recordings of each speaker")
    given = parser.parse_args()
    torch.set_num_threads(1)
    parts = assembly.opened(given.pipeline, natives=["drawn"])
    head, step = parts.natives["drawn"], 4 * STATE
    ways = {f"windows of {s:g} s and {a:g} s ahead": windows(parts, s, a) for s, a in STEPS}
    if parts.live_codes is not None:
        step = parts.live_codes.sizes.chunk * STATE
        ways |= {
            f"live encoder of {step / RATE:g} s and {a * STATE / RATE:g} s ahead": chunks(parts, a)
            for a in AHEADS
        }
    by_speaker: dict[str, list[torch.Tensor]] = {}
    for one in halved(recordings(given.speech, given.split, given.part), "tune"):
        by_speaker.setdefault(one.speaker, []).append(torch.from_numpy(one.samples().copy()))
    chosen = [wave for own in by_speaker.values() for wave in own[: given.each]]
    sums = {name: torch.zeros(3, dtype=torch.float64) for name in ways}
    codes, power, seconds = 0, 0.0, 0.0
    for wave in chosen:
        padded = torch.nn.functional.pad(wave, (0, -len(wave) % step))
        wanted = whole(parts, padded)
        numbers = parts.content.codes.quantizer(wanted.T[None]).codes[0, 0]
        spoken = numbers != head.silence
        codes += int(spoken.sum())
        power += float(wanted[spoken].square().sum())
        seconds += len(padded) / RATE
        for name, way in ways.items():
            begun = time.process_time()
            found = way(padded)
            spent = time.process_time() - begun
            same = parts.content.codes.quantizer(found.T[None]).codes[0, 0] == numbers
            error = (found - wanted)[spoken].square().sum()
            sums[name] += torch.tensor([float(same[spoken].sum()), float(error), spent])
    print(f"{len(chosen)} recordings of {len(by_speaker)} speakers, {codes} codes of speech")
    print(f"{'':42}{'same codes, %':>14}{'error':>8}{'time':>8}")
    for name, (same, error, spent) in sums.items():
        print(f"{name:42}{100 * same / codes:14.1f}{error / power:8.3f}{spent / seconds:8.3f}")


if __name__ == "__main__":
    main()
