"""Whom a file's and a folder's rights let change what a path leads to."""

import errno
import os
from types import SimpleNamespace

import pytest

from kgdash.files import others as module
from kgdash.files.others import is_private, others_may_change, others_may_make

if os.name != "nt":
    import grp
    import pwd

unix = pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
by_root = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="root gives folders away")


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "above" / "kernels"
    made.mkdir(parents=True)
    made.parent.chmod(0o755)
    made.chmod(0o755)
    return made


def test_one_s_own_is(folder, monkeypatch):
    assert is_private(folder)
    monkeypatch.chdir(folder.parent)
    assert is_private("kernels")
    assert not is_private(folder / "none")


@unix
@pytest.mark.parametrize(
    ("mode", "above", "private"),
    [
        (0o777, 0o755, False),
        (0o1777, 0o755, False),
        (0o755, 0o777, False),
        (0o700, 0o700, True),
        (0o775, 0o775, True),  # of one's own group
    ],
)
def test_by_modes(folder, mode, above, private):
    folder.chmod(mode)
    folder.parent.chmod(above)
    assert is_private(folder) == private


@unix
def test_a_list_of_who_may_write_is_looked_at(folder, monkeypatch):
    """Its mask stands in the group's place, and the group may be one's own."""
    folder.chmod(0o775)
    monkeypatch.setattr(
        module.os, "listxattr", lambda path: ["system.posix_acl_access"], raising=False
    )
    assert not is_private(folder)
    folder.chmod(0o755)
    assert is_private(folder)


@unix
@pytest.mark.parametrize(("number", "private"), [(errno.ENOTSUP, True), (errno.EIO, False)])
def test_a_disk_without_lists_of_who_may_write_has_none(folder, monkeypatch, number, private):
    def listxattr(path):
        raise OSError(number, "")

    folder.chmod(0o775)
    monkeypatch.setattr(module.os, "listxattr", listxattr, raising=False)
    assert is_private(folder) == private
    assert others_may_make(folder / "new") != private


@by_root
def test_another_account_s_and_what_they_may_rename_is_not(folder):
    """Another account's folder above had one's own exchanged for theirs."""
    os.chown(folder, 12345, 12345)
    assert not is_private(folder)
    os.chown(folder, 0, 0)
    assert is_private(folder)
    os.chown(folder.parent, 12345, 12345)
    assert not is_private(folder)


@by_root
def test_another_group_s_is_not(folder):
    folder.chmod(0o775)
    assert is_private(folder)
    os.chown(folder, 0, 12345)
    assert not is_private(folder)


@by_root
def test_a_sticky_one_above_is_root_s(folder):
    folder.parent.chmod(0o1777)
    assert is_private(folder)
    os.chown(folder.parent, 12345, 12345)
    assert not is_private(folder)


@unix
@pytest.mark.parametrize(
    ("groups", "first", "private"),
    [
        ({"me": []}, ["me"], True),
        ({"me": ["me"]}, ["me"], True),
        ({"me": ["other"]}, ["me"], False),
        ({"me": []}, ["me", "other"], False),
        ({"me": [], "friends": ["other"]}, ["me"], False),  # two names of one number
        ({"all": []}, ["me"], False),
        ({}, ["me"], False),  # of another machine
        ({"me": []}, [], False),
    ],
)
def test_a_group_of_others_is_not_one_s_own(folder, monkeypatch, groups, first, private):
    """Members of one's primary group laid a link to what is theirs."""
    folder.chmod(0o775)
    number = folder.stat().st_gid
    known = [SimpleNamespace(gr_name=n, gr_mem=m, gr_gid=number) for n, m in groups.items()]
    user = {"me": os.geteuid(), "other": 12345}
    accounts = [SimpleNamespace(pw_name=n, pw_gid=number, pw_uid=user[n]) for n in first]
    monkeypatch.setattr(grp, "getgrall", lambda: known)
    monkeypatch.setattr(pwd, "getpwall", lambda: accounts)
    assert is_private(folder) == private


@by_root
def test_links_of_others_and_in_their_folders_are_not(folder, tmp_path):
    """A link that led to what is one's own, while that was looked at, led elsewhere afterwards."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "link").symlink_to(folder)
    (tmp_path / "far").symlink_to("theirs/../theirs/link")
    assert is_private(theirs / "link")
    assert is_private(tmp_path / "far")
    os.chown(theirs / "link", 12345, 12345, follow_symlinks=False)
    assert not is_private(theirs / "link")
    assert not is_private(tmp_path / "far")
    os.chown(theirs / "link", 0, 0, follow_symlinks=False)
    theirs.chmod(0o777)
    assert not is_private(theirs / "link")
    assert not is_private(tmp_path / "far")


@unix
def test_a_link_to_itself(tmp_path):
    (tmp_path / "link").symlink_to("link")
    assert not is_private(tmp_path / "link")
    with pytest.raises(OSError, match="symbolic links"):
        others_may_change(tmp_path / "link")


@unix
def test_what_a_link_leads_to_counts(folder, tmp_path):
    """A link in a folder of another account's led root to `/var/tmp`, which is root's."""
    (tmp_path / "link").symlink_to(folder)
    assert is_private(tmp_path / "link")
    folder.chmod(0o1777)
    assert not is_private(tmp_path / "link")


@unix
def test_what_is_not_there_is_made_by_who_may_write_above(folder, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(folder / "none")
    monkeypatch.chdir(folder)
    wanted = ["none", folder / "none", folder / "none" / "x.yaml", tmp_path / "link" / "x.yaml"]
    assert [others_may_make(path) for path in [folder, *wanted]] == [False] * 5
    folder.chmod(0o1777)
    assert [others_may_make(path) for path in [folder, *wanted]] == [True] * 5


@by_root
def test_another_account_s_link_to_nothing(folder):
    (folder / "link").symlink_to("none")
    assert not others_may_make(folder / "link" / "x.yaml")
    os.chown(folder / "link", 12345, 12345, follow_symlinks=False)
    assert others_may_make(folder / "link" / "x.yaml")
