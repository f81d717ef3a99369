"""A griffe extension for the documentation: Sphinx roles in docstrings become Markdown code.

``:func:`voicenym.load``` reads well in a terminal and in an editor; Markdown does not know it.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`~?([^`]+)`")


class DocstringRoles(griffe.Extension):
    """Rewrites every docstring once, when it is collected."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = ROLE.sub(r"`\1`", obj.docstring.value)
