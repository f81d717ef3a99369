"""Interface of identity methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.pseudonym.given_pseudonyms import checked_pseudonyms

if TYPE_CHECKING:
    import torch

    from voicenym.pseudonym import Pseudonym

Sex = Literal["f", "m"]


class UnlikelyDrawError(VoicenymError):
    """No draw for a speaker met the condition; draws for other speakers may."""


@dataclass(frozen=True)
class Identity(ABC):
    """Function from a speaker vector and a pseudonym to a pseudo-speaker's vector.

    Subclasses are frozen dataclasses whose fields are the method's parameters, so that the repr
    rebuilds the object. All randomness is drawn from the pseudonym, with purposes that begin with
    ``name``.

    Attributes:
        name: in the registry.
        source: paper and equations.
        whole: whether all modules of a system are conditioned on the same vector.
        hertz: True: for vectors of frequencies ``[F0, F1, ...]`` in Hz alone; False: for speaker
            vectors alone; None: for either.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    whole: ClassVar[bool] = True
    hertz: ClassVar[bool | None] = None

    @property
    def source_dependent(self) -> bool:
        """Whether the result depends on the speaker's vector; if not, it depends on the pseudonym
        alone, and a system needs no recording of the speaker before it begins.
        """
        return True

    @property
    def folders(self) -> tuple[str, ...]:
        """Folders of its pool or network, whose content is part of a system's version; none for
        objects, and for what comes with the package.
        """
        named = (getattr(self, field, None) for field in ("pool", "model"))
        return tuple(place for place in named if isinstance(place, str) and place)

    @property
    def draws(self) -> bool:
        """Whether the pseudonym changes the result; if not, it is a function of the speaker's
        vector alone, or one vector for all.
        """
        return True

    def own_voice(self, direction: bool = False) -> str:
        """Why this setting may return the speaker's own vector; empty where it does not.

        :class:`~voicenym.identity.copy.Copy` is meant to, and says nothing.

        Args:
            direction: whether the system uses the vector's direction alone, and not its length.
        """
        return ""

    def __call__(
        self, vector: torch.Tensor, pseudonym: Pseudonym, sex: Sex | None = None
    ) -> torch.Tensor:
        """Pseudo-speaker's vector ``[element]`` of a speaker's vector ``[element]``.

        Args:
            vector: of the speaker, or of one utterance of the speaker's.
            pseudonym: of the speaker, or of the utterance.
            sex: of the speaker where it is known.

        Raises:
            TypeError, VoicenymError: as of :meth:`batch`.
        """
        return self.batch(_tensor(vector)[None], [pseudonym], [sex])[0]

    def batch(
        self,
        vectors: torch.Tensor,
        pseudonyms: Sequence[Pseudonym],
        sexes: Sequence[Sex | None] | None = None,
    ) -> torch.Tensor:
        """Pseudo-speakers' vectors ``[row, element]``; rows are independent of each other.

        Args:
            vectors: ``[row, element]``, float; the result has their type and device.
            pseudonyms: one a row.
            sexes: one a row, None where it is not known.

        Raises:
            TypeError: what is given as a pseudonym is none.
            VoicenymError: vectors that are no floats, are not finite or are zero, or do not fit the
                method; an unknown sex; or another number of pseudonyms or sexes.
        """
        if sexes is None:
            sexes = [None] * len(pseudonyms)
        if _tensor(vectors).ndim != 2 or not len(vectors) == len(pseudonyms) == len(sexes):
            raise VoicenymError(
                f"vectors {tuple(vectors.shape)}, {len(pseudonyms)} pseudonyms and {len(sexes)} "
                "sexes do not fit: needs [row, element] and one of each a row"
            )
        _check(vectors)
        checked_pseudonyms(pseudonyms)
        for sex in sexes:
            if sex and sex not in get_args(Sex):
                raise VoicenymError(f"a sex is f, m or None for unknown, not {sex!r}")
        found = self.anonymize(vectors, pseudonyms, sexes).to(vectors)
        if found.shape != vectors.shape:  # a method of another package
            raise VoicenymError(
                f"{self.name}: the method gives {tuple(found.shape)} for vectors "
                f"{tuple(vectors.shape)}; it must keep their shape: update its package"
            )
        return found

    def encoder(self) -> str:
        """Version of the encoder of the vectors that the method was trained on; empty if unknown,
        or for any.

        Raises:
            VoicenymError: its data are missing or damaged.
        """
        return ""

    @abstractmethod
    def anonymize(
        self,
        vectors: torch.Tensor,
        pseudonyms: Sequence[Pseudonym],
        sexes: Sequence[Sex | None],
    ) -> torch.Tensor:
        """Result of :meth:`batch` for vectors that are already checked."""


def inner(name: str, of: Identity) -> Identity:
    """Inner method of a composed one.

    Raises:
        UnknownSystemError: a method with different vectors for different modules.
    """
    if not of.whole:
        raise UnknownSystemError(
            f"{name}: {of.name} gives parts of a system different voices and stands around other "
            f"methods, never within one: {of.name}:of=(selection:pool=FOLDER)"
        )
    return of


def _tensor(vectors: torch.Tensor) -> torch.Tensor:
    """Vectors as they are given, if they are a tensor of floats.

    Raises:
        VoicenymError: they are not.
    """
    import torch

    if not isinstance(vectors, torch.Tensor):
        raise VoicenymError(
            f"speaker vectors are a torch tensor, not {type(vectors).__name__}; an array of NumPy "
            "becomes one by torch.from_numpy"
        )
    if not vectors.is_floating_point():
        raise VoicenymError(
            f"speaker vectors need floats, not {vectors.dtype}, to which results would be rounded"
        )
    return vectors


def _check(vectors: torch.Tensor) -> None:
    good = vectors.isfinite().all(dim=1)
    if not good.all():
        row = int((~good).nonzero()[0])
        raise VoicenymError(
            f"speaker vector {row} is not finite; the recording it was made from is damaged: leave "
            "it out"
        )
    empty = (vectors == 0).all(dim=1)
    if empty.any():
        row = int(empty.nonzero()[0])
        raise VoicenymError(
            f"speaker vector {row} is zero: its recording holds no speech; leave it out"
        )
