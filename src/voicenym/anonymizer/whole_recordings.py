"""Recordings in memory, one or several: their profile, and their samples block by block."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voicenym.anonymizer.checked_input import checked
from voicenym.anonymizer.devices import check_device
from voicenym.anonymizer.system_streams import SystemStreams, stream_of_rows
from voicenym.audio.given_audio import checked_audio, checked_rate
from voicenym.errors import AudioError, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from voicenym.audio import Audio
    from voicenym.pseudonym import Pseudonym

BLOCK_SECONDS = 40.0
"""Length of the blocks in which whole recordings pass through their stream."""


def anonymized(
    system: SystemStreams, audios: Sequence[Audio], pseudonyms: Sequence[Pseudonym]
) -> list[Audio]:
    """Several recordings of one rate, anonymized together as rows of one stream.

    Args:
        system: anonymizes them.
        audios: recordings of one sample rate, of any lengths and channel counts.
        pseudonyms: one for each recording; its channels share it.

    Raises:
        AudioError: other numbers of recordings and pseudonyms, several rates, or samples that are
            not finite.
    """
    import torch

    from voicenym.pseudonym.given_pseudonyms import checked_pseudonyms

    if len(audios) != len(pseudonyms):
        raise AudioError(
            f"{counted(len(audios), 'recording')} but {counted(len(pseudonyms), 'pseudonym')}"
        )
    checked_pseudonyms(pseudonyms)
    if not audios:
        return []
    check_device(system.device)
    rates = {checked_audio(audio).rate for audio in audios}
    if len(rates) != 1:
        raise AudioError(f"recordings of one batch need one sample rate, not {sorted(rates)}")
    rate = checked_rate(rates.pop())
    rows: list[torch.Tensor] = []
    row_pseudonyms: list[Pseudonym] = []
    for audio, pseudonym in zip(audios, pseudonyms, strict=True):
        samples = checked(audio.samples)
        rows.extend(samples)
        row_pseudonyms.extend([pseudonym] * samples.shape[0])
    lengths = [row.shape[-1] for row in rows]
    padded = rows[0][None] if len(rows) == 1 else torch.nn.utils.rnn.pad_sequence(rows, True)
    profile = None
    if system.reads_ahead:
        revisions = {system.revision_for(pseudonym) for pseudonym in pseudonyms}
        one = system.of_revision(revisions.pop()) if len(revisions) == 1 else system
        profile = _remembered_profile(one, padded, rate, lengths)
    stream = stream_of_rows(system, row_pseudonyms, rate, profile)
    *blocks, last = padded.split(round(BLOCK_SECONDS * rate), dim=1)
    parts = [stream.push(part) for part in blocks]
    parts.append(stream.finish(last))
    return _recordings_of(torch.cat(parts, dim=1), stream.lengths(lengths), audios)


def _recordings_of(
    whole: torch.Tensor, lengths: Sequence[int], audios: Sequence[Audio]
) -> list[Audio]:
    """Recordings whose channels are rows.

    Args:
        whole: their samples ``[row, time]``.
        lengths: samples of each row.
        audios: the originals, whose rate and shape they have.
    """
    result, start = [], 0
    for audio in audios:
        stop = start + audio.channels
        length = max(lengths[start:stop])  # channels share a tempo
        samples = whole[start:stop, :length]
        if len(audios) > 1:
            samples = samples.clone()  # so that one recording does not keep the others
        result.append(replace(audio, samples=samples[0] if audio.samples.ndim == 1 else samples))
        start = stop
    return result


def profile_of(
    system: SystemStreams, rows: torch.Tensor, rate: int, lengths: Sequence[int] | None = None
) -> Any:
    """Profile of recordings, by the first pass of a system.

    Args:
        system: whose first pass it is.
        rows: channels ``[row, time]``.
        rate: in Hz.
        lengths: samples of each row; None where all are as long.
    """
    profiling = system.profiling(rate, len(rows), lengths=lengths)
    for part in rows.split(round(BLOCK_SECONDS * rate), dim=1):
        profiling.push(part)
    return profiling.result()


def _remembered_profile(
    system: SystemStreams, rows: torch.Tensor, rate: int, lengths: Sequence[int]
) -> Any:
    """:func:`profile_of`, from memory if the recordings were analysed before."""
    from voicenym.dsp.analysis_memory import analysed

    if system.profile_kind is None:
        return profile_of(system, rows, rate, lengths)
    kind = ("profile", system.profile_kind, rate, tuple(lengths), system.device)
    return analysed(rows, kind, lambda: profile_of(system, rows, rate, lengths))
