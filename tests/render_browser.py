"""A real browser without a driver: Chromium, headless, spoken to over two pipes in its own DevTools protocol."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

PATIENCE = 60


def find() -> str:
    """The browser's path; where there is none a failure in CI and a skip elsewhere."""
    if os.name != "posix":
        pytest.skip("the browser is driven over POSIX pipes")
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    message = "needs a browser: install Debian's package chromium"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def _high(descriptor: int) -> int:
    """The same pipe end above 9, out of the way of the two descriptors that the browser expects, 3 and 4."""
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return high


class Browser:
    """One headless browser with one page."""

    def __init__(self, profile: Path) -> None:
        reads, ours = map(_high, os.pipe())
        theirs, writes = map(_high, os.pipe())
        flags = (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--remote-debugging-pipe",
            "--window-size=1280,1100",
        )

        def place() -> None:
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self._process = subprocess.Popen(
            [find(), *flags, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=place,  # noqa: PLW1509 two dup2 and nothing else
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(reads)
        os.close(writes)
        self._out, self._in = os.fdopen(ours, "wb", buffering=0), os.fdopen(theirs, "rb", buffering=0)
        self._number, self._rest = 0, b""
        self.events: list[dict[str, Any]] = []
        self._session = ""
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], PATIENCE)
            more = self._in.read(65536) if ready else b""
            if not more:
                msg = "the browser has gone" if ready else f"the browser has said nothing for {PATIENCE} seconds"
                raise RuntimeError(msg)
            self._rest += more
        text, self._rest = self._rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol; what happens meanwhile is kept in `events`."""
        self._number += 1
        command: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        self._out.write(json.dumps(command).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            if "method" in message:
                self.events.append(message)

    def open(self, url: str) -> None:
        """Load a page and wait until it is there."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            message = self._message()
            if "method" in message:
                self.events.append(message)

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, key: str) -> None:
        """A key pressed and released, as from the keyboard."""
        text = {"text": key} if len(key) == 1 else {}
        codes = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34, " ": 32}
        code = codes.get(key, ord(key.upper()) if len(key) == 1 else 0)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def click(self, selector: str, *, x: float = 0.5, y: float = 0.5) -> None:
        """A click of the mouse on an element, at a part of its width and height."""
        found = f"document.querySelector({json.dumps(selector)})"
        at = f"(() => {{ const e = {found}; e.scrollIntoView({{block: 'center'}}); const b = e.getBoundingClientRect();"
        left, top = self.evaluate(f"{at} return [b.left + b.width * {x}, b.top + b.height * {y}]; }})()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=left, y=top, button="left", clickCount=1)

    def problems(self) -> list[dict[str, Any]]:
        """Errors of scripts, complaints of the browser, and requests that are neither the page itself nor data."""
        bad = []
        for event in self.events:
            if event["method"] in {"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"}:
                bad.append(event)
            elif event["method"] == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                if not url.startswith(("data:", "file:")) or event["params"]["type"] != "Document":
                    bad.append(event)
        return bad

    def close(self) -> None:
        """End the browser that was started here."""
        self._out.close()  # it ends when nobody speaks to it
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._in.close()
