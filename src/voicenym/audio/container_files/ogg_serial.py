"""Sets the serial numbers of Ogg streams to zero; libsndfile draws them from the clock.

Such a number reveals the time of writing, and makes outputs of equal runs differ.
"""

from __future__ import annotations

import struct
from pathlib import Path

from voicenym.audio.container_files.ogg_pages import CHECKSUM, SERIAL, checksum, pages


def reset(path: Path) -> None:
    """Sets the serial numbers of all pages of a file to 0, if all are equal.

    Args:
        path: an Ogg file of one stream, as a sink has just written it.

    Raises:
        OSError: it cannot be read or written.
    """
    with open(path, "r+b") as file:
        serial: bytes | None = None
        for page in pages(file):
            serial = page.serial if serial is None else serial
            if page.serial != serial:
                return
            data = page.data[:SERIAL] + bytes(4) + page.data[SERIAL + 4 :]
            file.seek(page.place + SERIAL)
            file.write(bytes(4))
            file.seek(page.place + CHECKSUM)
            file.write(struct.pack("<I", checksum(data)))
