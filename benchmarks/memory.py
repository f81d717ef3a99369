"""Resident memory and time of the command on a long recording, against a short one.

    python benchmarks/memory.py --speech FILE.wav [--hours 10] [--system mcadams ...]

The recording is the given one again and again (16 bit, its own rate, mono), anonymized by
``voicenym anonymize`` as a process of its own. The limit is 500 MB of peak resident memory at any
length, and the same speed per hour, once the start of the program is taken off. Seconds are those
of the processor, which other programs on the machine change less than those of the clock.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import soundfile

from voicenym.anonymizer import usable

LIMIT_MB = 500.0
SHORT_HOURS = 0.1
LEAST_HOURS = 1 / 3600
"""What takes hardly longer than the program takes to start."""


def repeated(source: Path, target: Path, hours: float) -> None:
    """Write ``source``, one channel of it, again and again until it lasts ``hours``."""
    samples, rate = soundfile.read(source, dtype="int16", always_2d=True)
    samples = samples[:, 0]
    with soundfile.SoundFile(target, "w", rate, 1, "PCM_16", format="RF64") as file:
        left = round(hours * 3600 * rate)
        while left:
            file.write(samples[:left])
            left -= min(left, len(samples))


def run(system: str, source: Path, target: Path) -> tuple[float, float]:
    """Seconds of the processor and peak resident megabytes of anonymizing a file."""
    command = [sys.executable, "-m", "voicenym", "anonymize", str(source), "-o", str(target)]
    process = subprocess.Popen(
        [*command, "--system", system], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{system}: exit status {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--hours", type=float, default=10.0)
    parser.add_argument("--system", action="append", help="default: all")
    parser.add_argument("--folder", help="where the recordings are put for the while")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        least, short, long = (Path(folder, f"{name}.wav") for name in ("least", "short", "long"))
        repeated(options.speech, least, LEAST_HOURS)
        repeated(options.speech, short, SHORT_HOURS)
        repeated(options.speech, long, options.hours)
        print(f"{'':16s} {SHORT_HOURS:g} h: MB  s per hour   {options.hours:g} h: MB  s per hour")
        for system in options.system or usable():
            figures = []
            start, _ = run(system, least, Path(folder, "start.wav"))
            Path(folder, "start.wav").unlink()
            for source, hours in ((short, SHORT_HOURS), (long, options.hours)):
                out = Path(folder, "out.wav")
                seconds, megabytes = run(system, source, out)
                if soundfile.info(out).frames != soundfile.info(source).frames:
                    sys.exit(f"{system}: the output has another length")
                out.unlink()
                figures += [f"{megabytes:9.0f} {(seconds - start) / hours:11.1f}"]
            verdict = "" if megabytes <= LIMIT_MB else f"   over {LIMIT_MB:g} MB"
            print(f"{system:16s} {'   '.join(figures)}{verdict}", flush=True)


if __name__ == "__main__":
    main()
