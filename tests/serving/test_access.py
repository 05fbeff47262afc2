"""Whom the provider's words let in, and what they may."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.files.visitor import RIGHTS
from kgdash.serving import access
from kgdash.serving.access import admitted, end_log_in
from kgdash.serving.secrets import Secrets
from kgdash.serving.settings import LogIn, ServerSettings, UploadLimits

NOW = 1_800_000_000.0
LOGIN = LogIn(Secrets(Path("/s"), "https://kg.example.org/oauth2callback"), hours=2)
NOBODY_MAY = dict.fromkeys(RIGHTS, frozenset())
SETTINGS = ServerSettings(
    hosts=("kg.example.org",),
    roots=(Path("/srv/runs"),),
    login=LOGIN,
    who=NOBODY_MAY
    | {
        "open": frozenset({"ada@example.org", "group:lab"}),
        "clear": frozenset({"group:admins"}),
        "train": frozenset({"*"}),
    },
    limits=UploadLimits(rows=7, label_length=9),
)
ADA = {
    "iss": "https://id.example.org",
    "sub": "1",
    "email": "ada@example.org",
    "email_verified": True,
    "iat": NOW - 60,
}


def let_in(settings: ServerSettings = SETTINGS, **changed):
    claims = {key: value for key, value in (ADA | changed).items() if value is not None}
    return admitted(claims, settings, NOW)


def test_who_is_named_gets_what_is_theirs():
    ada = let_in()
    assert ada.name == "ada@example.org"
    assert ada.roots == (Path("/srv/runs"),)
    assert ada.rights == {"train"}
    assert (ada.most_rows, ada.longest_label) == (7, 9)
    assert len(ada.folder) == 32
    assert let_in(email="ADA@Example.org").folder == ada.folder


def test_groups_let_in_and_give_rights():
    assert let_in(email="bob@example.org", groups=["lab"]).rights == {"train"}
    assert let_in(groups=["admins"]).rights == {"train", "clear"}
    assert let_in(groups="admins").rights == {"train", "clear"}
    assert let_in(email="bob@example.org", groups=["admins"]) is None


def test_a_folder_is_the_identitys():
    """An address that passes on to somebody else takes nothing with it."""
    folders = {let_in(sub="1").folder, let_in(sub="2").folder, let_in(iss="https://b").folder}
    assert len(folders) == 3
    assert let_in(iss="a b", sub="c").folder != let_in(iss="a", sub="b c").folder
    assert let_in(sub="\ud800").folder != let_in(sub="\ud801").folder  # was a traceback


@pytest.mark.parametrize(
    "changed",
    [
        {"email": "eve@example.org"},
        {"email": None},
        {"email": ["ada@example.org"]},
        {"email_verified": None},
        {"email_verified": False},
        {"email_verified": "true"},
        {"sub": None},
        {"sub": ""},
        {"sub": 1},
        {"iat": None},
        {"iat": NOW - 2 * 3600},
        {"iat": NOW + 3600},
        {"iat": "now"},
        {"iat": True},
        {"iat": float("nan")},
        {"email": "eve@example.org", "groups": "LAB"},
        {"email": "eve@example.org", "groups": {"lab": 1}},
        {"email": "eve@example.org", "groups": [["lab"]]},
        {"email": "eve@example.org", "groups": "*"},
        {"email": "*"},
        {"email": "group:lab"},
        {"email": "ada@example.org "},
        {"email": "ada@example.org\u200b"},
        {"email": "\u212a@example.org"},
    ],
)
def test_who_is_not_let_in(changed):
    assert let_in(**changed) is None


def test_names_are_never_groups():
    chosen = replace(SETTINGS, login=replace(LOGIN, user_claim="preferred_username"))
    for name in ("group:admins", "Group:admins", "GROUP:ADMINS"):
        assert let_in(chosen, preferred_username=name, groups=["lab"]) is None
    assert let_in(chosen, preferred_username="bob", groups=["lab"]).name == "bob"


def test_unverified_addresses_count_where_it_is_said():
    trusting = replace(SETTINGS, login=replace(LOGIN, unverified_email=True))
    assert let_in(trusting, email_verified=None) is not None


def test_everybody_is_whom_the_provider_lets_in():
    everybody = replace(SETTINGS, who=NOBODY_MAY | {"open": frozenset({"*"})})
    assert let_in(everybody, email="eve@example.org").rights == frozenset()
    assert let_in(everybody, email_verified=False) is None


def test_without_log_in_there_is_one_person():
    who = admitted({}, ServerSettings(roots=(Path("/srv"),)))
    assert (who.name, who.folder, who.roots) == ("", "", (Path("/srv"),))
    assert who.rights == set(RIGHTS)


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*ADA, "groups"]), _JSON))
def test_no_words_of_a_provider_break_it(changed):
    who = let_in(**changed)
    assert who is None or who.name.lower() == "ada@example.org" or "lab" in changed["groups"]


def test_a_log_in_that_was_ended_counts_no_more(monkeypatch):
    ended: set = set()
    monkeypatch.setattr(access, "_ended", ended)
    monkeypatch.setattr("time.time", lambda: NOW)
    end_log_in(ADA, SETTINGS)
    assert let_in() is None
    assert let_in(iat=NOW - 1), "a new one does"
    assert let_in(sub="2"), "others' do"
    for nothing in ({}, ADA | {"email": "eve@example.org"}, ADA | {"iat": "x"}):
        end_log_in(nothing, SETTINGS)
    end_log_in(ADA, ServerSettings())
    assert len(ended) == 1
    monkeypatch.setattr("time.time", lambda: NOW + 2 * 3600)
    end_log_in(ADA | {"iat": NOW + 3600}, SETTINGS)
    assert len(ended) == 1, "those that are too old by themselves are forgotten"
