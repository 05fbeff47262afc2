"""Settings and secrets of servers, as files."""

from pathlib import Path

SECRETS = {
    "redirect_uri": "https://kg.example.org/oauth2callback",
    "cookie_secret": "3f1c0d9a8b7e6f5a4c3b2d1e0f9a8b7c",
    "client_id": "kgdash",
    "client_secret": "s3cret-of-the-client",
    "server_metadata_url": "https://id.example.org/.well-known/openid-configuration",
}


def write_secrets(path: Path, **changed: str | None) -> Path:
    """Write a file of secrets that is accepted, but for what is changed; None leaves out."""
    values = {key: value for key, value in (SECRETS | changed).items() if value is not None}
    path.write_text("[auth]\n" + "".join(f'{key} = "{value}"\n' for key, value in values.items()))
    path.chmod(0o600)
    return path


def write_settings(folder: Path, text: str = "", login: str = "", who: str = "", **secrets) -> Path:
    """Write settings with log-in for ``ada@example.org`` and the group lab, with more at places."""
    write_secrets(folder / "secrets.toml", **secrets)
    path = folder / "server.toml"
    path.write_text(
        f'hosts = ["kg.example.org"]\n{text}\n[login]\nsecrets = "secrets.toml"\n{login}\n'
        f'[who]\nopen = ["Ada@example.org", "group:lab"]\n{who}\n'
    )
    return path
