"""Where a server listens: the loopback address, unless clients must prove who they are."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

from voicenym.errors import VoicenymError

LOOPBACK = "127.0.0.1"
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True)
class Binding:
    """Address of a server, checked: a server is not open by accident.

    Args:
        host: an IP address or ``localhost``. Another address than the loopback's needs tokens or
            mutual TLS.
        port: 0 for a free one.
        has_tokens: whether every request needs a token.
        certificate: PEM chain of the server, for TLS.
        private_key: PEM of its key.
        client_authority: PEM of the authority of clients' certificates; makes TLS mutual.

    Raises:
        VoicenymError: an address that others reach without either; TLS files that do not fit.
    """

    host: str = LOOPBACK
    port: int = 0
    has_tokens: bool = False
    certificate: Path | None = None
    private_key: Path | None = None
    client_authority: Path | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise VoicenymError(f"--port {self.port}: ports go from 0 to 65535")
        if (self.certificate is None) != (self.private_key is None):
            raise VoicenymError("TLS needs both --tls-certificate and --tls-key; give the other")
        if self.client_authority is not None and self.certificate is None:
            raise VoicenymError("mutual TLS needs --tls-certificate and --tls-key as well")
        for path in (self.certificate, self.private_key, self.client_authority):
            if path is not None and not path.is_file():
                raise VoicenymError(f"{path}: no such file; name a PEM file")
        if not self.is_local and not self.has_tokens and self.client_authority is None:
            raise VoicenymError(
                f"--host {self.host}: other machines could reach this server, and anybody could "
                "use it; give --token-file, or mutual TLS by --tls-client-ca, or leave --host out"
            )

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False

    @property
    def has_tls(self) -> bool:
        return self.certificate is not None

    def allowed_hosts(self) -> frozenset[str] | None:
        """Names that the ``Host`` header may have, without port; None for any.

        A page of another site cannot reach a local server by a name that it directs here (DNS
        rebinding). Other servers ask for a token or a certificate, which such a page does not have.
        """
        if not self.is_local:
            return None
        host = f"[{self.host}]" if ":" in self.host else self.host
        return LOCAL_NAMES | {host}

    def open_socket(self) -> socket.socket:
        """Listening socket.

        Raises:
            VoicenymError: the address or the port cannot be had.
        """
        host = "127.0.0.1" if self.host == "localhost" else self.host.strip("[]")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        found = socket.socket(family, socket.SOCK_STREAM)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((host, self.port))
            found.listen(256)
        except (OSError, OverflowError) as error:
            found.close()
            reason = getattr(error, "strerror", None) or "no such address"
            raise VoicenymError(
                f"--host {self.host} --port {self.port}: {reason}; choose another port with --port"
            ) from None
        return found

    def address(self, port: int) -> str:
        """Web address of the server at a port."""
        host = f"[{self.host}]" if ":" in self.host and "[" not in self.host else self.host
        return f"{'https' if self.has_tls else 'http'}://{host}:{port}"

    def tls_options(self) -> dict[str, object]:
        """Options of uvicorn for TLS; checks that the files fit.

        Raises:
            VoicenymError: a file is not what it should be.
        """
        if self.certificate is None or self.private_key is None:
            return {}
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate, self.private_key)
            if self.client_authority is not None:
                context.load_verify_locations(self.client_authority)
        except (OSError, ssl.SSLError) as error:
            raise VoicenymError(
                f"{self.certificate}: TLS files do not fit ({type(error).__name__}); give a PEM "
                "chain, its private key without passphrase, and a PEM authority"
            ) from None
        options: dict[str, object] = {
            "ssl_certfile": str(self.certificate),
            "ssl_keyfile": str(self.private_key),
        }
        if self.client_authority is not None:
            options["ssl_ca_certs"] = str(self.client_authority)
            options["ssl_cert_reqs"] = ssl.CERT_REQUIRED
        return options
