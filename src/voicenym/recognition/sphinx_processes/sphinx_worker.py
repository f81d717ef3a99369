"""The process of recognition by pocketsphinx, which isolates its crashes.

The first line of input is JSON: options of ``pocketsphinx.Decoder``, of which those that end in
``_text`` (``lm_text``, ``dict_text``...) are contents that it puts into files in ``folder``. It
answers ``ready``. Then for each utterance: a line with the number of bytes, and as many bytes of
16-bit samples; it answers one line of JSON, the words. It ends when its input does.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from voicenym.private import write_private


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer until the input ends."""
    pocketsphinx: Any = import_module("pocketsphinx")

    options = json.loads(source.readline())
    folder = options.pop("folder")
    for name in [n for n in options if n.endswith("_text")]:
        path = Path(folder, name)
        write_private(path, options.pop(name))
        options[name.removesuffix("_text")] = str(path)
    decoder = pocketsphinx.Decoder(loglevel="FATAL", **options)
    sink.write(b"ready\n")
    sink.flush()
    while line := source.readline():
        samples = source.read(int(line))
        decoder.start_utt()
        decoder.process_raw(samples, full_utt=True)
        decoder.end_utt()
        found = decoder.hyp()
        sink.write(json.dumps(found.hypstr if found else "").encode() + b"\n")
        sink.flush()
        # Its adaptation to this utterance would affect the next one. This needs milliseconds
        # with few words.
        decoder.reinit()


def main(serving: Callable[[BinaryIO, BinaryIO], None] = serve) -> None:
    """Serves requests; the libraries' own output does not reach the answers."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serving(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
