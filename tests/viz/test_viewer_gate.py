"""Who is let in by the viewer: raw clients with and without what they need, and pages of other origins in a browser."""

from __future__ import annotations

import asyncio
import http.client
import http.server
import os
import socket
import stat
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np
import pytest
from browser import launch
from simulated import room

import clipperplus as cp
from clipperplus.cli import main, view
from clipperplus.viz.viewer import Viewer
from clipperplus.viz.viewer.gate import Gate

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Protocol": "viser-v1.1.1",
}
NOTHING = cp.Cloud(np.empty((0, 3)))
ASK = """async ([page, socket]) => {
    const read = await fetch(page).then(answer => answer.ok ? answer.text() : "", () => "");
    const opened = await new Promise(done => {
        const made = new WebSocket(socket, ["viser-v1.1.1"]);
        made.onmessage = () => done("told something");
        made.onerror = made.onclose = () => done("refused");
    });
    return [read.length, opened];
}"""
"""What a page does to read another and to open its web socket."""


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    made = Viewer(("secret name", "other"), (NOTHING, NOTHING), port=0)
    yield made
    made.close()


def status(url: str, headers: dict[str, str], *, path: str | None = None, socket: bool = False) -> int:
    """Ask for an address; return the status of the answer."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        more = UPGRADE if socket else {}
        connection.request("GET", parts.path + "/" if path is None else path, headers={**more, **headers})
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("socket", [False, True], ids=["page", "socket"])
def test_who_knows_the_address_is_let_in_under_every_name_of_this_machine(viewer: Viewer, socket: bool) -> None:
    good = 101 if socket else 200
    port = urlsplit(viewer.url).port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}", f"LOCALHOST:{port}", "localhost:9000"):
        assert status(viewer.url, {"Host": host}, socket=socket) == good
        assert status(viewer.url, {"Host": host, "Origin": f"http://{host.lower()}"}, socket=socket) == good


@pytest.mark.parametrize("socket", [False, True], ids=["page", "socket"])
def test_who_does_not_know_the_address_is_not_let_in(viewer: Viewer, socket: bool) -> None:
    token = urlsplit(viewer.url).path
    almost = token[:-1] + ("a" if token[-1] != "a" else "b")
    for path in ("/", "/index.html", "//", "/%2e%2e/", almost, token[:-1], token + "a", token.swapcase()):
        for tried in (path, f"{path}?{token[1:]}", f"{path}?token={token[1:]}"):
            assert status(viewer.url, {}, path=tried, socket=socket) == 403
    assert status(viewer.url, {}, path=f"/index.html{token}", socket=socket) == 403


@pytest.mark.parametrize("socket", [False, True], ids=["page", "socket"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:PORT"},
        {"Host": "localhost.evil.example:PORT"},
        {"Host": "127.0.0.1.evil.example:PORT"},
        {"Host": "10.0.0.1:PORT"},
        {"Host": "[::1"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "http://localhost:PORT"},
        {"Origin": "file://"},
        {"Origin": "null"},
        {"Origin": ""},
    ],
    ids=str,
)
def test_another_host_or_origin_is_not_let_in_even_with_the_address(
    viewer: Viewer, headers: dict[str, str], socket: bool
) -> None:
    port = str(urlsplit(viewer.url).port)
    assert status(viewer.url, {key: text.replace("PORT", port) for key, text in headers.items()}, socket=socket) == 403


@pytest.mark.parametrize(
    "request_of",
    [
        b"GET TOKEN/ HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET TOKEN/ HTTP/1.1\r\n\r\n",
        b"GET /\xe9\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://evil.exampleTOKEN/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=["two hosts", "no host", "no text", "a proxy's"],
)
def test_odd_requests_are_not_let_in(viewer: Viewer, request_of: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    parts = urlsplit(viewer.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=30) as raw:
        raw.sendall(request_of.replace(b"TOKEN", parts.path.encode()))
        assert b" 403 " in raw.recv(1000).split(b"\r\n")[0]
    assert capfd.readouterr() == ("", "")


def test_every_viewer_has_an_address_of_its_own_that_nobody_guesses(viewer: Viewer) -> None:
    tokens = {Gate("127.0.0.1").token for _ in range(100)} | {urlsplit(viewer.url).path[1:]}
    assert len(tokens) == 101
    assert min(map(len, tokens)) >= 32


def test_open_to_other_machines_it_still_wants_the_address_and_no_name_of_others() -> None:
    made = Viewer(("a", "b"), (NOTHING, NOTHING), host="0.0.0.0", port=0)
    try:
        url = made.url.replace("0.0.0.0", "127.0.0.1")
        port = urlsplit(url).port
        assert status(url, {}) == 200
        assert status(url, {}, path="/") == 403
        assert status(url, {}, path="/", socket=True) == 403
        assert status(url, {"Host": f"192.0.2.7:{port}"}) == 200  # one of its addresses, as far as it knows
        assert status(url, {"Host": f"{socket.gethostname()}:{port}"}) == 200
        assert status(url, {"Host": f"evil.example:{port}"}) == 403
        assert status(url, {"Origin": "http://evil.example"}, socket=True) == 403
    finally:
        made.close()


def test_the_page_tells_nobody_where_it_is(viewer: Viewer) -> None:
    parts = urlsplit(viewer.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    connection.request("GET", parts.path)
    answer = connection.getresponse()
    assert answer.getheader("Referrer-Policy") == "no-referrer"
    assert answer.getheader("Cache-Control") == "no-store"
    connection.close()


def test_a_viser_that_does_not_ask_is_stopped_before_it_shows_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {thread.name for thread in threading.enumerate()}
    monkeypatch.setattr(Gate, "_asked_first", lambda self, process_request: process_request)
    with pytest.raises(cp.MissingPackageError, match="requests can be checked") as caught:
        Viewer(("a", "b"), (NOTHING, NOTHING), port=0)
    assert "[200, 101, 101, 404, 404]" in str(caught.value)
    running = {thread.name for thread in threading.enumerate() if "background_worker" in thread.name}
    assert running <= before


def answered(viewer: Viewer) -> set[str]:
    """Return the messages of pages that are answered, by name; none is sent here."""
    return {message.__name__ for message in viewer._server._websock_server._incoming_handlers}


def test_no_page_can_have_a_tunnel_opened_to_a_public_server(viewer: Viewer) -> None:
    messages = answered(viewer)
    assert "GuiUpdateMessage" in messages  # this is where they are
    assert [name for name in messages if "share" in name.lower()] == []


@pytest.mark.parametrize("change", ["renamed", "elsewhere"])
def test_a_viser_that_cannot_be_kept_from_opening_tunnels_is_stopped(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    infra = pytest.importorskip("viser.infra._infra")
    register = infra.WebsockMessageHandler.register_handler

    def register_others(self: Any, message: type, callback: Any) -> None:
        if message.__name__ == "ShareUrlRequest":
            if change == "elsewhere":
                self._incoming_handlers = None
            return
        if self._incoming_handlers is not None:
            register(self, message, callback)

    before = {thread.name for thread in threading.enumerate()}
    monkeypatch.setattr(infra.WebsockMessageHandler, "register_handler", register_others)
    with pytest.raises(cp.MissingPackageError, match="tunnel to a public server"):
        Viewer(("a", "b"), (NOTHING, NOTHING), port=0)
    running = {thread.name for thread in threading.enumerate() if "background_worker" in thread.name}
    assert running <= before


def test_a_server_that_is_not_visers_is_left_as_it_is() -> None:
    from websockets.asyncio import server

    async def handler(connection: Any) -> None:
        """Serve nobody."""

    async def serve() -> object:
        async with server.serve(handler, "127.0.0.1", 0) as running:
            return running.process_request

    plain = server.serve
    with Gate("127.0.0.1").guarding():
        assert server.serve is not plain
        assert asyncio.run(serve()) is None
    assert server.serve is plain


def test_the_page_is_opened_without_its_secret_on_a_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[tuple[Path, int, str]] = []

    def end(url: str) -> None:
        assert url.startswith("file://")
        path = Path(url2pathname(urlsplit(url).path))
        opened.append((path, path.stat().st_mode, path.read_text("utf-8")))
        raise KeyboardInterrupt

    monkeypatch.setattr(view.webbrowser, "open", end)
    monkeypatch.setattr("sys.argv", ["clipperplus", "view", "--port", "0", "--open"])
    with pytest.raises(SystemExit):
        main()
    ((path, mode, page),) = opened
    shown = capsys.readouterr().out.split()[1]
    token = urlsplit(shown).path[1:]
    assert len(token) >= 32
    assert token not in str(path)
    assert f'url={shown}"' in page
    assert '"no-referrer"' in page
    assert os.name != "posix" or stat.S_IMODE(mode) == 0o600
    assert not path.exists()


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """Serve an empty page on a port of its own, as a site of others does."""

    class Empty(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty) as server:
        thread = threading.Thread(target=partial(server.serve_forever, 0.05))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def rebound(chromium: str) -> Iterator[Any]:
    """Start a browser for which the name of an attacker's host points to this machine."""
    with launch("--host-resolver-rules=MAP evil.example 127.0.0.1") as started:
        yield started


