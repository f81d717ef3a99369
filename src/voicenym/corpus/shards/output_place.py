"""Output of a shard, on this machine or in a store: written whole, and once."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from voicenym.audio.atomic import AtomicFile, temporary_folder
from voicenym.corpus.batches.single_file import sha256_of
from voicenym.corpus.plans import timestamps
from voicenym.corpus.shards.stores import object_store, object_writes, store_locations
from voicenym.temporary import folder_for_temporary_files


class OutputPlace:
    """Place of an output, with a temporary file to write first.

    Args:
        target: path or URL.
        overwrite: whether what has this name may be replaced.
        stack: removes the temporary file.

    Attributes:
        made: the temporary file.
        remote: whether the output is in a store.
        there: whether an output of that name exists, so that this one is compared with it.
    """

    def __init__(self, target: str, overwrite: bool, stack: ExitStack) -> None:
        self.target, self._overwrite = target, overwrite
        self.remote = store_locations.is_url(target)
        self.there = not overwrite and not self.remote and os.path.lexists(target)
        self._file: AtomicFile | None = None
        if not self.remote:
            Path(target).parent.mkdir(parents=True, exist_ok=True)
        if self.remote or self.there:
            beside = folder_for_temporary_files() if self.remote else Path(target).parent
            folder = stack.enter_context(temporary_folder(beside))
            self.made = folder / f"output{Path(target).suffix}"
        else:
            self._file = AtomicFile(Path(target), overwrite)
            stack.callback(self._file.discard)
            self.made = self._file.temporary

    def settle(self, opaque: bool) -> bool:
        """Gives the output its name, or compares it with the one that has it.

        Args:
            opaque: whether its time must not show.

        Returns:
            Whether the output of this name has the bytes of this one.

        Raises:
            CorpusError: the store does not take it.
            AudioError: the disk does not.
        """
        if self._file is not None:
            self._file.commit()
            if opaque:
                timestamps.level([Path(self.target)])
            return True
        if self.remote:
            self.there = not object_writes.upload(self.made, self.target, self._overwrite)
        if not self.there:
            return True
        try:
            found = object_store.digest(self.target) if self.remote else sha256_of(self.target)
        except OSError:  # a folder, a pipe, or a link to nothing has the name
            return False
        return found == sha256_of(self.made)
