"""Windows of speech in files, each analysed once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from voicenym.training.content.word_codes.speech_windows import Piece


class WindowFiles(ABC):
    """Files of windows; one that is missing is made."""

    @abstractmethod
    def path(self, window: Sequence[Piece]) -> Path:
        """Path of a window's file, named by a digest of its content."""

    @abstractmethod
    def make(self, path: Path, window: Sequence[Piece]) -> None:
        """Analyse a window and write its file.

        Raises:
            VoicenymError: it cannot be kept.
        """

    def __call__(
        self, windows: Sequence[Sequence[Piece]], say: Callable[[str], None] = lambda text: None
    ) -> list[Path]:
        """Files of windows, in their order; existing files are reused.

        Args:
            windows: recordings of each.
            say: receives the progress.

        Raises:
            VoicenymError: they cannot be kept.
        """
        paths = []
        for done, window in enumerate(windows):
            path = self.path(window)
            if not path.is_file():
                self.make(path, window)
            paths.append(path)
            if (done + 1) % 100 == 0:
                say(f"{done + 1} of {len(windows)} windows analysed")
        return paths
