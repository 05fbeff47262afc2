"""The settings of a server: a TOML file, read with messages that name file, key and cure."""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgdash.errors import KgdashError
from kgdash.files.cache_folder import cache_directory
from kgdash.files.text import decode_text, read_content
from kgdash.files.user_data import data_folder
from kgdash.files.visitor import RIGHTS
from kgdash.serving.secrets import Secrets, read_secrets, read_token
from kgdash.serving.table import Table

#: the environment variable that names a server's settings to the process that serves
SETTING = "KGDASH_SERVER"

#: the names of this machine, which are always answered
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")

#: stands in a list of people for everybody who may open the dashboard
EVERYBODY = "*"

#: before the name of a group in a list of people
GROUP = "group:"

_MAX_BYTES = 2**20
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")


@dataclass(frozen=True)
class UploadLimits:
    """What visitors may hand in.

    ``mib`` of one file, ``files`` of one visit, ``total_mib`` of all visits together, all kept in
    memory; ``rows`` of a table, ``label_length`` of a name, in characters.
    """

    mib: int = 64
    files: int = 32
    total_mib: int = 2048
    rows: int = 1_000_000
    label_length: int = 1_000


@dataclass(frozen=True)
class LogIn:
    """Log-in by OpenID Connect: the provider's secrets, what says who it is, and for how long.

    ``user_claim`` and ``group_claim`` name entries of the identity token. An e-mail address that
    the provider does not call verified counts only with ``unverified_email``. After ``hours`` one
    logs in again.
    """

    secrets: Secrets
    user_claim: str = "email"
    group_claim: str = "groups"
    unverified_email: bool = False
    hours: int = 12


@dataclass(frozen=True)
class ServerSettings:
    """How a server listens, and what its visitors may do; by default it serves this machine alone.

    ``hosts``: the names it is reached by. ``roots``: real folders below which paths may lead, None
    for everything. ``who``: "open" and keys of `RIGHTS` -> people, by the user claim, `GROUP` with
    a group, or `EVERYBODY`. ``memory``: as ``KGDASH_MEMORY``, "" for what that says. ``workers``:
    processes for what takes long, 0 for none where nobody logs in. ``cluster``: that counts for
    these, as `kgdash.runs.cluster.Cluster` has it, "" for none. ``monitor``: the token of who reads
    the counters, "" for nobody.
    """

    address: str = "localhost"
    port: int = 8501
    hosts: tuple[str, ...] = LOCAL_HOSTS
    roots: tuple[Path, ...] | None = None
    login: LogIn | None = None
    who: Mapping[str, frozenset[str]] = field(default_factory=dict)
    limits: UploadLimits = UploadLimits()
    memory: str = ""
    monitor: str = field(default="", repr=False)
    workers: int = 1
    cluster: str = ""

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return set(self.hosts) <= set(LOCAL_HOSTS) and is_local_address(self.address)


def read_settings(path: Path) -> ServerSettings:
    """Read a server's settings; relative paths in it are meant from its folder.

    :raises KgdashError: naming file, key and cure: what is unknown, malformed or missing, serves
        others without log-in, or opens the folders where the server keeps its own
    """
    path = Path(os.path.abspath(path))
    text = decode_text(read_content(path, str(path), _MAX_BYTES), str(path))
    try:
        table = Table(tomllib.loads(text), str(path))
    except (ValueError, RecursionError) as error:  # of TOML, or a number of too many digits
        raise KgdashError(f"{path} is not valid TOML: {error}") from error
    login_table, who, limits = table.table("login"), table.table("who"), table.table("limits")
    login = None if login_table is None else _login(login_table, path)
    settings = ServerSettings(
        address=table.text("address", ServerSettings.address),
        port=table.whole("port", ServerSettings.port, 1, 65535),
        hosts=_hosts(table),
        roots=_roots(table, path, login),
        login=login,
        who=_who(who, table, login),
        limits=_limits(limits),
        memory=table.text("memory", ""),
        monitor=read_token(path.parent / table.text("monitor")) if table.has("monitor") else "",
        # A thread's memory has no bound: with log-in somebody else may ask for it.
        workers=table.whole("workers", ServerSettings.workers, 0 if login is None else 1, 64),
        cluster=table.text("cluster", ""),
    )
    for part in (table, login_table, who, limits):
        if part is not None:
            part.end()
    _check_whole(settings, table)
    return settings


