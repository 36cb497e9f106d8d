"""Firefox and WebKit, driven by what Debian ships: Marionette and WebKitWebDriver.

Both speak the commands of W3C WebDriver. Firefox takes them over a socket, because Debian has no
geckodriver; WebKit over HTTP.
"""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import requests

from tests.fakes.ports import free_port
from tests.quality.tools import ToolMissing

_START_S: Final = 60
_COMMAND_S: Final = 120
_POLL_S: Final = 0.2
# The key of an element in WebDriver's answers.
_ELEMENT: Final = "element-6066-11e4-a52e-4f735466cecf"
ENTER: Final = "\ue007"


class EngineFault(AssertionError):
    """A command failed, or nothing came of it in time."""


class Engine(ABC):
    """A browser with one window."""

    @abstractmethod
    def command(self, name: str, method: str, path: str, values: Mapping[str, Any]) -> Any:
        """Send a command, which Firefox knows by its name and WebKit by method and path."""

    def go(self, address: str) -> None:
        self.command("WebDriver:Navigate", "POST", "url", {"url": address})

    def evaluate(self, function: str, *arguments: Any) -> Any:
        """Return what a function of the page returns."""
        values = {"script": f"return ({function})(...arguments)", "args": list(arguments)}
        return self.command("WebDriver:ExecuteScript", "POST", "execute/sync", values)

    def find(self, selector: str) -> str:
        """Return the element that a selector finds, once it is there."""

        def found() -> str | None:
            values = {"using": "css selector", "value": selector}
            try:
                answer = self.command("WebDriver:FindElement", "POST", "element", values)
            except EngineFault:
                return None
            return str((answer.get("value") or answer)[_ELEMENT])

        return str(self.until(found, selector))

    def click(self, selector: str) -> None:
        """Click an element as soon as nothing covers or replaces it."""

        def clicked() -> bool:
            one = self.find(selector)
            try:
                self.command("WebDriver:ElementClick", "POST", f"element/{one}/click", {"id": one})
            except EngineFault as fault:
                if "intercepted" in str(fault) or "stale" in str(fault):
                    return False
                raise
            return True

        self.until(clicked, f"a click on {selector}")

    def type(self, selector: str, text: str) -> None:
        one = self.find(selector)
        values = {"id": one, "text": text}
        self.command("WebDriver:ElementSendKeys", "POST", f"element/{one}/value", values)

    def resize(self, width: int, height: int) -> None:
        values = {"width": width, "height": height}
        self.command("WebDriver:SetWindowRect", "POST", "window/rect", values)

    @property
    def address(self) -> str:
        return str(self.evaluate("() => location.href"))

    def text(self, selector: str = "main") -> str:
        """Return an element's text with plain blanks."""
        words = self.evaluate("(one) => document.querySelector(one)?.innerText ?? ''", selector)
        return " ".join(str(words).split())

    def until(self, found: Callable[[], Any], what: str) -> Any:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            if answer := found():
                return answer
            time.sleep(_POLL_S)
        raise EngineFault(f"not in time: {what}")

    def until_text(self, words: str, selector: str = "main") -> None:
        self.until(lambda: words in self.text(selector), words)


class Firefox(Engine):
    """Firefox, over Marionette's socket: a message is its length, a colon and a JSON array."""

    def __init__(self, port: int) -> None:
        self._socket = _connected(port)
        self._socket.settimeout(_COMMAND_S)
        self._read()  # the greeting
        self._number = 0
        self.command("WebDriver:NewSession", "", "", {"pageLoadStrategy": "normal"})

    def command(self, name: str, method: str, path: str, values: Mapping[str, Any]) -> Any:
        self._number += 1
        message = json.dumps([0, self._number, name, dict(values)])
        self._socket.sendall(f"{len(message.encode())}:{message}".encode())
        _, _, error, result = self._read()
        if error:
            raise EngineFault(f"{name}: {error}")
        return result.get("value") if isinstance(result, dict) and "value" in result else result

    def _read(self) -> Any:
        length = b""
        while (sign := self._some(1)) != b":":
            length += sign
        return json.loads(self._some(int(length)))

    def _some(self, count: int) -> bytes:
        parts = b""
        while len(parts) < count:
            part = self._socket.recv(count - len(parts))
            if not part:
                raise EngineFault("Firefox closed the connection")
            parts += part
        return parts


class WebKit(Engine):
    """WebKitGTK, over WebKitWebDriver's HTTP."""

    def __init__(self, port: int, browser: str) -> None:
        self._base = f"http://127.0.0.1:{port}/session"
        self._session = requests.Session()
        self._session.trust_env = False
        options = {"binary": browser, "args": ["--automation"]}
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        self._id = self._send("POST", "", {"capabilities": wanted})["sessionId"]

    def command(self, name: str, method: str, path: str, values: Mapping[str, Any]) -> Any:
        sent = {key: value for key, value in values.items() if key != "id"}
        return self._send(method, f"/{self._id}/{path}", sent)

    def _send(self, method: str, path: str, values: Mapping[str, Any]) -> Any:
        answer = self._session.request(
            method, self._base + path, json=dict(values), timeout=_COMMAND_S
        )
        value = answer.json()["value"]
        if not answer.ok:
            raise EngineFault(f"{path}: {value}")
        return value


def _connected(port: int) -> socket.socket:
    deadline = time.monotonic() + _START_S
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=2)
        except OSError:
            if time.monotonic() > deadline:
                raise EngineFault("the browser did not listen") from None
            time.sleep(_POLL_S)


def _program(*names: str) -> str:
    for name in names:
        if found := shutil.which(name):
            return found
    raise ToolMissing(f"{names[0]} is not installed")


def _mini_browser() -> str:
    """Return WebKitGTK's own small browser, which is in no folder of PATH."""
    found = sorted(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"))
    if not found:
        raise ToolMissing("WebKitGTK's MiniBrowser is not installed")
    return str(found[-1])


@contextmanager
def firefox() -> Iterator[Engine]:
    """Start Firefox without windows. Raises ToolMissing."""
    program, port = _program("firefox-esr", "firefox"), free_port()
    with ExitStack() as stack:
        profile = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="firefox-")))
        settings = {"marionette.port": port, "intl.accept_languages": "pt-BR"}
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(one)});" for name, one in settings.items()
        ]
        (profile / "user.js").write_text("\n".join(lines), "utf-8")
        command = [program, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
        stack.enter_context(_running(command, {"MOZ_REMOTE_SETTINGS_DEVTOOLS": "0"}))
        yield Firefox(port)


@contextmanager
def webkit() -> Iterator[Engine]:
    """Start WebKitGTK on a virtual screen. Raises ToolMissing."""
    driver, browser, screen = _program("WebKitWebDriver"), _mini_browser(), _program("Xvfb")
    port, display = free_port(), f":{90 + os.getpid() % 900}"
    with ExitStack() as stack:
        stack.enter_context(_running([screen, display, "-screen", "0", "1600x1200x24"], {}))
        env = {
            "DISPLAY": display,
            "GDK_BACKEND": "x11",
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
            "WEBKIT_DISABLE_COMPOSITING_MODE": "1",
            "LIBGL_ALWAYS_SOFTWARE": "1",
        }
        stack.enter_context(_running([driver, f"--port={port}"], env))
        _connected(port).close()
        yield WebKit(port, browser)


@contextmanager
def _running(command: list[str], env: Mapping[str, str]) -> Iterator[None]:
    process = subprocess.Popen(
        command,
        env={**os.environ, **env},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


ENGINES: Final[Mapping[str, Callable[[], Any]]] = {"Firefox": firefox, "WebKit": webkit}
