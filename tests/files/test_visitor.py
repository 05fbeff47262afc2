"""Who this process works for."""

import threading

import pytest

from kgdash.errors import KgdashError
from kgdash.files.visitor import NOBODY, RIGHTS, Visitor, check_right, visitor, working_for


def test_at_this_machine_one_may_do_everything():
    assert visitor() == Visitor()
    for right in RIGHTS:
        check_right(right)


@pytest.mark.parametrize("right", RIGHTS)
def test_others_may_what_they_were_given(as_visitor, right):
    as_visitor(name="ada", rights=frozenset({right}))
    check_right(right)
    for other in set(RIGHTS) - {right}:
        with pytest.raises(KgdashError, match=f"you may not {RIGHTS[other]} here"):
            check_right(other)
    assert not any(map(NOBODY.may, RIGHTS))


def test_nobody_is_bounded_and_counts_as_one():
    assert (NOBODY.is_local, NOBODY.owner) == (False, "nobody")
    assert (NOBODY.most_rows, NOBODY.longest_label) == (0, 0)
    assert (Visitor().is_local, Visitor().owner) == (True, "")
    assert (Visitor(folder="ada").is_local, Visitor(folder="ada").owner) == (False, "ada")
    assert Visitor().unnamed() == Visitor()


def test_a_thread_may_work_for_somebody_for_a_while(as_visitor):
    as_visitor(name="ada")
    found = []
    with working_for(Visitor(name="bob")):
        assert visitor().name == "bob"
        other = threading.Thread(target=lambda: found.append(visitor().name))
        other.start()
        other.join()
    assert (found, visitor().name) == (["ada"], "ada")
