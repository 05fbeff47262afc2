"""What messages say of values of a pickle."""

from kgdash.formats.pickle_records import brief


def test_a_value_that_names_another_twice_is_described_in_a_few_characters():
    """Written whole, 30 levels of it are a gigabyte: 1.8 KB took minutes."""
    value = "x"
    for _ in range(60):
        value = [value, value]
    said = [brief(each) for each in (value, (value, value), {"a": value}, "y" * 2**20, 10**5000)]
    assert said == ["list", "(list, list)", "dict", said[3], "int"]
    assert len(said[3]) == 80
