"""Parameters of classes and functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from voicenym.registry import parameters, summary

if TYPE_CHECKING:
    from collections.abc import Iterable as Unseen


@dataclass(frozen=True)
class Sizes:
    """Sizes of a network.

    Args:
        width: of a layer: in elements, or
            in channels.

        depth: layers.

    Raises:
        ValueError: nothing of ours.
    """

    width: int
    data: Unseen[int] | None = None
    depth: float | None = None
    widths: tuple[int, ...] = field(default_factory=lambda: (1, 2))
    derived: int = field(default=0, init=False)


def test_an_annotation_that_cannot_be_resolved_hides_no_other():
    found = {item.name: item for item in parameters(Sizes)}
    assert list(found) == ["width", "data", "depth", "widths"]
    assert found["width"].annotation is int
    assert found["data"].annotation is Any
    assert found["data"].accepts("whatever")
    assert found["depth"].accepts(None)
    assert not found["depth"].accepts("deep")
    assert found["widths"].default == (1, 2)
    assert found["widths"].accepts((1, 2, 3))
    assert not found["widths"].accepts((1, 2.5))
    assert not found["widths"].accepts([1])


def test_help_is_that_of_the_docstring():
    found = {item.name: item.help for item in parameters(Sizes)}
    assert found["width"] == "of a layer: in elements, or in channels."
    assert found["depth"] == "layers."
    assert found["data"] == ""


def test_a_class_with_a_constructor_of_its_own():
    class Model:
        """A model."""

        def __init__(self, weights: str, size: int = 3, **others: int) -> None:
            """Make one.

            Args:
                weights: a folder.
            """

    found = {item.name: item for item in parameters(Model)}
    assert list(found) == ["weights", "size"]
    assert found["weights"].required
    assert found["weights"].help == "a folder."
    assert not found["size"].required
    assert summary(Model) == "A model."


@pytest.mark.parametrize(
    ("annotation", "text", "value"),
    [
        ("int", "007", 7),
        ("int", "x", "x"),
        ("float", "1e3", 1000.0),
        ("float", "nan", pytest.approx(float("nan"), nan_ok=True)),
        ("bool", "FALSE", False),
        ("float | None", "none", None),
        ("str | None", "none", "none"),
        ("Any", "(1, 2)", (1, 2)),
        ("Any", "[1]", "[1]"),
        ("Any", "(" * 5000, "(" * 5000),
    ],
)
def test_values_from_text(annotation, text, value):
    def made(size: Any) -> None:
        """Nothing."""

    made.__annotations__["size"] = annotation
    assert parameters(made)[0].value(text) == value
