"""Drives a real headless Chromium over its DevTools protocol, as a person would: mouse and keys.

Debian's package ``chromium`` is enough; ``BMO_TEST_CHROMIUM`` may name another program. Where there
is none, tests are skipped by name; with ``BMO_TEST_CHROMIUM=1`` (CI) a missing one is a failure.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

START_TIMEOUT_S = 60.0
CALL_TIMEOUT_S = 60.0

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)

KEYS = {
    "Tab": ("Tab", 9, ""),
    "Enter": ("Enter", 13, "\r"),
    "Escape": ("Escape", 27, ""),
    "Space": (" ", 32, " "),
    "ArrowDown": ("ArrowDown", 40, ""),
}
"""Key -> (its DOM name, its code, the text it types)."""


def find_chromium() -> str | None:
    """The program's path, or None where there is none."""
    named = os.environ.get("BMO_TEST_CHROMIUM", "")
    return shutil.which(named if named not in ("", "0", "1") else "chromium")


def chromium() -> str:
    """The program's path; skips the test where there is none."""
    found = find_chromium()
    if found is None:
        wanted = os.environ.get("BMO_TEST_CHROMIUM", "")
        assert wanted in ("", "0"), "BMO_TEST_CHROMIUM is set and there is no Chromium"
        pytest.skip("no Chromium here (Debian: apt install chromium)")
    return found


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """A browser with an empty profile, ended afterwards."""
    program = chromium()
    with tempfile.TemporaryDirectory(prefix="bmo-chromium-", ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            address = _address(Path(profile), process)
            with connect(address, max_size=None, open_timeout=START_TIMEOUT_S) as socket:
                browser = Browser(socket)
                try:
                    yield browser
                finally:
                    browser.call("Browser.close")
        finally:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(profile: Path, process: subprocess.Popen[bytes]) -> str:
    """The address Chromium writes down once it listens."""
    file = profile / "DevToolsActivePort"
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if file.exists() and len(lines := file.read_text(encoding="utf-8").split()) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        assert process.poll() is None, f"Chromium ended with {process.returncode}"
        time.sleep(0.05)
    raise AssertionError("Chromium did not start to listen")


class Browser:
    """One connection to a browser; pages share it."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Calls a method and returns its result; events that come meanwhile are kept."""
        number = next(self._ids)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        self._socket.send(json.dumps(message))
        while True:
            answer: dict[str, Any] = json.loads(self._socket.recv(CALL_TIMEOUT_S))
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            if "method" in answer:
                self.events.append(answer)

    def page(self, *, width: int = 1440, height: int = 900, dark: bool = False) -> Page:
        """A new empty page of this size; 390 wide is a phone's."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        return Page(self, target, attached["sessionId"], width, height, dark)


class Page:
    """One page."""

    def __init__(
        self, browser: Browser, target: str, session: str, width: int, height: int, dark: bool
    ) -> None:
        self._browser, self._target, self._session = browser, target, session
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self._call("Emulation.setEmulatedMedia", features=[scheme, still])

    def open(self, file: Path, fragment: str = "") -> None:
        """Opens a file and waits until the page says that it is drawn."""
        self._call("Page.navigate", url=file.as_uri() + fragment)
        self.until("document.documentElement && document.documentElement.dataset.ready")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        answer = self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression: str) -> None:
        """Waits until an expression is true."""
        deadline = time.monotonic() + CALL_TIMEOUT_S
        while not self.evaluate(f"Boolean({expression})"):
            assert time.monotonic() < deadline, f"never true: {expression}"
            self.evaluate("new Promise(done => setTimeout(done, 20))")

    def click(self, selector: str) -> None:
        """Clicks the middle of an element with the mouse; it must be what lies there."""
        chosen = json.dumps(selector)
        self.evaluate(f"document.querySelector({chosen}).scrollIntoView({{block: 'center'}})")
        spot = self.evaluate(
            f"(() => {{ const it = document.querySelector({chosen});"
            " const box = it.getBoundingClientRect();"
            " const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];"
            " const there = document.elementFromPoint(x, y);"
            " return [x, y, it.contains(there) || (there && there.contains(it))]; })()"
        )
        assert spot[2], f"{selector} is covered by something else"
        for kind in ("mousePressed", "mouseReleased"):
            self._call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=spot[0],
                y=spot[1],
                button="left",
                clickCount=1,
            )

    def press(self, *keys: str) -> None:
        """Presses keys one after the other: names of ``KEYS`` or single letters."""
        for key in keys:
            name, code, text = KEYS[key] if key in KEYS else (key, ord(key.upper()), key)
            common = {"key": name, "windowsVirtualKeyCode": code}
            self._call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
            self._call("Input.dispatchKeyEvent", type="keyUp", **common)

    def screenshot(self, file: Path, *, whole: bool = False) -> None:
        """Saves what is seen, or the whole page, as a PNG."""
        self._call("Page.bringToFront")
        shot = self._call("Page.captureScreenshot", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(shot["data"]))

    @property
    def complaints(self) -> list[str]:
        """Console errors and warnings, exceptions and the browser's own complaints."""
        said = []
        for event in self._own_events():
            params = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                said.append(str(params["exceptionDetails"].get("exception", params)))
            elif event["method"] == "Runtime.consoleAPICalled":
                if params["type"] in ("error", "warning", "assert"):
                    said.append(str(params["args"]))
            elif event["method"] == "Log.entryAdded":
                said.append(str(params["entry"]))
        return said

    @property
    def requests(self) -> list[str]:
        """Addresses the page asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self._own_events()
            if event["method"] == "Network.requestWillBeSent"
        ]

    def accessible(self) -> list[dict[str, Any]]:
        """What a screen reader is told: the nodes of the accessibility tree."""
        nodes: list[dict[str, Any]] = self._call("Accessibility.getFullAXTree")["nodes"]
        return nodes

    def close(self) -> None:
        """Closes it."""
        self._browser.call("Target.closeTarget", targetId=self._target)

    def _own_events(self) -> list[Mapping[str, Any]]:
        return [event for event in self._browser.events if event.get("sessionId") == self._session]

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **params)
