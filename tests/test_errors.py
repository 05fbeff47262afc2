"""Messages can be printed and shown, whatever they quote."""

import pickle
from contextlib import suppress

import pytest

from kgdash.errors import InterruptedWork, KgdashError, OwnLineFull, UnknownName, unknown_name


def test_long_messages_keep_both_ends():
    text = str(unknown_name("entity", "x" * 100_000, ["a", "b"], "graph umls"))
    assert len(text) < 2_100
    assert text.startswith("unknown entity 'xxx")
    assert text.endswith("in graph umls (a, b)")


def test_halves_of_characters_are_written_visibly():
    error = KgdashError("a \ud800 in \U0001f600 (x.json, line 3)")
    assert str(error) == "a \\ud800 in \U0001f600 (x.json, line 3)"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_suggestion_is_looked_for_among_names_that_are_few_or_short():
    names = [f"entity {number:05}" for number in range(5_000)]
    assert "did you mean 'entity 00012'" in str(unknown_name("entity", "Entity 00012", names, "g"))
    long = [f"{number:05}{'ab' * 500}" for number in range(2_000)]
    assert "did you mean" not in str(unknown_name("entity", "x" + long[7], long, "g"))


def test_names_are_compared_once_the_message_is_read():
    """A thousand unknown names took minutes, though nobody read a word of it."""
    asked = []
    error = UnknownName("entity", "Berlim", lambda: asked.append(1) or ["Berlin"], "graph g")
    with suppress(KgdashError):
        raise error
    assert not asked
    expected = "unknown entity 'Berlim' in graph g (Berlin); did you mean 'Berlin'?"
    assert str(pickle.loads(pickle.dumps(error))) == str(error) == expected
    assert len(asked) == 1


def test_a_refusal_is_raised_again_without_what_raised_it():
    def refused(error):
        with pytest.raises(type(error)) as raised:
            raise error
        return raised.value

    for error in (
        KgdashError("expected this"),
        InterruptedWork("The process", -9, "start it again"),
        OwnLineFull("too many", "ada"),
        unknown_name("entity", "vrus", ["virus"] * 9, "graph umls"),
    ):
        former = refused(error)
        again = former.again()
        assert type(again) is type(error)
        assert (str(again), again.__dict__) == (str(error), error.__dict__)
        assert former.__traceback__ is not None
        assert again.__traceback__ is None
