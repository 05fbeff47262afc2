"""When a page shows its title, first number and first chart, in a browser that nobody debugs.

    python benchmarks/first_figure.py [RUN] [--rounds N]      (default: fb15k-237-complex, 2)

A browser under the control of a test also keeps where each of Plotly's functions stands in its
source, which takes a second. Here an extension looks at the page from within and sends what it saw
to a small server; it opens page after page, each as a new document. The server of the dashboard has
a cache of its own, empty at first.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import measure
import pandas as pd
from load_server import Server

from kgdash.ui.runtime.navigation import MENU

#: seconds that a page is looked at
LOOK = 6

#: what is waited for
SEEN = {
    "title": "[data-testid=stMain] h1",
    "number": "[data-testid=stMain] [data-testid=stMetricValue]",
    "chart": "[data-testid=stMain] .main-svg, [data-testid=stMain] canvas",
}

_MANIFEST = {
    "manifest_version": 3,
    "name": "first figure",
    "version": "1",
    "background": {"service_worker": "send.js"},
    "host_permissions": ["http://localhost/*"],
    "content_scripts": [
        {"matches": ["http://localhost/*"], "js": ["look.js"], "run_at": "document_start"}
    ],
}

# A page's policy binds what its scripts may ask for, not what an extension's own worker may.
_LOOK = """const seen = {}, wanted = WANTED;
const look = () => { for (const name in wanted)
    if (!(name in seen) && document.querySelector(wanted[name]))
        seen[name] = performance.now() / 1000; };
new MutationObserver(look).observe(document, {subtree: true, childList: true});
setTimeout(() => chrome.runtime.sendMessage({path: location.pathname, seen},
    next => { location.href = next; }), LOOK * 1000);"""

_SEND = """chrome.runtime.onMessage.addListener((message, sender, answer) => {
    fetch("REPORT", {method: "POST", body: JSON.stringify(message)})
        .then(response => response.text()).then(answer);
    return true; });"""


def extension(folder: Path, report: str) -> None:
    """Write the extension."""
    look = _LOOK.replace("WANTED", json.dumps(SEEN)).replace("LOOK", str(LOOK))
    for name, text in {
        "manifest.json": json.dumps(_MANIFEST),
        "look.js": look,
        "send.js": _SEND.replace("REPORT", report),
    }.items():
        (folder / name).write_text(text)


def visit(addresses: list[str], folder: Path) -> list[dict[str, float | str]]:
    """Open one address after another; return what was seen of each."""
    reports: list[dict[str, float | str]] = []

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reports.append({"page": said["path"], **said["seen"]})
            self.send_response(200)
            self.end_headers()
            self.wfile.write(addresses[min(len(reports), len(addresses) - 1)].encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("localhost", 0), Listener) as listener:
        listener.timeout = 10 * LOOK
        (folder / "extension").mkdir()
        extension(folder / "extension", f"http://localhost:{listener.server_port}/")
        options = ["headless=new", "no-sandbox", "disable-gpu", "window-size=1440,900"]
        options += [f"user-data-dir={folder / 'profile'}", f"load-extension={folder / 'extension'}"]
        options += ["disable-features=DisableLoadExtensionCommandLineSwitch", "no-first-run"]
        browser = subprocess.Popen(
            [str(shutil.which("chromium")), *(f"--{each}" for each in options), addresses[0]],
            stderr=subprocess.DEVNULL,
        )
        try:
            while len(reports) < len(addresses):
                before = len(reports)
                listener.handle_request()
                if len(reports) == before:
                    raise SystemExit(f"nothing was heard of {addresses[before]}")
        finally:
            browser.terminate()
            browser.wait()
    return reports


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", nargs="?", default="fb15k-237-complex")
    parser.add_argument("--rounds", type=int, default=2)
    chosen = parser.parse_args()
    pages = [page for menu in MENU.values() for page in menu]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        server = Server(folder)
        try:
            server.wait()
            paths = ["" if page == "overview" else page for page in pages] * chosen.rounds
            # The first document fills the caches of the browser.
            asked = [f"{server.address}/{path}?run={chosen.run}" for path in ["", *paths]]
            reports = visit(asked, folder)
        finally:
            server.process.terminate()
            server.process.wait()
    print(measure.machine())
    table = pd.DataFrame(reports, columns=["page", *SEEN])
    table["page"] = [urlsplit(address).path[1:] or "overview" for address in asked]
    table["round"] = [0, *(1 + number // len(pages) for number in range(len(paths)))]
    print(table.round(2).to_string(index=False))
    warm = table[table["round"] == chosen.rounds][list(SEEN)]
    print(warm.quantile([0.5, 0.95, 1]).round(2).to_string())


if __name__ == "__main__":
    main()
