"""Catalogue of published weights: source, licence, size and use.

Entries without a digest published by the authors trust the first download
(:mod:`voicenym.nets.hub`). Megabytes are computed from the number of parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from voicenym.errors import VoicenymError
from voicenym.nets.names_and_paths import hint


@dataclass(frozen=True)
class Published:
    """Entry of the catalogue.

    Args:
        name: of the entry.
        what: description.
        licence: of the weights, as their authors say.
        commercial: whether it allows commercial use.
        megabytes: approximate size of the weights.
        used_by: options that use them.
        repository: on the hub, ``owner/name``; empty for weights that are not there, see
            ``source``.
        package: Python package that contains them; empty for none.
        files: to download; the first holds the weights. For transformers' layout,
            ``model.safetensors`` replaces it if it is published.
        source: place of weights that are in neither.
        digests: SHA-256 by file, if the authors published it; otherwise that of the first download
            is recorded.
        convert: kind of the conversion by ``voicenym models pull`` and ``voicenym models convert
            --as``; empty for none.
        papers: references.
    """

    name: str
    what: str
    licence: str
    commercial: bool
    megabytes: int
    used_by: str
    repository: str = ""
    package: str = ""
    files: tuple[str, ...] = ()
    source: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)
    convert: str = ""
    papers: str = ""


_KOKORO_VOICES = (
    "af_alloy", "af_aoede", "af_bella", "af_heart", "af_jessica", "af_kore", "af_nicole", "af_nova",
    "af_river", "af_sarah", "af_sky", "am_adam", "am_echo", "am_eric", "am_fenrir", "am_liam",
    "am_michael", "am_onyx", "am_puck", "bf_alice", "bf_emma", "bf_isabella", "bf_lily",
    "bm_daniel", "bm_fable", "bm_george", "bm_lewis",
)  # fmt: skip
"""Voices of American and British English of Kokoro 1.0."""
_LIBRITTS = "en/en_US/libritts_r/medium/en_US-libritts_r-medium.onnx"


def _whisper(
    size: str, layers: str, megabytes: int, used_by: str = "evaluate --recogniser whisper"
) -> Published:
    """OpenAI's Whisper of English.

    Args:
        size: name of the model.
        layers: of encoder and decoder, and their width, for the description.
        megabytes, used_by: as of :class:`Published`.
    """
    return Published(
        name=f"whisper-{size}",
        what=f"Whisper {size}: recogniser of English, {layers} numbers on either side",
        licence="MIT",
        commercial=True,
        megabytes=megabytes,
        used_by=used_by,
        repository=f"openai/whisper-{size}",
        files=("model.safetensors", "config.json", "generation_config.json", "tokenizer.json"),
        convert="whisper",
        papers="Radford et al., ICML 2023",
    )


def _faster_whisper(size: str, languages: str, megabytes: int, *others: str) -> Published:
    """Whisper in the format of CTranslate2, as SYSTRAN converted it.

    Args:
        size: name of the model.
        languages: that it knows, for the description.
        megabytes: as of :class:`Published`.
        others: files beside model, configuration and tokenizer.
    """
    return Published(
        name=f"faster-whisper-{size}",
        what=f"Whisper {size} for faster-whisper: {languages} with times of words",
        licence="MIT",
        commercial=True,
        megabytes=megabytes,
        used_by="transcribe, redact, anonymize --redact: --recogniser NAME",
        repository=f"Systran/faster-whisper-{size}",
        files=("model.bin", "config.json", "tokenizer.json", *others),
        convert="ctranslate2",
        papers="Radford et al., ICML 2023",
    )


CATALOGUE: tuple[Published, ...] = (
    Published(
        name="ecapa-voxceleb",
        what="ECAPA-TDNN of 1,024 channels, trained on VoxCeleb 1 and 2",
        licence="Apache-2.0",
        commercial=True,
        megabytes=83,
        used_by="evaluate --verifier ecapa:NAME; speaker vectors of 192 numbers",
        repository="speechbrain/spkrec-ecapa-voxceleb",
        files=("embedding_model.ckpt",),
        convert="ecapa",
        papers="Desplanques et al., Interspeech 2020; Ravanelli et al., arXiv 2106.04624",
    ),
    Published(
        name="xvector-voxceleb",
        what="x-vectors of 512 numbers, trained on VoxCeleb 1 and 2",
        licence="Apache-2.0",
        commercial=True,
        megabytes=17,
        used_by="evaluate --verifier xvector:NAME",
        repository="speechbrain/spkrec-xvect-voxceleb",
        files=("embedding_model.ckpt",),
        convert="xvector",
        papers="Snyder et al., ICASSP 2018; Ravanelli et al., arXiv 2106.04624",
    ),
    Published(
        name="resemblyzer",
        what="d-vectors of 256 numbers, trained on LibriSpeech and VoxCeleb",
        licence="Apache-2.0",
        commercial=True,
        megabytes=6,
        used_by="evaluate --verifier resemblyzer",
        package="resemblyzer",
        files=("pretrained.pt",),
        digests={
            "pretrained.pt": "39373b86598fa3da9fcddee6142382efe09777e8d37dc9c0561f41f0070f134e"
        },
        convert="dvector",
        papers="Wan et al., ICASSP 2018",
    ),
    Published(
        name="hubert-base",
        what="HuBERT base, 12 layers, trained on LibriSpeech without texts",
        licence="Apache-2.0",
        commercial=True,
        megabytes=378,
        used_by="train units --features NAME; train content --from NAME",
        repository="facebook/hubert-base-ls960",
        files=("pytorch_model.bin", "config.json"),
        convert="hubert",
        papers="Hsu et al., TASLP 2021",
    ),
    Published(
        name="hubert-soft",
        what="HuBERT-soft: soft units of 256 numbers over 100 units, 12 layers",
        licence="MIT",
        commercial=True,
        megabytes=379,
        used_by="content of the ssl systems, once it is converted",
        source="hubert-soft-0d54a1f4.pt in release v0.1 of the repository bshall/hubert",
        convert="hubert-soft",
        papers="van Niekerk et al., ICASSP 2022",
    ),
    Published(
        name="xls-r-300m",
        what="XLS-R: wav2vec 2.0 of 24 layers, trained on 128 languages without texts",
        licence="Apache-2.0",
        commercial=True,
        megabytes=1262,
        used_by="content: a layer of it",
        repository="facebook/wav2vec2-xls-r-300m",
        files=("pytorch_model.bin", "config.json", "preprocessor_config.json"),
        convert="wav2vec2",
        papers="Babu et al., Interspeech 2022",
    ),
    Published(
        name="wav2vec2-base",
        what="wav2vec 2.0 base, 12 layers, trained on LibriSpeech without texts",
        licence="Apache-2.0",
        commercial=True,
        megabytes=378,
        used_by="content: a layer of it",
        repository="facebook/wav2vec2-base",
        files=("pytorch_model.bin", "config.json", "preprocessor_config.json"),
        convert="wav2vec2",
        papers="Baevski et al., NeurIPS 2020",
    ),
    Published(
        name="mms-300m",
        what="MMS: wav2vec 2.0 of 24 layers, trained on 1,406 languages without texts",
        licence="CC BY-NC 4.0",
        commercial=False,
        megabytes=1262,
        used_by="content: a layer of it",
        repository="facebook/mms-300m",
        files=("pytorch_model.bin", "config.json", "preprocessor_config.json"),
        convert="wav2vec2",
        papers="Pratap et al., JMLR 2024",
    ),
    _whisper(
        "tiny.en",
        "four layers of 384",
        151,
        "evaluate --recogniser whisper; train word-codes --whisper NAME",
    ),
    _whisper("base.en", "six layers of 512", 290),
    _whisper("small.en", "twelve layers of 768", 967),
    _faster_whisper("tiny.en", "English", 76, "vocabulary.txt"),
    _faster_whisper("small.en", "English", 484, "vocabulary.txt"),
    _faster_whisper("small", "99 languages", 484, "vocabulary.txt"),
    _faster_whisper(
        "large-v3", "100 languages", 3090, "vocabulary.json", "preprocessor_config.json"
    ),
    Published(
        name="kokoro-82m",
        what="Kokoro 1.0: text to speech of StyleTTS 2's kind, 27 voices of English, int8 ONNX",
        licence="Apache-2.0",
        commercial=True,
        megabytes=106,
        used_by="synthesiser of asr-tts",
        repository="onnx-community/Kokoro-82M-v1.0-ONNX",
        files=(
            "onnx/model_quantized.onnx",
            "tokenizer.json",
            *(f"voices/{name}.bin" for name in _KOKORO_VOICES),
        ),
        convert="kokoro",
        papers="Li et al., NeurIPS 2023",
    ),
    Published(
        name="piper-libritts-r",
        what="Piper en_US-libritts_r-medium: text to speech by VITS, 904 speakers, ONNX",
        licence="MIT; its speech, LibriTTS-R, CC BY 4.0",
        commercial=True,
        megabytes=79,
        used_by="synthesiser of asr-tts",
        repository="rhasspy/piper-voices",
        files=(_LIBRITTS, f"{_LIBRITTS}.json"),
        convert="piper",
        papers="Kim et al., ICML 2021; Koizumi et al., Interspeech 2023",
    ),
    Published(
        name="hifigan",
        what="HiFi-GAN vocoders V1 to V3 for mel spectra at 22,050 Hz",
        licence="MIT",
        commercial=True,
        megabytes=56,
        used_by="nothing yet: a vocoder of mel spectra, which has no place in a system here",
        source="the folders linked in the README of the repository jik876/hifi-gan",
        papers="Kong et al., NeurIPS 2020",
    ),
)


def entry(name: str) -> Published:
    """Entry by its name.

    Raises:
        VoicenymError: there is none.
    """
    for published in CATALOGUE:
        if published.name == name:
            return published
    names = ", ".join(published.name for published in CATALOGUE)
    raise VoicenymError(f"no weights {name!r} in the catalogue; there are: {names}{hint(name)}")


def known(name: str) -> bool:
    """Whether an entry of that name exists."""
    return any(published.name == name for published in CATALOGUE)
