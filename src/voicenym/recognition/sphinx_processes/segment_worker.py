"""The process that decodes recordings to timed segments, which isolates crashes of pocketsphinx.

The first line of input is JSON: options of ``pocketsphinx.Decoder``, of which ``featparams_text``
is the content that it puts into a file in ``folder``. The process answers ``ready``. Then for each
utterance: a line with the number of bytes, and as many bytes of 16-bit samples; it answers one line
of JSON, segments as ``[name, first frame, frames]``. It ends when its input does.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from voicenym.private import write_private
from voicenym.recognition.sphinx_processes.sphinx_worker import main


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer until the input ends."""
    pocketsphinx: Any = import_module("pocketsphinx")

    options = json.loads(source.readline())
    folder = options.pop("folder")
    path = Path(folder, "featparams")
    write_private(path, options.pop("featparams_text"))
    decoder = pocketsphinx.Decoder(loglevel="FATAL", featparams=str(path), **options)
    sink.write(b"ready\n")
    sink.flush()
    while line := source.readline():
        samples = source.read(int(line))
        decoder.start_utt()
        decoder.process_raw(samples, full_utt=True)
        decoder.end_utt()
        found = decoder.seg() if decoder.hyp() else ()
        parts = [(s.word, s.start_frame, s.end_frame - s.start_frame + 1) for s in found]
        sink.write(json.dumps(parts).encode() + b"\n")
        sink.flush()
        # the cepstral mean that it learnt of one recording must not affect the next
        decoder.reinit_feat()


if __name__ == "__main__":
    main(serve)
