"""Reading a directory that PyKEEN's ``PipelineResult.save_to_directory`` wrote.

Only ``trained_model.pkl`` is a pickle that is read, by a reader that builds no class of the file's;
``training_triples/base.pth`` is never opened.
"""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.bounded_reading import reads
from kgdash.formats.kept_vectors import NOTE as KEPT
from kgdash.formats.pykeen_model_file import PickledModel, read_pickled_model
from kgdash.formats.pykeen_results import training_record
from kgdash.graph import SPLITS, KnowledgeGraph, triple_array
from kgdash.graph.datasets import load_dataset
from kgdash.graph.triple_files import read_rows

MODEL_FILE = "trained_model.pkl"

#: model whose scores differ between versions of PyKEEN for the same file
_TRANSH = "TransH"

#: names, and training triples that are compared: so many times the dataset's, or a few's
_MOST_TIMES, _FEW = 4, 10_000


@reads
def read_pykeen_directory(
    folder: Path, dataset: str | None
) -> tuple[KnowledgeGraph, PickledModel, dict[str, Any], tuple[str, ...]]:
    """Read model, graph and training record.

    :param folder: holds ``trained_model.pkl`` and, if saved, ``training_triples/``
    :param dataset: PyKEEN dataset name or folder that the model was trained on
    :return: graph, model, whose kept vectors are not compared, training record, notes for the user
    :raises KgdashError: if no dataset is given, names do not match, or a file is refused
    """
    if dataset is None:
        raise KgdashError(
            f"{folder} is a PyKEEN directory, which does not say what it was trained on: give the "
            "dataset, by PyKEEN name or by folder (--dataset umls)"
        )
    pickled = read_pickled_model(folder / MODEL_FILE)
    graph = load_dataset(dataset)
    vocabulary = _vocabulary(folder, graph)
    notes: list[str] = []
    if vocabulary is None:
        notes.append(
            "the directory has no training_triples/entity_to_id.tsv.gz: entities and relations are "
            "taken to be numbered in sorted order, as PyKEEN does by default"
        )
    else:
        _check_names("entities", vocabulary[0], graph.entities, folder, graph)
        _check_names("relations", vocabulary[1], graph.relations, folder, graph)
        if vocabulary != (tuple(graph.entities), tuple(graph.relations)):
            graph = load_dataset(dataset, vocabulary)
    notes += _compare_training(folder, graph, has_names=vocabulary is not None)
    training = training_record(folder)
    if pickled.kept:
        notes.append(KEPT)
    if pickled.spec.name == _TRANSH:
        notes.append(_of_two_versions(training.get("pykeen_evaluation", {})))
    return graph, pickled, training, tuple(notes)


def _of_two_versions(recorded: Mapping[str, float]) -> str:
    """Warn of a model that PyKEEN 1.10 and 1.11 score in two ways; no file tells which wrote it."""
    said = recorded.get("inverse_harmonic_mean_rank")
    found = "" if said is None else f": its results.json tells an MRR of {said:.3f}"
    return (
        f"PyKEEN takes the two vectors of a {_TRANSH} relation the other way round since 1.11, and "
        "kgdash scores as 1.11 does: if an older one trained this model, nothing that kgdash says "
        f"of it holds. Compare MRR, of test or else of validation, with what PyKEEN found{found}"
    )


