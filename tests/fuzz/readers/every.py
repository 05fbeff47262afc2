"""All readers that are fuzzed, by name; one more goes to the list of its module."""

from tests.fuzz.reader import Reader
from tests.fuzz.readers import addresses, arrays, graphs, instances, models, own_files, trust

READERS: dict[str, Reader] = {
    reader.name: reader
    for module in (graphs, instances, models, arrays, own_files, trust, addresses)
    for reader in module.READERS
}
