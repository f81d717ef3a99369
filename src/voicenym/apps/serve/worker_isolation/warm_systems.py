"""Imported by the process that workers are copied from: finds and imports all systems.

Entry points and modules are looked up once instead of in every worker. Nothing is computed here,
because threads of a computation would not be in the copies.
"""

from __future__ import annotations

from contextlib import suppress

from voicenym.anonymizer import SYSTEMS, system_classes
from voicenym.errors import VoicenymError

for _name in system_classes(lambda name, why: None):
    with suppress(VoicenymError):
        SYSTEMS.parameters(_name)