def test_the_file_that_is_opened_leads_to_the_page(rebound: Any, viewer: Viewer) -> None:
    page = rebound.new_page()
    try:
        with view._leading_to(viewer.url) as leading:
            assert page.goto(leading) is not None
            page.wait_for_url(f"{viewer.url}**", wait_until="commit")
            assert page.evaluate("document.referrer") == ""
    finally:
        page.close()


def test_pages_of_other_origins_neither_read_nor_talk_nor_press_buttons(
    rebound: Any, elsewhere: int, tmp_path: Path
) -> None:
    saved = tmp_path / "transform.txt"
    clouds = cp.Cloud(room().source), cp.Cloud(room().target)
    made = Viewer(("a", "b"), clouds, port=0, output=saved)
    page = rebound.new_page()
    try:
        port, token = urlsplit(made.url).port, urlsplit(made.url).path
        assert page.goto(made.url).status == 200
        own = page.evaluate(ASK, [made.url, f"ws://127.0.0.1:{port}{token}"])
        assert own[0] > 10_000  # of its own page, all of this goes well
        assert own[1] == "told something"
        for origin in (
            f"http://127.0.0.1:{elsewhere}",
            f"http://localhost:{elsewhere}",
            f"http://evil.example:{elsewhere}",
        ):
            assert page.goto(origin).status == 200
            for name in ("127.0.0.1", "localhost", "evil.example"):
                for path in ("", token):  # even if it had leaked
                    place = f"{name}:{port}{path}"
                    assert page.evaluate(ASK, [f"http://{place}", f"ws://{place}"]) == [0, "refused"], (origin, place)
        for path in ("/", token):  # the name of an attacker's host, pointing here: the same origin for the browser
            assert page.goto(f"http://evil.example:{port}{path}").status == 403
            place = f"evil.example:{port}{path}"
            assert page.evaluate(ASK, [f"http://{place}", f"ws://{place}"]) == [0, "refused"]
        assert not saved.exists()
    finally:
        page.close()
        made.close()
