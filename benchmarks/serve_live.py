"""Live sessions of ``voicenym serve``: delay, gaps and faults of clients that speak in real time.

Each client sends frames of a recording when they would have been recorded, and takes the answers.
The delay is measured by the positions in the answers: from the last sample that was sent to the
one of which an answer's first sample was made, with the time that the answer took. A page adds the
sound that it keeps against late answers (60 ms), and its devices.

    nice -n 10 python benchmarks/serve_live.py --systems mcadams recast --sessions 1 2 --seconds 60
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile
import soxr
import websockets

import serve
from voicenym.apps.serve.live_processes.live_frames import SoundFrame, read_answer, sound

RATE = 16_000
TRIES = 20
"""Of a session that the server has no place for, each half a second after the last."""
FRAME = 256
"""Samples of a frame, as the page sends them."""


async def session(url: str, system: str, seconds: float, speech: np.ndarray) -> dict[str, object]:
    """One session, as of :func:`spoken`; tried again while the sessions of the row before end."""
    for _ in range(TRIES):
        try:
            return await spoken(url, system, seconds, speech)
        except BlockingIOError as error:
            refusal = error
            await asyncio.sleep(0.5)
    raise SystemExit(str(refusal))


async def spoken(url: str, system: str, seconds: float, speech: np.ndarray) -> dict[str, object]:
    """One session; delays in seconds, answers without sound, the last status.

    Raises:
        BlockingIOError: the server has no place for it now.
        SystemExit: another refusal.
    """
    address = f"{url.replace('http', 'ws', 1)}/v1/live"
    sent_at: dict[int, float] = {}
    delays, silent, status = [], 0, {}
    async with websockets.connect(address, subprotocols=["voicenym.live"]) as socket:
        began = time.monotonic()
        await socket.send(json.dumps({"system": system, "rate": RATE}))
        ready = json.loads(await socket.recv())
        if ready["event"] == "problem":
            raise (BlockingIOError if ready.get("status") == 503 else SystemExit)(ready["detail"])
        started, heard, count = time.monotonic(), 0, int(seconds * RATE / FRAME)

        async def speak() -> None:
            for number in range(count):
                at = number * FRAME
                await asyncio.sleep(started + (at + FRAME) / RATE - time.monotonic())
                pcm = speech[at : at + FRAME].tobytes()
                sent_at[at] = time.monotonic()
                await socket.send(sound(SoundFrame(at, RATE, heard, pcm)))

        speaking = asyncio.create_task(speak())
        answers = 0
        while answers < count:
            message = await socket.recv()
            if isinstance(message, str):
                status = json.loads(message)
                continue
            answers += 1
            heard, source, _, _ = read_answer(message)
            if source is None:
                silent += 1
            elif source < heard + FRAME:
                late = time.monotonic() - sent_at.pop(heard)
                delays.append(late + (heard + FRAME - source) / RATE)
        await speaking
    return {
        "ready": started - began, "block": ready["block_seconds"], "delays": delays,
        "silent": silent, "answers": answers, **status,
    }  # fmt: skip


async def row(url: str, system: str, number: int, seconds: float, pid: int) -> str:
    """Row of the table for a number of sessions."""
    samples, rate = soundfile.read(serve.SAMPLE, dtype="float32")
    speech = np.resize(soxr.resample(samples, rate, RATE), int((seconds + 1) * RATE))
    pcm = np.rint(32767 * speech).astype("<i2")
    found = await asyncio.gather(*(session(url, system, seconds, pcm) for _ in range(number)))
    delays = np.concatenate([one["delays"] for one in found]) * 1000
    p50, p95, most = np.percentile(delays, [50, 95, 100])
    total = {
        name: sum(one.get(name, 0) for one in found)
        for name in ("silent", "answers", "dropouts", "overloads", "failures")
    }
    return (
        f"| {system} | {number} | {max(one['ready'] for one in found):.1f} "
        f"| {1000 * max(one['block'] for one in found):.0f} | {p50:.0f} | {p95:.0f} | {most:.0f} "
        f"| {total['silent']} of {total['answers']} | {total['dropouts']} | {total['overloads']} "
        f"| {total['failures']} | {serve.memory(pid):.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", nargs="+", default=["mcadams", "recast"])
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    most = max(given.sessions)
    with tempfile.TemporaryDirectory() as folder:
        options = ["--live-sessions", str(most)]
        process, url = serve.start(Path(folder), most + 1, 16, *options)
        try:
            print(f"{given.seconds:g} s, {os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}, ")
            print(f"load average {os.getloadavg()[0]:.1f}\n")
            print(
                "| system | sessions | ready s | blocks ms | delay ms p50 | p95 | most | silent",
                end="",
            )
            print(" answers | drop-outs | overloads | failures | memory MiB |")
            print("|" + " --- |" * 12)
            for system in given.systems:
                for number in given.sessions:
                    line = asyncio.run(row(url, system, number, given.seconds, process.pid))
                    print(line, flush=True)
            print(f"\nload average at the end {os.getloadavg()[0]:.1f}")
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
