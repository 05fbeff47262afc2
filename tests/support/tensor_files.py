"""Files of safetensors as a stranger may write them."""


def listing(count: int, shape: str = "0") -> bytes:
    """Return a file of so many tensors without numbers."""
    each = '"data_offsets":[0,0]}'
    header = ",".join(f'"{n}":{{"dtype":"U8","shape":[{shape}],{each}' for n in range(count))
    return (len(header) + 2).to_bytes(8, "little") + f"{{{header}}}".encode()
