"""From what the provider says of somebody to what they may do."""

import hashlib
import time
from collections.abc import Mapping
from typing import Any

from kgdash.files.visitor import RIGHTS, Visitor
from kgdash.serving.settings import EVERYBODY, GROUP, LogIn, ServerSettings, plain_case

#: seconds that the provider's clock may be ahead
_SKEW = 300

#: log-ins that were ended here: issuer, subject, and when the token was made
_ended: set[tuple[str, str, float]] = set()


def admitted(
    claims: Mapping[str, Any], settings: ServerSettings, now: float | None = None
) -> Visitor | None:
    """Return who it is, or None if they may not open the dashboard.

    :param claims: of an identity token whose signature was checked, by the provider's log-in
    :param now: seconds since 1970; by default the clock's
    """
    login = settings.login
    if login is None:
        return local_visitor(settings)
    name = _name(claims, login)
    subject = claims.get("sub")
    if not name or not isinstance(subject, str) or not subject or _is_old(claims, login, now):
        return None
    if _log_in(claims) in _ended:
        return None
    said = claims.get(login.group_claim)
    groups = said if isinstance(said, list) else [said]
    known = {plain_case(name), *(f"{GROUP}{group}" for group in groups if isinstance(group, str))}
    if not _is_among(known, settings.who.get("open", frozenset())):
        return None
    return Visitor(
        name=name,
        folder=_folder(str(claims.get("iss", "")), subject),
        roots=settings.roots or (),
        rights=frozenset(r for r in RIGHTS if _is_among(known, settings.who.get(r, frozenset()))),
        most_rows=settings.limits.rows,
        longest_label=settings.limits.label_length,
    )


def end_log_in(claims: Mapping[str, Any], settings: ServerSettings) -> None:
    """Have a log-in count no more, in whatever tab or copied cookie it is still.

    :param claims: as for `admitted`; of a log-in that may open nothing nothing is kept
    """
    if settings.login is None or admitted(claims, settings) is None:
        return
    oldest = time.time() - 3600 * settings.login.hours
    _ended.difference_update([each for each in _ended if each[2] < oldest])
    _ended.add(_log_in(claims))


def local_visitor(settings: ServerSettings) -> Visitor:
    """Return the one person that a server without log-in knows: whoever is at this machine."""
    return Visitor(
        roots=settings.roots,
        most_rows=settings.limits.rows,
        longest_label=settings.limits.label_length,
    )


def _name(claims: Mapping[str, Any], login: LogIn) -> str:
    name = claims.get(login.user_claim)
    # Nobody may choose a name that is read as a group's, in whatever case it is compared.
    if not isinstance(name, str) or plain_case(name).startswith(GROUP):
        return ""
    if login.user_claim == "email" and not login.unverified_email:
        return name if claims.get("email_verified") is True else ""
    return name


def _is_old(claims: Mapping[str, Any], login: LogIn, now: float | None) -> bool:
    """Tell whether they logged in too long ago, or nobody can say when."""
    issued, now = claims.get("iat"), time.time() if now is None else now
    if isinstance(issued, bool) or not isinstance(issued, int | float):
        return True
    return not now - 3600 * login.hours < issued < now + _SKEW


def _log_in(claims: Mapping[str, Any]) -> tuple[str, str, float]:
    return str(claims.get("iss", "")), str(claims["sub"]), float(claims["iat"])


def _is_among(known: set[str], people: frozenset[str]) -> bool:
    return EVERYBODY in people or bool(known & people)


def _folder(issuer: str, subject: str) -> str:
    """Name the folder of somebody's own things: of the identity, since addresses pass on."""
    who = f"{len(issuer)} {issuer} {subject}".encode(errors="surrogatepass")
    return hashlib.sha256(who).hexdigest()[:32]
