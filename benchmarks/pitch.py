"""Pitch trackers on real speech: agreement with Praat's, and time over duration on one core.

    python benchmarks/pitch.py FOLDER [--files 24]

Takes recordings of any kind under FOLDER. Where both a tracker and Praat's autocorrelation say
voiced: the share of frames within 5 % of each other, and the share that differs by more than 20 %
(gross errors of one or the other). Voicing: the share of frames where they agree. Praat's is a peer
here, not the truth.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch

import voicenym
from voicenym.dsp.pitch.trackers import TRACKERS, Track, tracker

PEER = "praat"
SUFFIXES = {".wav", ".flac", ".opus", ".ogg"}


def compared(ours: Track, peer: Track) -> tuple[float, float, float]:
    """Shares of frames within 5 %, with more than 20 % difference, with the same voicing."""
    both = ours.voiced & peer.voiced
    apart = (ours.f0[both] / peer.f0[both] - 1).abs()
    same = (ours.voiced == peer.voiced).float().mean().item()
    return (apart < 0.05).float().mean().item(), (apart > 0.2).float().mean().item(), same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=24)
    options = parser.parse_args()
    torch.set_num_threads(1)
    paths = sorted(path for path in options.folder.rglob("*") if path.suffix in SUFFIXES)
    if not paths:
        sys.exit(f"{options.folder}: no recordings")
    order = np.random.default_rng(0).permutation(len(paths))
    paths = [paths[i] for i in order[: options.files]]
    trackers = {name: tracker(name) for name in TRACKERS}
    seconds = dict.fromkeys(trackers, 0.0)
    shares: dict[str, list[tuple[float, float, float]]] = {name: [] for name in trackers}
    duration = 0.0
    for path in paths:
        audio = voicenym.read(path)
        signal = torch.atleast_2d(audio.samples)[:1]
        duration += signal.shape[1] / audio.rate
        tracks = {}
        for name, track in trackers.items():
            start = time.process_time()
            tracks[name] = track(signal, audio.rate)
            seconds[name] += time.process_time() - start
        if not tracks[PEER].voiced.any():
            continue
        for name, found in tracks.items():
            shares[name].append(compared(found, tracks[PEER]))
    print(f"{len(paths)} recordings, {duration:.0f} s, against {PEER}")
    print(f"{'':10s} {'within 5 %':>10s} {'> 20 % off':>10s} {'voicing':>8s} {'x real time':>12s}")
    for name in trackers:
        within, gross, same = np.nanmean(shares[name], axis=0)
        speed = seconds[name] / duration
        print(f"{name:10s} {within:10.3f} {gross:10.3f} {same:8.3f} {speed:12.4f}")


if __name__ == "__main__":
    main()
