"""A port that a server can listen on."""

from __future__ import annotations

import socket
from contextlib import suppress

from ..._validation import as_integer
from ..._words import shown
from ...errors import OptionError

__all__ = ["free_port"]

_TRIED = 100


def free_port(host: str, port: int) -> int:
    """Return the port if it is free, or the next one that is; any for 0.

    viser looks for one too, but without an end where the host is not this machine or the ports run out.
    """
    port = as_integer("port", port, 0, 2**16 - 1)
    try:
        if not host:
            raise OSError(None, "a server without one listens on all of them")
        places = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        any_free = _bound(places[0], 0)
    except (OSError, UnicodeError) as error:  # the latter for what cannot be a name
        reason = error.strerror if isinstance(error, OSError) else "not a name"
        raise OptionError(f"host: expected an address of this machine, got {shown(host)}: {reason}") from None
    for candidate in range(port, min(port + _TRIED, 2**16)) if port else (any_free,):
        with suppress(OSError):
            return _bound(places[0], candidate)
    raise OptionError(f"port: expected one that is free, or followed by one among the next {_TRIED}, got {port}")


def _bound(place: tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[object, ...]], port: int) -> int:
    """Return the port after a socket was bound to it, and closed."""
    family, kind, protocol, _, address = place
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((address[0], port, *address[2:]))
        return int(probe.getsockname()[1])
