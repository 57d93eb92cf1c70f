"""Who may talk to a server of viser: who knows its token, calls it by a name of its own, and comes from its own page.

Any page that a browser shows can send requests to this machine, and open web sockets here. So the address has a secret
part, which such a page cannot know: ``http://127.0.0.1:8080/TOKEN``. The page of viser derives the address of its web
socket from its own, the secret included. What comes under the name of another host is refused, as that of an attacker
who lets it point here (DNS rebinding), and so is what says that it comes from a page of another origin.
"""

from __future__ import annotations

import hmac
import http
import http.client
import inspect
import ipaddress
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from ...errors import MissingPackageError
from ..packages import require

__all__ = ["Gate"]

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_PRIVATE = {"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Frame-Options": "DENY"}
"""Of every answer: nobody else is told the address, keeps the page, or shows it within another."""
_PATIENCE = 10.0
"""Seconds for the server to answer, where it is asked whether it refuses."""
_STARTING = threading.Lock()
"""Held while a server starts: two gates at once could be mixed up."""


class Gate:
    """What requests must have to be let in."""

    def __init__(self, host: str) -> None:
        """Choose a secret for a server that listens on an address."""
        self.token = secrets.token_urlsafe(24)
        addresses = [ipaddress.ip_address(found[4][0]) for found in socket.getaddrinfo(host, None)]
        self._names = _LOOPBACK | {host.lower()}
        if not all(address.is_loopback for address in addresses):
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
        self._any_address = any(address.is_unspecified for address in addresses)
        """Whether it listens on all addresses of this machine. None of them is a name that others could have."""

    def rest(self, path: str, headers: Any) -> str | None:
        """Return what a request is for, without the secret; None if it is not to be let in."""
        path, mark, query = path.partition("?")
        given, _, rest = path.removeprefix("/").partition("/")
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if (
            not hmac.compare_digest(given.encode(errors="replace"), self.token.encode())
            or len(hosts) != 1
            or not self._is_own(hosts[0])
        ):
            return None
        own = (f"http://{hosts[0]}".lower(), f"https://{hosts[0]}".lower())
        if any(origin.lower() not in own for origin in origins):  # raw clients and what is typed in have none
            return None
        return f"/{rest}{mark}{query}"

    def _is_own(self, host: str) -> bool:
        """Whether a name, with or without a port, is one of this server; the port may be that of a tunnel."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
            return name in self._names or (self._any_address and ipaddress.ip_address(name) is not None)
        except ValueError:
            return False

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """Have the server of viser that is started in the block ask here, for pages and for web sockets.

        viser has no place for such a question, but websockets, which it is built on, does.
        """
        websockets = require("websockets.asyncio.server", "the viewer")
        serve = websockets.serve

        def serve_guarded(handler: Any, *arguments: Any, process_request: Any = None, **options: Any) -> Any:
            if handler.__module__.partition(".")[0] == "viser":
                process_request = self._asked_first(process_request)
            return serve(handler, *arguments, process_request=process_request, **options)

        with _STARTING:
            websockets.serve = serve_guarded
            try:
                yield
            finally:
                websockets.serve = serve

    def _asked_first(self, process_request: Any) -> Any:
        """Return what answers requests, after they were let in."""

        async def answer(connection: Any, request: Any) -> Any:
            path = self.rest(request.path, request.headers)
            if path is None:
                return connection.respond(
                    http.HTTPStatus.FORBIDDEN, "the address is not complete, or not that of this page\n"
                )
            response = process_request and process_request(connection, replace(request, path=path))
            if inspect.isawaitable(response):
                response = await response
            if response is not None:
                for name, value in _PRIVATE.items():
                    response.headers[name] = value
            return response

        return answer

    def check(self, host: str, port: int) -> None:
        """Refuse a server that lets in what it should not: another version of viser may have another way to start."""
        if self._any_address:
            host = "::1" if ":" in host else "127.0.0.1"
        upgrade = {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "Y2xpcHBlcnBsdXMgdmlldw==",
        }
        own, other = f"/{self.token}/", f"/{secrets.token_urlsafe(24)}/"
        answers = [
            _status(host, port, path, headers)
            for path, headers in (
                ("/", {}),
                ("/", upgrade),
                (other, upgrade),
                (own, {"Host": "example.com"}),
                (own, {}),
            )
        ]
        if answers != [403, 403, 403, 403, 200]:
            raise MissingPackageError(
                "the viewer needs a release of viser whose requests can be checked, or else any web page could use it; "
                f"the one that is installed answers {answers}: pip install --upgrade 'clipperplus[viz]'"
            )


def _status(host: str, port: int, path: str, headers: dict[str, str]) -> int | None:
    """Return what the server on this machine answers; None if it does not."""
    connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE)
    try:
        connection.request("GET", path, headers={"Host": f"localhost:{port}", **headers})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
