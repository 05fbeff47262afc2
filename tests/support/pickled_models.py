"""PyKEEN's models, saved as it saves them, and archives like theirs."""

import pickle
import zipfile
from pathlib import Path

import pytest
import torch
from pykeen.datasets import Nations
from pykeen.models import Model, model_resolver

from kgdash.errors import KgdashError
from kgdash.formats.kept_vectors import check_kept
from kgdash.formats.pykeen_model_file import read_pickled_model
from kgdash.scoring.build_model import build_model

ENTITIES, RELATIONS, DIM = 14, 55, 12
FACTORIES = {inverse: Nations(create_inverse_triples=inverse).training for inverse in (False, True)}
TRAINING = FACTORIES[False].mapped_triples.numpy()


def make(name: str, inverse: bool = False, **kwargs) -> Model:
    """Build a model whose weights and running statistics are not those of its initialisation."""
    cls = model_resolver.lookup(name)
    if name != "FixedModel":
        kwargs = {"embedding_dim": DIM, **kwargs}
    model = cls(triples_factory=FACTORIES[inverse], random_seed=0, **kwargs)
    torch.manual_seed(0)
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            if tensor.is_floating_point():
                tensor.add_(torch.rand_like(tensor) * 0.1)
    return model.eval()


def save(model: object, path: Path, protocol: int = pickle.HIGHEST_PROTOCOL) -> Path:
    """Save as PipelineResult.save_model does."""
    torch.save(model, path, pickle_protocol=protocol)
    return path


def assert_same_scores(path: Path, model: Model) -> None:
    """Read a model, build it again, and compare all scores bit for bit."""
    found = read_pickled_model(path)
    check_kept(found, path)
    assert (found.num_entities, found.num_relations) == (ENTITIES, RELATIONS)
    rebuilt = build_model(found.spec, TRAINING, ENTITIES, RELATIONS, found.state, str(path))
    pairs = torch.cartesian_prod(torch.arange(ENTITIES), torch.arange(RELATIONS))
    with torch.no_grad():
        assert torch.equal(rebuilt.predict_t(pairs), model.predict_t(pairs))
        assert torch.equal(rebuilt.predict_h(pairs.flip(1)), model.predict_h(pairs.flip(1)))


def refusal(path: Path) -> str:
    """Return why a file is refused, which names it."""
    with pytest.raises(KgdashError) as caught:
        check_kept(read_pickled_model(path), path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def archive(path: Path, pickled: bytes, **entries: bytes) -> Path:
    """Write an archive as torch's, of a pickle and other entries."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("m/data.pkl", pickled)
        for name, data in entries.items():
            file.writestr(name, data)
    return path


def repack(source: Path, target: Path, change, compression: int = zipfile.ZIP_STORED) -> Path:
    """Copy an archive, passing each (name, data) through a function."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", compression) as new:
        for entry in old.infolist():
            renamed, data = change(entry.filename, old.read(entry))
            if renamed:
                new.writestr(renamed, data)
    return target
