"""Any container in, any container out; metadata never travels; writes are atomic."""

from voicenym.audio.types import Audio, Format

__all__ = ["Audio", "Format"]
