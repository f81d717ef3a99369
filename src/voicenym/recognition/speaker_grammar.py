"""Recognition with a grammar of each speaker's own prompts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from voicenym.errors import counted
from voicenym.recognition.interface import Recording
from voicenym.recognition.sphinx_processes.sphinx import Sphinx

Pairs = list[tuple[str, str]]
"""Pairs of reference and hypothesis in lower case, by utterance."""


def recognise_speakers(
    speech: Mapping[str, Sequence[tuple[str, Recording]]],
    prompts: Mapping[str, Sequence[str]],
    *,
    choice: bool,
    pronunciations: Mapping[str, str] | None = None,
) -> dict[str, Pairs]:
    """Recognise each speaker with pocketsphinx and a grammar or bigram of the speaker's prompts.

    Args:
        speech: by speaker, texts and their recordings ``[time]``, mono at 16 kHz.
        prompts: by speaker, all possible texts.
        choice: recognise exactly one of the prompts, or nothing; otherwise words, by a bigram of
            the prompts.
        pronunciations: of words that pocketsphinx's dictionary lacks.

    Returns:
        By speaker, an entry for each recording whose words all have a pronunciation. A warning
        lists the others; they depend on the texts alone, so that they are the same for every
        system.

    Raises:
        DependencyError: pocketsphinx is not installed.
        VoicenymError: no prompt of a speaker has a pronunciation.

    Example:
        >>> recognise_speakers({"s1": [("YES", recording)]}, {"s1": ["YES", "NO"]}, choice=True)
        ... # doctest: +SKIP
        {'s1': [('yes', 'yes')]}
    """
    recognised: dict[str, Pairs] = {}
    for speaker, utterances in speech.items():
        texts = list(prompts[speaker])
        phrases, sentences = (texts, None) if choice else (None, texts)
        with Sphinx(sentences, phrases=phrases, pronunciations=pronunciations) as sphinx:
            kept = [(t, x) for t, x in utterances if t not in sphinx.left_out]
            found = sphinx.transcribe([x for _, x in kept])
            if sphinx.crashes:
                warnings.warn(
                    f"{speaker}: {counted(sphinx.crashes, 'crash', 'crashes')} of pocketsphinx",
                    stacklevel=2,
                )
        references = [" ".join(text.lower().split()) for text, _ in kept]
        recognised[speaker] = list(zip(references, found, strict=True))
    return recognised


def intelligible(recognised: Mapping[str, Pairs], most: float = 0.0) -> list[str]:
    """Speakers with at most a given share of wrongly recognised utterances.

    Measure on other utterances of these speakers, or the selection biases the originals' figures.

    Args:
        recognised: from :func:`recognise_speakers`, of originals.
        most: share of utterances that may be wrong, 0 to 1.

    >>> intelligible({"a": [("yes", "yes")], "b": [("yes", "no")], "c": []})
    ['a']
    """
    return [
        speaker
        for speaker, pairs in recognised.items()
        if pairs and sum(references != found for references, found in pairs) <= most * len(pairs)
    ]
