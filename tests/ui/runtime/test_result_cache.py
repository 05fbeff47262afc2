"""What pages computed lately: the newest stay, and sessions do not disturb one another."""

from concurrent.futures import ThreadPoolExecutor

from kgdash.ui.runtime.result_cache import _ENTRIES, Memory


def test_gives_back_the_very_object_and_nothing_for_unknown_keys():
    memory, value = Memory(), [1, 2]
    memory.put(("digest", 1), value)
    assert memory.get(("digest", 1)) is value
    assert memory.get(("digest", 2)) is None


def test_a_key_holds_its_latest_value():
    memory = Memory()
    memory.put("key", "old")
    memory.put("key", "new")
    assert memory.get("key") == "new"


def test_drops_what_was_put_first_when_full():
    memory = Memory()
    for number in range(_ENTRIES + 3):
        memory.put(number, str(number))
    kept = [number for number in range(_ENTRIES + 3) if memory.get(number)]
    assert kept == list(range(3, _ENTRIES + 3))


def test_asking_and_putting_again_both_keep_an_entry():
    memory = Memory()
    for number in range(_ENTRIES):
        memory.put(number, str(number))
    memory.get(0)
    memory.put(1, "again")
    memory.put("one more", "x")
    memory.put("two more", "x")
    assert (memory.get(0), memory.get(1)) == ("0", "again")
    assert memory.get(2) is None
    assert memory.get(3) is None


def test_asking_for_what_is_not_there_keeps_nothing():
    memory = Memory()
    for number in range(10 * _ENTRIES):
        memory.get(number)
    assert not memory._values


def test_many_threads_at_once():
    memory = Memory()

    def work(thread: int) -> list[object]:
        wrong: list[object] = []
        for number in range(2000):
            key = (thread * number) % (2 * _ENTRIES)
            found = memory.get(key)
            if found not in (None, key * 7):
                wrong.append(found)
            memory.put(key, key * 7)
        return wrong

    with ThreadPoolExecutor(8) as threads:
        assert not [found for wrong in threads.map(work, range(1, 9)) for found in wrong]
    assert len(memory._values) == _ENTRIES