def _vocabulary(
    folder: Path, graph: KnowledgeGraph
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    paths = [folder / "training_triples" / f"{k}_to_id.tsv.gz" for k in ("entity", "relation")]
    present = [path for path in paths if path.is_file()]
    if not present:
        return None
    if present != paths:
        (missing,) = set(paths) - set(present)
        raise KgdashError(
            f"{present[0]} has no {missing.name} beside it, and how the model numbers its names is "
            "in both: copy that from where the model was saved, or save its triples once more "
            "(PyKEEN's to_path_binary)"
        )
    return _names(paths[0], graph.num_entities), _names(paths[1], graph.num_relations)


def _names(path: Path, needed: int) -> tuple[str, ...]:
    """Read names by id, about as many as are needed: a packed file may hold millions."""
    names: dict[int, str] = {}
    for line, row in read_rows(path):
        if line == 1 and row[:2] == ["id", "label"]:
            continue
        if len(row) != 2 or not _is_id(row[0]):
            raise KgdashError(
                f"expected 2 columns id, label; found {', '.join(row)[:60]} ({path}, line {line})"
            )
        number = int(row[0])
        if number in names:
            raise KgdashError(f"id {number} stands twice ({path}, line {line})")
        names[number] = _unquoted(row[1])
        if len(names) > _MOST_TIMES * max(_FEW, needed):
            raise KgdashError(
                f"{path} holds over {len(names) - 1:,} names, the dataset {needed:,}; give the "
                "dataset that the model was trained on"
            )
    if sorted(names) != list(range(len(names))) or not names:
        raise KgdashError(f"{path}: expected ids 0, 1, 2, … without gaps")
    if len(set(names.values())) < len(names):
        ((twice, _),) = Counter(names.values()).most_common(1)
        raise KgdashError(
            f"{path}: {twice!r:.80} stands twice, blanks around names left out; rename one of them"
        )
    return tuple(names[i] for i in range(len(names)))


def _is_id(text: str) -> bool:
    return text.isdecimal() and len(text) < 19


def _unquoted(name: str) -> str:
    # pandas, with which PyKEEN writes, quotes a name that holds a quotation mark, and doubles it.
    quoted = len(name) > 1 and name[0] == name[-1] == '"'
    return name[1:-1].replace('""', '"') if quoted else name


def _check_names(
    kind: str, model: Sequence[str], own: Sequence[str], folder: Path, graph: KnowledgeGraph
) -> None:
    if set(model) == set(own):
        return
    differences = [
        f"{len(extra):,} only in {place} (such as {', '.join(map(repr, sorted(extra)[:3]))})"
        for place, extra in (("the model", set(model) - set(own)), ("it", set(own) - set(model)))
        if extra
    ]
    raise KgdashError(
        f"{folder} was trained on {len(model):,} {kind}, dataset {graph.name} has {len(own):,} in "
        f"its training triples: {'; '.join(differences)}. Give the dataset that it was trained on"
    )


def _compare_training(folder: Path, graph: KnowledgeGraph, has_names: bool) -> list[str]:
    """Say so if the model was trained on other triples than the dataset's training split.

    :raises KgdashError: if there are no names, and by the dataset's numbers some are none of it
    """
    path = folder / "training_triples" / "numeric_triples.tsv.gz"
    if not path.is_file():
        return []
    numbers, most = array("q"), _MOST_TIMES * max(_FEW, len(graph.known()))
    for line, row in read_rows(path):
        if line == 1 and row == ["head", "relation", "tail"]:
            continue
        if len(row) != 3 or not all(_is_id(column) for column in row):
            raise KgdashError(f"expected 3 ids; found {', '.join(row)[:60]} ({path}, line {line})")
        numbers.extend(map(int, row))
        if len(numbers) > 3 * most:
            raise KgdashError(
                f"{path} holds over {most:,} triples, dataset {graph.name} {len(graph.known()):,}; "
                "give the dataset that the model was trained on"
            )
    if not numbers:
        raise KgdashError(f"{path} holds no triples; remove it to load the model without the check")
    try:
        trained = triple_array(np.array(numbers, dtype=np.int64).reshape(-1, 3), graph)
    except KgdashError as error:
        raise KgdashError(f"{path}: {error}") from None
    if not has_names and not (found := graph.known().contains(trained)).all():
        raise KgdashError(
            f"{path}: with entities and relations in sorted order {int((~found).sum()):,} of "
            f"{len(trained):,} triples are none of dataset {graph.name}, so that they are numbered "
            "otherwise, or it is another: put entity_to_id.tsv.gz and relation_to_id.tsv.gz (id, "
            "label) beside it, as PyKEEN's TriplesFactory writes them"
        )
    inside = {s: int(graph.known((s,)).contains(trained).sum()) for s in SPLITS}
    if inside["train"] == len(trained) == len(graph.splits["train"]):
        return []
    return [
        f"the model was trained on {len(trained):,} triples, of which {inside['train']:,} are in "
        f"the dataset's training split ({len(graph.splits['train']):,} triples), "
        f"{inside['valid']:,} in valid and {inside['test']:,} in test; values on those flatter it"
    ]
