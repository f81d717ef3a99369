"""Checkpoints of a run: written beside their place, and renamed when they are whole."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from lightning.fabric.plugins import TorchCheckpointIO

from voicenym.errors import VoicenymError
from voicenym.private import open_private, replacing
from voicenym.training.run.batch_memory import out_of_memory


class CheckpointFiles(TorchCheckpointIO):
    """Writes checkpoints atomically and privately, and reads them wherever the run lies now.

    Lightning writes to the system's folder of temporary files and moves from there. Between two
    disks that is a copy, of which a kill or a full disk leaves the beginning under the final name.
    """

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None
    ) -> None:
        """Writes a checkpoint.

        Raises:
            VoicenymError: it cannot be written, such as on a full disk; the one before it stays.
        """
        content = io.BytesIO()
        torch.save(checkpoint, content)
        place = Path(path)
        try:
            with replacing(place) as partial, open_private(partial, "xb") as file:
                file.write(content.getbuffer())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            cure = (
                "the checkpoint before it is kept, and the same command goes on from it"
                if place.is_file()
                else "free some space, and give the same command again"
            )
            raise VoicenymError(f"{place}: cannot be written ({error.strerror}); {cure}") from error

    def load_checkpoint(self, path: Any, *arguments: Any, **options: Any) -> dict[str, Any]:
        """Reads a checkpoint.

        Raises:
            VoicenymError: it is damaged, cannot be read, or holds more than numbers.
        """
        try:
            found = super().load_checkpoint(path, *arguments, **options)
        except (UnpicklingError, EOFError, RuntimeError, OSError) as error:
            if out_of_memory(error):
                raise
            # torch seeks before the beginning of a file that is too short
            if isinstance(error, OSError) and error.errno != errno.EINVAL:
                raise VoicenymError(f"{path}: cannot be read ({error.strerror})") from error
            raise VoicenymError(
                f"{path}: damaged, or holds more than numbers, and is not read; delete it to "
                "begin anew, or replace it by best.ckpt to go on from the best validation"
            ) from error
        for state in found.get("callbacks", {}).values():
            if isinstance(state, dict) and "best_model_path" in state:
                state.update(_here(state, os.path.dirname(os.path.realpath(path))))
        return found


def _here(state: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """State of a callback of checkpoints, of the files that are in a folder now: the run may have
    been moved, and its best checkpoint removed.
    """

    def there(place: str) -> str:
        found = os.path.join(folder, os.path.basename(place))
        return found if place and os.path.isfile(found) else ""

    best = {there(place): score for place, score in state.get("best_k_models", {}).items()}
    changed: dict[str, Any] = {
        "dirpath": folder,
        "best_model_path": there(state["best_model_path"]),
    }
    changed["best_k_models"] = {place: score for place, score in best.items() if place}
    for name in ("kth_best_model_path", "last_model_path"):
        changed[name] = there(state.get(name, ""))
    if not changed["best_model_path"]:
        changed["best_model_score"] = None
    return changed


def of_other_training(error: BaseException) -> bool:
    """Whether an error says that a checkpoint's weights or optimizers are not those of a module."""
    text = str(error)
    weights = isinstance(error, RuntimeError) and "in loading state_dict for" in text
    return weights or (isinstance(error, ValueError) and "loaded state dict" in text)


def remove_partial(folder: Path, name: str) -> None:
    """Removes what a killed process left of a checkpoint that it was writing."""
    for partial in folder.glob(f".{name}.*.ckpt"):
        partial.unlink(missing_ok=True)
