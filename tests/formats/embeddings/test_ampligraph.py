"""Folders that AmpliGraph 2.2.0 wrote, with the scores that its models gave (``written``)."""

import json
import pickle
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.ampligraph import read_ampligraph
from kgdash.formats.embeddings.options import Options
from kgdash.runs.importing import import_embedding

WRITTEN = Path(__file__).parent / "written"
SCORES = json.loads((WRITTEN / "ampligraph-scores.json").read_text())


def folder_of(model, tmp_path):
    return copytree(WRITTEN / f"ampligraph-{model}", tmp_path / model)


@pytest.mark.parametrize("model", ["TransE", "DistMult", "ComplEx", "HolE", "RotatE"])
def test_scores_are_its_own(model, tmp_path):
    folder = folder_of(model, tmp_path)
    run = import_embedding(folder, tmp_path / "out", "ampligraph", "nations", Options())
    entities, relations = (
        {name: number for number, name in enumerate(names)}
        for names in (run.graph.entities, run.graph.relations)
    )
    rows = [(entities[h], relations[r], entities[t]) for h, r, t in SCORES["triples"]]
    found = run.scorer.score_triples(torch.tensor(rows)).numpy()
    np.testing.assert_allclose(found, SCORES[model], atol=2e-6)


def test_a_model_without_its_configuration_has_to_be_named(tmp_path):
    folder = folder_of("HolE", tmp_path)
    named = read_ampligraph(folder, Options())
    (folder / "keras_metadata.pb").unlink()
    with pytest.raises(KgdashError, match="give --interaction, one of TransE, DistMult, ComplEx"):
        read_ampligraph(folder, Options())
    found = read_ampligraph(folder, Options("hole"))
    np.testing.assert_array_equal(found.parts.relations, named.parts.relations)


def metadata(**changes):
    def change(folder):
        path = folder / "DistMult_metadata.ampkl"
        said = pickle.loads(path.read_bytes()) | changes
        path.write_bytes(pickle.dumps(said, 4))

    return change


def configuration(old, new):
    def change(folder):
        path = folder / "keras_metadata.pb"
        data = path.read_bytes()
        assert old in data
        path.write_bytes(data.replace(old, new))

    return change


def appended(path, content):
    path.write_bytes(path.read_bytes() + content)


def described(configuration, place=b"\x1a\x04root"):
    node = place + b"\x2a" + length(configuration) + configuration
    return b"\x0a" + length(node) + node


def length(content):
    return bytes([len(content) >> shift & 127 | 128 for shift in (0, 7, 14)]) + bytes(
        [len(content) >> 21]
    )


def renamed(folder):
    (folder / "DistMult_metadata.ampkl").rename(folder / "DistMult.pkl")


def checkpoint(name, old, new):
    def change(folder):
        path = folder / "variables" / name
        data = path.read_bytes()
        assert old in data
        path.write_bytes(data.replace(old, new))

    return change


NUMBERS = "variables.data-00000-of-00001"


REFUSED = {
    "no names": (renamed, r"expected one file \*_metadata.ampkl; found none"),
    "partitions": (metadata(is_partitioned_training=True), "partitioned training is not read"),
    "names in a database beside it": (
        metadata(backend="sqlite", db_file="names.db"),
        "names in a database are not read; expected what AmpliGraph 2 writes",
    ),
    "names in a database": (
        metadata(entities_dict="shelf.db"),
        "expected names by their numbers 0, 1, 2, … as entities_dict; expected what AmpliGraph 2",
    ),
    "numbers that are missing": (
        metadata(relations_dict={0: "a", 2: "b"}),
        "expected names by their numbers 0, 1, 2, … as relations_dict",
    ),
    "names that are none": (metadata(entities_dict={0: 1}), "expected text as names in entities"),
    "more names than rows": (
        metadata(entities_dict=dict(enumerate("abcdefghijklmno")), reversed_entities_dict=None),
        r"ent_emb: 15 names, but shape \(14, 3\)",
    ),
    "names in another order": (
        metadata(entities_dict=dict(enumerate("abcdefghijklmn"))),
        "entities_dict and reversed_entities_dict differ; save the model again",
    ),
    # These numbers were not looked at.
    "k of other vectors": (
        metadata(k=400),
        r"_metadata.ampkl: k 400 tells of 400 columns of ent_emb",
    ),
    "more relations": (metadata(max_rel_size=56), "max_rel_size 56 tells of 56 rows of rel_emb"),
    "a size that is none": (
        metadata(max_ent_size="14"),
        "expected a number as max_ent_size; found",
    ),
    "k of another configuration": (
        configuration(b'"k": 3, "scoring_type"', b'"k": 4, "scoring_type"'),
        "keras_metadata.pb: k 4 tells of 4 columns of ent_emb; found 3",
    ),
    "another object": (metadata(path=Path("x")), r"refused: pathlib.*PosixPath; expected what"),
    "a list": (
        lambda p: (p / "DistMult_metadata.ampkl").write_bytes(pickle.dumps([1])),
        "expected a dict; expected what AmpliGraph 2 writes",
    ),
    "Random": (
        configuration(b'"scoring_type": "DistMult"', b'"scoring_type": "RandomXY"'),
        "'RandomXY' is not read; expected TransE, DistMult",
    ),
    "a configuration without it": (
        configuration(b'"scoring_type"', b'"scoring_kind"'),
        "keras_metadata.pb is damaged",
    ),
    "a second configuration": (
        # Keras takes the last of a number, and scored as TransE what was read as DistMult.
        lambda p: appended(p / "keras_metadata.pb", described(b'{"config": {}}')),
        "keras_metadata.pb is damaged .a node that stands twice",
    ),
    "a configuration elsewhere": (
        lambda p: appended(p / "keras_metadata.pb", described(b"{}", b"\x10\x00\x1a\x01x")),
        "a node that stands twice, or by another number",
    ),
    "a path that stands twice in a node": (
        lambda p: appended(p / "keras_metadata.pb", described(b"{}", b"\x1a\x01y\x1a\x01z")),
        "field 3 of a message twice",
    ),
    "a configuration of lists": (
        # 16 MiB held Python for seconds.
        lambda p: (p / "keras_metadata.pb").write_bytes(described(b"[%s0]" % (b"[]," * 2**19))),
        "keras_metadata.pb is damaged .more than 262,144 objects, lists or numbers",
    ),
    "a configuration cut short": (
        lambda p: (p / "keras_metadata.pb").write_bytes(b"\x0a\xff\x01abc"),
        "keras_metadata.pb is damaged",
    ),
    "no vectors": (
        lambda p: (p / "variables" / "variables.index").unlink(),
        "can not read .*variables.index: No such file",
    ),
    "a graph without them": (
        checkpoint(NUMBERS, b"ent_emb", b"tne_emb"),
        "variables.index does not say where ent_emb is",
    ),
    # TensorFlow finds an array by whichever of its names it meets first.
    "another array": (
        checkpoint(NUMBERS, b"variables/0/", b"variables/1/"),
        "variables/0/.ATTRIBUTES/VARIABLE_VALUE is another array than ent_emb and rel_emb",
    ),
    "as many entities as relations": (
        checkpoint("variables.index", b"\x12\x02\x08\x0e", b"\x12\x02\x08\x37"),
        "ent_emb and rel_emb have the same shape",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, tmp_path):
    change, message = REFUSED[name]
    folder = folder_of("DistMult", tmp_path)
    change(folder)
    with pytest.raises(KgdashError, match=message):
        read_ampligraph(folder, Options())
