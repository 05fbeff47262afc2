"""Take the pictures that the docs show anew: ``python scripts/make_images.py [OUT]``.

Needs requirements-dev.txt and a Chromium, as the browser tests do.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent

#: file -> address, and what has to be there before the picture is taken
PICTURES = {
    "overview.png": ("", ".st-key-overview_map .main-svg"),
}


def wait_for(port: int, seconds: float = 60) -> None:
    """Wait until the server answers.

    :raises OSError: if it does not within so many seconds
    """
    end = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=5).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def main() -> None:
    """Serve the app with an empty cache and take each picture at 1440 × 900."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    with socket.socket() as free, tempfile.TemporaryDirectory() as folder:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
        free.close()
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "streamlit", "run", "app.py"),
                *("--server.port", str(port), "--server.headless", "true"),
            ],
            cwd=ROOT,
            env=os.environ
            | {"KGDASH_CACHE": folder, "KGDASH_DATA": folder, "KGDASH_PREPARE": "off"},
        )
        try:
            with sync_playwright() as playwright:
                executable = os.environ.get("KGDASH_CHROMIUM") or shutil.which("chromium")
                chromium = playwright.chromium.launch(
                    executable_path=executable, args=["--no-sandbox", "--disable-gpu"]
                )
                tab = chromium.new_page(viewport={"width": 1440, "height": 900})
                tab.set_default_timeout(90_000)
                wait_for(port)
                for name, (address, awaited) in PICTURES.items():
                    tab.goto(f"http://localhost:{port}/{address}")
                    tab.locator(awaited).first.wait_for()
                    tab.wait_for_load_state("networkidle")
                    tab.screenshot(path=str(out / name))
                chromium.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
