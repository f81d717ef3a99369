"""Fields of a lhotse cut that are copied to the anonymized manifest.

Free text may name people, and custom fields may hold anything, even the original recording: both
are copied only by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voicenym.corpus.drawn_names import Names
from voicenym.corpus.readers.encoded_data import is_encoded, is_series
from voicenym.corpus.readers.id_checks import printable
from voicenym.errors import CorpusError

LABELS = ("language", "gender")
"""Fields of a supervision that are always copied, one word each."""
TEXTS = ("text", "alignment")
"""Fields of a supervision with the text; they are copied only by name."""


@dataclass(frozen=True)
class Outlines:
    """Makes cuts of the anonymized recordings from the original cuts.

    Args:
        keep: fields to copy: of :data:`TEXTS`, and custom ones of cuts and supervisions.
        names: draws new ids and names; None keeps the old ones.
    """

    keep: tuple[str, ...] = ()
    names: Names | None = None

    def check(self, path: Path, cuts: Iterable[Any]) -> None:
        """Refuses fields that cannot be copied.

        Raises:
            CorpusError: a named field does not exist, is not a plain value (such as another
                recording of the original voice), or a label is free text.
        """
        found: set[str] = set()
        for cut in cuts:
            self._custom(path, cut, found)
            for one in cut.supervisions:
                self._custom(path, one, found)
                found.update(name for name in (*TEXTS, *LABELS) if getattr(one, name))
                for name in LABELS:
                    value = getattr(one, name)
                    if value and name not in self.keep and not re.fullmatch(r"\S+", str(value)):
                        raise CorpusError(
                            f"{path}: the {name} of {printable(one.id)} has more than one word, "
                            f"which may be free text; mend it, or add --keep {name}"
                        )
        missing = [name for name in self.keep if name not in found]
        if missing:
            raise CorpusError(
                f"--keep {printable(missing[0])}: is in no cut of {path}; there are: "
                + (", ".join(map(printable, sorted(map(str, found)))) or "none")
            )

    def _custom(self, path: Path, item: Any, found: set[str]) -> None:
        custom = item.custom or {}
        found.update(custom)
        for name in self.keep:
            if name in custom and not _plain(custom[name]):
                raise CorpusError(
                    f"--keep {printable(name)}: in {printable(item.id)} of {path} it is or "
                    "points to data, which may be of the original voice; only numbers and text "
                    "travel"
                )

    def recording(self, speaker: str, name: str) -> str:
        """New id of a recording."""
        return name if self.names is None else self.names.utterance(speaker, name)

    def cut(self, recording: Any, speaker: str, cut: Any) -> Any:
        """Cut of a recording of one speaker."""
        from lhotse.utils import fastcopy

        return fastcopy(
            cut,
            id=self._id("cut", speaker, cut.id),
            recording=recording,
            features=None,
            supervisions=[
                self._supervision(one, recording.id, speaker) for one in cut.supervisions
            ],
            custom=self._kept(cut.custom),
        )

    def own_cut(self, recording: Any, speaker: str, supervision: Any) -> Any:
        """Cut over a whole recording with one supervision."""
        cut = recording.to_cut()
        cut.id = recording.id
        here = self._supervision(supervision, recording.id, speaker)
        here.channel = cut.channel
        cut.supervisions = [here.trim(recording.duration)]
        return cut

    def _supervision(self, one: Any, recording: str, speaker: str) -> Any:
        from lhotse.utils import fastcopy

        drawn = one.speaker
        if drawn and self.names is not None:
            drawn = self.names.speaker(drawn)
        return fastcopy(
            one,
            id=self._id("supervision", speaker, one.id),
            recording_id=recording,
            speaker=drawn,
            custom=self._kept(one.custom),
            **{name: None for name in TEXTS if name not in self.keep},
        )

    def _id(self, kind: str, speaker: str, name: str) -> str:
        return name if self.names is None else self.names.other(kind, f"{speaker}\0{name}")

    def _kept(self, custom: dict[str, Any] | None) -> dict[str, Any] | None:
        there = custom or {}
        return {name: there[name] for name in self.keep if name in there} or None


def _plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(name, str) and _plain(inner) for name, inner in value.items())
    if isinstance(value, list):
        return not is_series(value) and all(map(_plain, value))
    if isinstance(value, str):
        return not is_encoded(value)
    return value is None or isinstance(value, (int, float, bool))
