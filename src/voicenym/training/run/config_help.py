"""Help on configurations: fields and their texts, read from source without importing it.

Modules of trainings import torch and Lightning, which takes seconds; reading their docstrings does
not need these.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from importlib.util import find_spec

from voicenym.registry.parameters import arguments_of


@dataclass(frozen=True)
class ConfigField:
    """A field of a configuration.

    Args:
        name: in the YAML file.
        default: as written in the source.
        help: its text in the docstring.
    """

    name: str
    default: str
    help: str


def config_fields(place: str) -> list[ConfigField]:
    """The fields of a configuration's dataclass, those of its bases first.

    Args:
        place: ``module:Class``.

    Raises:
        LookupError: no such module or class.
    """
    module, _, name = place.partition(":")
    spec = find_spec(module)
    source = getattr(spec.loader, "get_source")(module) if spec is not None else None  # noqa: B009
    if source is None:
        raise LookupError(f"no source of {module}")
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return _fields(node, tree, module)
    raise LookupError(f"no class {name} in {module}")


def _fields(node: ast.ClassDef, tree: ast.Module, module: str) -> list[ConfigField]:
    found: dict[str, ConfigField] = {}
    for base in node.bases:
        if isinstance(base, ast.Name):
            found.update({item.name: item for item in _inherited(base.id, tree, module)})
    texts = arguments_of(ast.get_docstring(node) or "")
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            name = line.target.id
            if ast.unparse(line.annotation).startswith("ClassVar"):
                continue
            help = _without_roles(texts.get(name, "")) or (
                found[name].help if name in found else ""
            )
            found[name] = ConfigField(name, _default(line.value), help)
    return list(found.values())


def _without_roles(text: str) -> str:
    """A docstring's text without the markup of its references, which a terminal does not link.

    >>> _without_roles("sizes, see :class:`~voicenym.nets.waveunet.WaveUNetConfig`")
    'sizes, see WaveUNetConfig'
    """
    return re.sub(
        r":\w+:`(~?)([\w.]+)`",
        lambda found: found[2].split(".")[-1] if found[1] else found[2],
        text,
    )


def _inherited(name: str, tree: ast.Module, module: str) -> list[ConfigField]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return _fields(node, tree, module)
        if isinstance(node, ast.ImportFrom) and any(item.name == name for item in node.names):
            return config_fields(f"{node.module}:{name}")
    return []


def _default(value: ast.expr | None) -> str:
    """Default in YAML notation; empty if a function makes it."""
    if value is None:
        return ""
    text = ast.unparse(value)
    if factory := re.fullmatch(r"field\(default_factory=(?:lambda: )?(.*)\)", text):
        text = factory[1]
    return text.replace("_", "") if re.fullmatch(r"[\d_]+", text) else text
