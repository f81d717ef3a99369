"""Load on ``voicenym serve``: a closed loop of clients, bounded in requests and in time.

Each client sends a recording, waits for the answer and sends the next. The table has requests a
second, percentiles of the time to the last byte, statuses, and the memory of the server and of the
process that workers are copied from. Every answer must be 200, 429 or 503, and every 200 a
recording of the right length.

    nice -n 10 python benchmarks/serve.py --requests 200 --clients 1 8 64
    nice -n 10 python benchmarks/serve.py --requests 10000 --clients 8 --seconds 0.5
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import io
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np
import soundfile

SAMPLE = Path(__file__).parents[1] / "samples" / "sample.wav"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200, help="for each number of clients")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--seconds", type=float, default=5.0, help="of the recording")
    parser.add_argument("--system", default="mcadams")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--waiting", type=int, default=16)
    parser.add_argument("--most-minutes", type=float, default=60.0, help="for each row")
    given = parser.parse_args()
    data = recording(given.seconds)
    with tempfile.TemporaryDirectory() as folder:
        process, url = start(Path(folder), given.workers, given.waiting)
        try:
            send_once(url, data, given.system)
            print(
                f"{given.system}, {given.seconds:g} s of speech, {given.workers} workers, ", end=""
            )
            print(f"{given.waiting} waiting, {os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}\n")
            print(
                "| clients | requests | a second | p50 s | p95 s | p99 s | 200 | 429 or 503 |",
                end="",
            )
            print(" memory MiB before | half | after |")
            print("|" + " --- |" * 11)
            for clients in given.clients:
                print(asyncio.run(row(url, data, given, clients, process.pid)), flush=True)
        finally:
            process.terminate()
            process.wait()
        left = [path for path in (Path(folder) / "work").rglob("*")]
        print(f"\nleft in the folder after the end: {len(left)} files")


def recording(seconds: float) -> bytes:
    """A wav file of synthetic speech."""
    samples, rate = soundfile.read(SAMPLE)
    file = io.BytesIO()
    count = int(seconds * rate)
    soundfile.write(file, np.resize(samples, count), rate, format="WAV")
    return file.getvalue()


def start(folder: Path, workers: int, waiting: int, *options: str) -> tuple[subprocess.Popen, str]:
    """A server with further options, and its address."""
    line = [sys.executable, "-m", "voicenym", "serve", "--port", "0", "--rate", "0"]
    line += ["--workers", str(workers), "--waiting", str(waiting)]
    line += options
    line += ["--keys", str(folder / "keys"), "--folder", str(folder / "work")]
    log = folder / "log"
    with log.open("wb") as errors:
        process = subprocess.Popen(line, stderr=errors)
    while b"serves at" not in (text := log.read_bytes()):
        if process.poll() is not None:
            raise SystemExit(text.decode())
        time.sleep(0.1)
    return process, text.decode().split("serves at ")[1].split()[0]


def send_once(url: str, data: bytes, system: str) -> None:
    """A first request, which waits for the imports of the copied process."""
    form = {"files": {"file": ("a.wav", data)}, "data": {"system": system}}
    httpx.post(f"{url}/v1/anonymize", **form, timeout=120).raise_for_status()


async def row(url: str, data: bytes, given: argparse.Namespace, clients: int, pid: int) -> str:
    """Row of the table for a number of clients."""
    times: list[float] = []
    statuses: collections.Counter[int] = collections.Counter()
    left, half = given.requests, 0.0
    before, end = memory(pid), time.monotonic() + 60 * given.most_minutes

    async def client() -> None:
        nonlocal left, half
        async with httpx.AsyncClient(base_url=url, timeout=300) as session:
            while left > 0 and time.monotonic() < end:
                left -= 1
                if left == given.requests // 2:
                    half = memory(pid)
                began = time.monotonic()
                answer = await session.post(
                    "/v1/anonymize",
                    files={"file": ("a.wav", data)},
                    data={"system": given.system},
                )
                statuses[answer.status_code] += 1
                if answer.status_code == 200:
                    times.append(time.monotonic() - began)
                    assert frames(answer.content) == frames(data), "the same length"
                else:
                    assert answer.status_code in (429, 503), answer.text
                    await asyncio.sleep(int(answer.headers["retry-after"]))

    began = time.monotonic()
    await asyncio.gather(*(client() for _ in range(clients)))
    took = time.monotonic() - began
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    refused, after = statuses[429] + statuses[503], memory(pid)
    return (
        f"| {clients} | {sum(statuses.values())} | {len(times) / took:.2f} | {p50:.2f} | {p95:.2f} "
        f"| {p99:.2f} | {statuses[200]} | {refused} | {before:.0f} | {half:.0f} | {after:.0f} |"
    )


def frames(data: bytes) -> int:
    """Samples of a recording."""
    return soundfile.info(io.BytesIO(data)).frames


def memory(pid: int) -> float:
    """Resident memory in MiB of a process and of those that it started, workers left out."""
    total = 0.0
    for one in (pid, *children(pid)):
        for line in Path(f"/proc/{one}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                total += int(line.split()[1]) / 1024
    return total


def children(pid: int) -> list[int]:
    """Processes that a process started."""
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


if __name__ == "__main__":
    main()
