"""All readers that are fuzzed, by name; one more goes to the list of its module."""

from tests.fuzz.reader import Reader
from tests.fuzz.readers import (
    addresses,
    arrays,
    embeddings,
    graphs,
    instances,
    models,
    own_files,
    trust,
)

_MODULES = (graphs, instances, models, arrays, embeddings, own_files, trust, addresses)

READERS: dict[str, Reader] = {
    reader.name: reader for module in _MODULES for reader in module.READERS
}
