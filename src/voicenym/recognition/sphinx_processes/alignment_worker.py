"""The process of forced alignment, which isolates crashes of pocketsphinx.

The first line of input is JSON: ``dict_text`` and ``featparams_text``, contents of the dictionary
and of the feature parameters, and ``folder``, where they are put into files. The process answers
``ready``. Then, for each utterance: a line of JSON with ``text`` and ``bytes``, and as many bytes
of 16-bit samples; it answers one line of JSON, phones as ``[name, first frame, frames]``, or null
where the text does not fit the speech. It ends when its input does.
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

    texts = json.loads(source.readline())
    folder = texts.pop("folder")
    options: dict[str, Any] = {"lm": None, "bestpath": False, "samprate": 16_000.0}
    for name, text in texts.items():
        path = Path(folder, name)
        write_private(path, text)
        options[name.removesuffix("_text")] = str(path)
    decoder = pocketsphinx.Decoder(loglevel="FATAL", **options)
    sink.write(b"ready\n")
    sink.flush()
    while line := source.readline():
        asked = json.loads(line)
        found = aligned(decoder, asked["text"], source.read(asked["bytes"]))
        sink.write(json.dumps(found).encode() + b"\n")
        sink.flush()


def aligned(decoder: Any, text: str, samples: bytes) -> list[tuple[str, int, int]] | None:
    """Align words, which chooses pronunciations and finds pauses, then phones within words."""
    try:
        decoder.set_align_text(text)
        _decode(decoder, samples)
        if decoder.hyp() is None:
            return None
        decoder.set_alignment()
        _decode(decoder, samples)  # whose hypothesis must not be asked for: it crashes
        return [(p.name, p.start, p.duration) for word in decoder.get_alignment() for p in word]
    except RuntimeError:
        decoder.reinit()
        return None


def _decode(decoder: Any, samples: bytes) -> None:
    decoder.start_utt()
    decoder.process_raw(samples, full_utt=True)
    decoder.end_utt()


if __name__ == "__main__":
    main(serve)
