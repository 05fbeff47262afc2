"""Who was let in lately, told by the cookie of a log-in before a request is taken apart.

It opens nothing: whether a log-in still counts is asked behind. Here it is told in whose line a
request waits, at no more than a stranger's is worth.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict

from kgdash.serving.heads import end_of

_COOKIES = re.compile(rb"\ncookie:[ \t]*([^\r\n]*)", re.IGNORECASE)

#: the cookie of Streamlit's log-in, in one piece or several
_LOG_IN = re.compile(rb"(?<![^; ])_streamlit_user[^=; ]*=([^; ]*)")

#: log-ins that are remembered, of some 200 bytes each
_MOST = 2**12

#: digest of the cookie -> whose it is, the latest last
_owners = OrderedDict[bytes, str]()


def note_log_in(cookies: bytes, owner: str) -> None:
    """Remember whose log-in it was that came in some cookies.

    :param cookies: as a browser sends them
    :param owner: their folder; "" if they were not let in
    """
    key = _key(cookies)
    _owners.pop(key, None)
    if owner and key:
        _owners[key] = owner
        while len(_owners) > _MOST:
            _owners.popitem(last=False)


def whose_log_in(head: bytes) -> str:
    """Return who was let in by the cookies of a request; "" of a stranger.

    :param head: all of it; what came behind is of no matter
    """
    return _owners.get(_key(b"; ".join(_COOKIES.findall(head, 0, end_of(head)))), "")


def _key(cookies: bytes) -> bytes:
    found = b"; ".join(_LOG_IN.findall(cookies))
    return hashlib.sha256(found).digest() if found else b""
