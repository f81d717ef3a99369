"""Croissant 1.1 description of a published corpus with RAI fields, checked by ``mlcroissant``.

Croissant: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html; RAI:
https://docs.mlcommons.org/croissant/docs/croissant-rai-spec.html.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from voicenym.errors import DependencyError, VoicenymError
from voicenym.libraries import library
from voicenym.publication.corpus_description import Description
from voicenym.publication.published_manifests import METADATA

CROISSANT = "croissant.json"
CONFORMS = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
SPDX = re.compile(r"[A-Za-z0-9.+-]+")
_TYPES = {str: "sc:Text", float: "sc:Float", int: "sc:Integer"}
_MEDIA = {".csv": "text/csv", ".tar": "application/x-tar", ".parquet": "application/x-parquet"}
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def described(
    about: Description,
    row: Mapping[str, str | float | int],
    files: Mapping[str, tuple[str, int]],
    remains: Sequence[str],
    processing: str,
) -> dict[str, Any]:
    """The JSON-LD of a corpus.

    Args:
        about: what its publisher states.
        row: of its metadata, for the types of columns.
        files: SHA-256 and size in bytes of tables and shards by their path.
        remains: what remains of the speakers, for the limits.
        processing: how the speech was anonymized.
    """
    spdx = SPDX.fullmatch(about.licence)
    licence = f"https://spdx.org/licenses/{about.licence}" if spdx else about.licence
    data = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": list(CONFORMS),
        "name": about.title,
        "description": about.description,
        "version": about.version,
        "datePublished": about.date.isoformat(),
        "license": licence,
        "inLanguage": list(about.languages),
        "creator": [{"@type": "Organization", "name": name} for name in about.creators],
        "url": about.url or "https://example.org/",
        "citeAs": about.cited,
        "rai:dataCollection": about.collection,
        "rai:dataPreprocessingProtocol": [processing],
        "rai:personalSensitiveInformation": [about.sensitive, f"Consent: {about.consent}"],
        "rai:dataUseCases": list(about.uses),
        "rai:dataSocialImpact": f"Excluded uses: {' '.join(about.forbidden_uses)}",
        "rai:dataBiases": list(about.biases),
        "rai:dataLimitations": [*remains, *about.limitations],
        "rai:dataReleaseMaintenancePlan": f"Reports of a re-identification: {about.contact}",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name.replace("/", "-"),
                "contentUrl": name,
                "contentSize": f"{size} B",
                "encodingFormat": _MEDIA[Path(name).suffix],
                "sha256": digest,
            }
            for name, (digest, size) in sorted(files.items())
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "recordings",
                "name": "recordings",
                "description": "One record for each recording; its sound is in file_name.",
                "key": {"@id": "recordings/file_name"},
                "field": [_column(name, value) for name, value in row.items()],
            }
        ],
    }
    if not about.url:
        del data["url"]
    return {name: value for name, value in data.items() if value not in ("", [])}


def _column(name: str, value: object) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"recordings/{name}",
        "name": name,
        "dataType": _TYPES[type(value)],
        "source": {"fileObject": {"@id": METADATA}, "extract": {"column": name}},
    }


def write(folder: Path, data: Mapping[str, Any]) -> None:
    """Writes ``croissant.json`` and checks it.

    Raises:
        DependencyError: mlcroissant is not installed.
        VoicenymError: mlcroissant refuses the description.
    """
    path = folder / CROISSANT
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
    check(path)


def check(path: Path) -> None:
    """Checks a description, its fields and its tables as the makers of Croissant do.

    Raises:
        DependencyError, VoicenymError: as of :func:`write`.
    """
    logger = logging.getLogger("absl")
    level = logger.level
    logger.setLevel(logging.ERROR)  # its warnings come back in the issues
    try:
        mlcroissant = library("mlcroissant")
        dataset = mlcroissant.Dataset(str(path))
        problems = [str(one) for one in dataset.metadata.ctx.issues.errors]
        if not problems:
            next(iter(dataset.records("recordings")))
    except ImportError:
        raise DependencyError(
            "descriptions in Croissant need mlcroissant: pip install 'voicenym[release]'"
        ) from None
    except Exception as error:  # its own errors have no common class
        problems = [f"{type(error).__name__}: {error}"]
    finally:
        logger.setLevel(level)
    if problems:
        text = " ".join(" ".join(problems).split())[:300]
        raise VoicenymError(
            f"{path.name}: mlcroissant refuses it ({text}); correct the description of the corpus"
        )
