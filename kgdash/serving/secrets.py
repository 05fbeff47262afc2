"""The secrets of log-in: a file in Streamlit's form that nobody but its owner may read."""

import os
import re
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from kgdash.errors import KgdashError
from kgdash.files.text import decode_text, read_content
from kgdash.serving.table import Table

_MAX_BYTES = 2**20

#: characters that a secret has at least: 128 bits in hexadecimal
_LEAST = 32

#: what the header of a request may hold (RFC 6750)
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")

_CALLBACK = "/oauth2callback"
_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Secrets:
    """The file of the secrets, which only Streamlit takes out of it, and where visitors come."""

    path: Path
    redirect_uri: str

    @property
    def host(self) -> str:
        """The name that the dashboard is reached by."""
        return urlsplit(self.redirect_uri).hostname or ""

    @property
    def origin(self) -> str:
        """Scheme, name and port that the dashboard is reached by."""
        return self.redirect_uri.removesuffix(_CALLBACK)

    @property
    def is_encrypted(self) -> bool:
        """Whether visitors come by TLS."""
        return self.redirect_uri.startswith("https:")


def read_secrets(path: Path) -> Secrets:
    """Read and check the file that Streamlit takes the settings of ``st.login`` from.

    :raises KgdashError: naming file, key and cure: if others may read it; what is missing, unknown
        or malformed; a short cookie secret; addresses without TLS that are not this machine's
    """
    path = Path(os.path.abspath(path))
    text = _read_private(path)
    try:
        file = Table(tomllib.loads(text), str(path), shows=False)
    except (ValueError, RecursionError):
        # What stands there is not repeated: it may be a secret.
        raise KgdashError(f"{path} is not valid TOML") from None
    table = file.table("auth")
    if table is None:
        raise file.wrong("auth", "a table [auth] as st.login takes it, see docs/serving.md")
    file.end()
    redirect, metadata = table.text("redirect_uri"), table.text("server_metadata_url")
    table.text("client_id")
    table.text("client_secret")
    cookie = table.text("cookie_secret")
    table.table("client_kwargs")
    table.end()
    parts = urlsplit(redirect)
    if not redirect.endswith(_CALLBACK) or parts.path != _CALLBACK or parts.query:
        raise table.wrong("redirect_uri", f"https://HOST{_CALLBACK}; found {redirect!r}")
    for key, address in (("redirect_uri", redirect), ("server_metadata_url", metadata)):
        split = urlsplit(address)
        local = split.scheme == "http" and split.hostname in _LOCAL
        if not split.hostname or not (split.scheme == "https" or local):
            raise table.wrong(key, f"an address that begins with https://; found {address!r}")
    if len(cookie) < _LEAST or len(set(cookie)) < 8:
        raise table.wrong(
            "cookie_secret",
            f"at least {_LEAST} random characters, such as `openssl rand -hex 32` prints",
        )
    return Secrets(path, redirect)


def read_token(path: Path) -> str:
    """Read what a monitor proves itself with: a file of one line.

    :raises KgdashError: if others may read it; if it is short, or holds more
    """
    path = Path(os.path.abspath(path))
    token = _read_private(path).strip()
    if len(token) < _LEAST or len(set(token)) < 8 or not _TOKEN.fullmatch(token):
        raise KgdashError(
            f"{path}: expected at least {_LEAST} random characters on one line, such as "
            "`openssl rand -hex 32` prints"
        )
    return token


def _read_private(path: Path) -> str:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        raise KgdashError(f"can not read {path}: {error.strerror or error}") from error
    if mode & 0o077:
        raise KgdashError(f"others may read {path}, which holds secrets; chmod 600 {path}")
    return decode_text(read_content(path, str(path), _MAX_BYTES), str(path))
