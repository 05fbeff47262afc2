"""Messages of Protocol Buffers, as their fields' numbers and values."""

from collections.abc import Iterator

#: of a field: a number, or bytes (text, a message)
Value = int | bytes


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of up to 64 bits, seven in a byte; return it and where it ends.

    :raises ValueError: if it has no end
    """
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("a number without an end")


def fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """Go through a message: number and value of each field; fixed numbers come as bytes.

    :raises ValueError: if it is none
    """
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = varint(data, at)
            yield number, value
            continue
        if kind not in (1, 2, 5):
            raise ValueError("no message")
        size = 8 if kind == 1 else 4
        if kind == 2:
            size, at = varint(data, at)
        at += size
        if at > len(data):
            raise ValueError("a message that is cut short")
        yield number, data[at - size : at]


def once(data: bytes) -> dict[int, Value]:
    """Return the fields of a message that has each once: libraries merge what comes again.

    :raises ValueError: if it is none, or one comes again
    """
    found = dict[int, Value]()
    for number, value in fields(data):
        if number in found:
            raise ValueError(f"field {number} of a message twice")
        found[number] = value
    return found


def whole(value: Value) -> int:
    """Return a field's number, refusing bytes."""
    if not isinstance(value, int):
        raise ValueError("bytes where a number belongs")
    return value


def message(value: Value) -> bytes:
    """Return a field's bytes, refusing a number."""
    if not isinstance(value, bytes):
        raise ValueError("a number where bytes belong")
    return value
