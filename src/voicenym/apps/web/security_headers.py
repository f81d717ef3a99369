"""Headers of every response: a page of ours loads from this server alone, and nobody frames it."""

from __future__ import annotations

CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "media-src 'self' blob:",
        "connect-src 'self'",
        "worker-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""Content security policy: no inline script or style, no other host; sound and pictures that a page
made itself (``blob:``).
"""
HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "microphone=(self), camera=(), geolocation=(), display-capture=()",
    "cache-control": "no-store",
}
TRANSPORT = {"strict-transport-security": "max-age=31536000"}
"""Of servers with TLS."""


def with_security_headers(
    headers: list[tuple[bytes, bytes]], has_tls: bool = False
) -> list[tuple[bytes, bytes]]:
    """Headers of a response with those of :data:`HEADERS` that it does not have.

    Only ``cache-control`` may be the response's own; CORS headers are dropped.

    Args:
        headers: of the response, names in lower case.
        has_tls: whether the server speaks TLS.
    """
    wanted = {**HEADERS, **(TRANSPORT if has_tls else {})}
    kept = []
    for name, value in headers:
        text = name.decode("latin-1").lower()
        if text.startswith("access-control-") or (text in wanted and text != "cache-control"):
            continue
        if text == "cache-control":
            del wanted["cache-control"]
        kept.append((name, value))
    return [*kept, *((name.encode(), value.encode()) for name, value in wanted.items())]