def plain_case(name: str) -> str:
    """Return a name in small letters if all are ASCII: others may look alike, or become alike."""
    return name.lower() if name.isascii() else name


def is_local_address(address: str) -> bool:
    """Tell whether an address to listen at is this machine's own alone."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _hosts(table: Table) -> tuple[str, ...]:
    hosts = [host.lower().rstrip(".") for host in table.texts("hosts")]
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise table.wrong(
                "hosts", f"names as in an address, such as kgdash.example.org; found {host!r}"
            )
    return tuple(dict.fromkeys([*LOCAL_HOSTS, *hosts]))


def _roots(table: Table, path: Path, login: LogIn | None) -> tuple[Path, ...] | None:
    if not table.has("roots"):
        return None if login is None else ()
    kept = {"the data": data_folder(), "the cache": cache_directory(), "these settings": path}
    if login is not None:
        kept["the secrets"] = login.secrets.path
    if table.has("monitor"):
        kept["the monitor's token"] = path.parent / table.text("monitor")
    roots: list[Path] = []
    for text in table.texts("roots"):
        if not os.path.isdir(path.parent / text):
            raise table.wrong("roots", f"folders that are there; found {text!r:.200}")
        named = Path(os.path.abspath(path.parent / text))
        real = Path(os.path.realpath(named))
        for what, place in kept.items():
            own = Path(os.path.realpath(place))
            if own.is_relative_to(real) or (own.is_dir() and real.is_relative_to(own)):
                raise table.wrong(
                    "roots", f"folders apart from {what} of the server, {place}; found {text!r}"
                )
        roots += [real, named]
    return tuple(dict.fromkeys(roots))


def _login(table: Table, path: Path) -> LogIn:
    return LogIn(
        secrets=read_secrets(path.parent / table.text("secrets")),
        user_claim=table.text("user_claim", LogIn.user_claim),
        group_claim=table.text("group_claim", LogIn.group_claim),
        unverified_email=table.flag("unverified_email", LogIn.unverified_email),
        hours=table.whole("hours", LogIn.hours, 1, 24 * 30),
    )


def _who(who: Table | None, table: Table, login: LogIn | None) -> dict[str, frozenset[str]]:
    if login is None:
        if who is not None:
            raise table.wrong("who", "[login], too: without log-in nobody can be told from others")
        return {}
    if who is None or not who.has("open"):
        raise table.wrong("who", 'open = […]: who may open the dashboard, such as "group:lab"')
    people = {}
    for key in ("open", *RIGHTS):
        names = who.texts(key)
        if any(not name.strip() or name == GROUP for name in names):
            raise who.wrong(key, f'names, "{GROUP}NAME" or "{EVERYBODY}"; found an empty one')
        for name in names:
            if plain_case(name).startswith(GROUP) and not name.startswith(GROUP):
                raise who.wrong(key, f'"{GROUP}NAME" in small letters; found {name!r}')
        people[key] = frozenset(n if n.startswith(GROUP) else plain_case(n) for n in names)
    return people


def _limits(table: Table | None) -> UploadLimits:
    if table is None:
        return UploadLimits()
    names = {"mib": 4096, "files": 1000, "total_mib": 2**20, "rows": 10**9, "label_length": 10**6}
    return UploadLimits(
        **{
            name: table.whole(name, getattr(UploadLimits, name), 1, most)
            for name, most in names.items()
        }
    )


def _check_whole(settings: ServerSettings, table: Table) -> None:
    """Refuse what does not go together."""
    if settings.login is None:
        if not settings.is_local:
            key = "address" if set(settings.hosts) <= set(LOCAL_HOSTS) else "hosts"
            raise table.wrong(
                key, "[login], too: without log-in only this machine is served, see docs/serving.md"
            )
        return
    host = settings.login.secrets.host
    if host not in settings.hosts:
        raise table.wrong(
            "hosts", f"the name that redirect_uri of the secrets has, {host}, among others"
        )


def settings_of_process() -> ServerSettings | None:
    """Return the settings that ``$KGDASH_SERVER`` names, or None where none are.

    :raises KgdashError: as `read_settings`
    """
    named: Any = os.environ.get(SETTING)
    return read_settings(Path(named)) if named else None
