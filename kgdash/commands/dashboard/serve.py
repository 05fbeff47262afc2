"""``kgdash serve``: the dashboard for others, as a file of settings allows."""

import os
import socket
from pathlib import Path
from typing import Annotated

import typer

from kgdash.commands.dashboard.open import free_port, hold_loopback, run_dashboard
from kgdash.errors import KgdashError
from kgdash.files.atomic import make_folder
from kgdash.files.user_data import VISITORS, data_folder
from kgdash.serving.settings import LOCAL_HOSTS, SETTING, ServerSettings, read_settings

#: of what the fields of a page hold together, files apart
_MOST_MB = 1


def serve(
    settings: Annotated[
        Path | None,
        typer.Argument(help="A TOML file, see docs/serving.md. Default: for this machine alone."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only read the file and say what it allows.")
    ] = False,
) -> None:
    """Serve the dashboard: to others behind a log-in as a file says, else to this machine."""
    found = read_settings(settings) if settings else ServerSettings(port=free_port(None))
    if found.cluster:
        _check_cluster(found.cluster, settings)
    print("\n".join(described(found)), flush=True)
    if check:
        return
    if settings is not None:
        check_free(found, settings)
        os.environ[SETTING] = os.path.abspath(settings)
    else:
        os.environ.pop(SETTING, None)
    if found.login is not None:
        # Other accounts of this machine read none of what visitors keep.
        make_folder(data_folder() / VISITORS)
        (data_folder() / VISITORS).chmod(0o700)
    if found.memory:
        os.environ["KGDASH_MEMORY"] = found.memory
    os.environ["KGDASH_WORKERS"] = str(found.workers)
    if found.cluster:
        os.environ["KGDASH_CLUSTER"] = found.cluster
    # Of a socket for both, an address of IPv4 is one of IPv6, too.
    os.environ.setdefault("FORWARDED_ALLOW_IPS", "127.0.0.1,::1,::ffff:127.0.0.1")
    from kgdash.serving.reading import read_unhurriedly  # takes a second

    read_unhurriedly(_MOST_MB * 10**6, found.login is not None)
    run_dashboard(streamlit_settings(found))


def _check_cluster(address: str, shown: Path | None) -> None:
    from kgdash.runs.cluster import Cluster

    try:
        Cluster(address)
    except KgdashError as error:
        raise KgdashError(f"{shown}: cluster: {error}") from error


def check_free(settings: ServerSettings, shown: Path) -> None:
    """Refuse an address and port where nothing can listen, or somebody else does as localhost.

    :param shown: the file of the settings
    :raises KgdashError: saying why
    """
    family = socket.AF_INET6 if ":" in settings.address else socket.AF_INET
    try:
        socket.create_server((settings.address, settings.port), family=family).close()
    except OSError as error:
        raise KgdashError(
            f"can not listen at {settings.address}, port {settings.port}: "
            f"{error.strerror or error}; change address or port in {shown}"
        ) from error
    hold_loopback(settings.address, settings.port)


def described(settings: ServerSettings) -> list[str]:
    """Say in lines what a server's settings allow."""
    lines = [
        f"listens at {settings.address}, port {settings.port}",
        f"answers to {', '.join(settings.hosts)}",
    ]
    if settings.roots is None:
        lines.append("opens any path that this process can read")
    else:
        lines.append(f"opens paths below {', '.join(map(str, settings.roots)) or 'no folder'}")
    if settings.cluster:
        lines.append(f"has what takes long counted by {settings.cluster}")
    if settings.login is None:
        return [*lines, "asks for no log-in: only this machine is served"]
    lines.append(f"asks for log-in at {settings.login.secrets.origin}")
    if settings.login.secrets.host in LOCAL_HOSTS:
        lines.append(
            "is for trying: at localhost, servers at all ports read the cookie of a log-in"
        )
    lines += [
        f"may {right}: {', '.join(sorted(people)) or 'nobody'}"
        for right, people in settings.who.items()
    ]
    return lines


def streamlit_settings(settings: ServerSettings) -> dict[str, object]:
    """Return the settings of Streamlit, those that guard it whatever files and variables say."""
    limits = settings.limits
    found: dict[str, object] = {
        "server.address": settings.address,
        "server.port": settings.port,
        "server.allowedHosts": settings.hosts,
        "server.maxUploadSize": limits.mib,
        "server.maxWidgetStateSize": _MOST_MB,
        "server.enableXsrfProtection": "true",
        "server.enableCORS": "true",
        "server.trustedUserHeaders": "{}",
        "server.enableStaticServing": "false",
        "server.enableAgentApi": "false",
        "global.developmentMode": "false",
        "client.showErrorDetails": "none",
        "client.toolbarMode": "minimal",
        "browser.gatherUsageStats": "false",
    }
    if settings.login is not None:
        secrets = settings.login.secrets
        found |= {"browser.serverAddress": secrets.host, "secrets.files": secrets.path}
    return found
