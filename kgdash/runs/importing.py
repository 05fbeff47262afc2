"""Embeddings of other libraries, and plain arrays, as runs."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np
import pandas as pd
import torch

from kgdash.errors import KgdashError, check_name
from kgdash.files.bounded_reading import bounded_reading
from kgdash.formats.embeddings.ampligraph import read_ampligraph
from kgdash.formats.embeddings.arrays import read_arrays
from kgdash.formats.embeddings.dglke import read_dglke
from kgdash.formats.embeddings.embedding import Embedding, Source, fit_to
from kgdash.formats.embeddings.graphvite import read_graphvite
from kgdash.formats.embeddings.interactions import COMPLEX, interaction_name
from kgdash.formats.embeddings.libkge import read_libkge
from kgdash.formats.embeddings.matrices import check_finite, single_precision
from kgdash.formats.embeddings.name_lists import check_distinct, check_length, rows_of
from kgdash.formats.embeddings.openke import read_openke
from kgdash.formats.embeddings.options import Options, interaction_and_norm
from kgdash.formats.embeddings.parts import Parts
from kgdash.formats.embeddings.pbg import read_pbg
from kgdash.formats.embeddings.torchkge import read_torchkge
from kgdash.formats.embeddings.word2vec import read_word2vec
from kgdash.formats.run_directory import check_free, write_run
from kgdash.graph import KnowledgeGraph
from kgdash.graph.datasets import load_dataset
from kgdash.runs.loading import assemble, trained_on
from kgdash.runs.run import Run
from kgdash.scoring.callable_scorer import CallableScorer, ScoreFunction
from kgdash.scoring.model_spec import ModelSpec

#: by name: reads a folder or file of a library's
READERS: dict[str, Callable[[Path, Options], Embedding]] = {
    "arrays": read_arrays,
    "word2vec": read_word2vec,
    "dglke": read_dglke,
    "torchkge": read_torchkge,
    "openke": read_openke,
    "libkge": read_libkge,
    "pbg": read_pbg,
    "graphvite": read_graphvite,
    "ampligraph": read_ampligraph,
}

#: a name per row, and the rows
Named = tuple[
    Sequence[str] | Mapping[str, int] | pd.Series, np.ndarray | torch.Tensor | pd.DataFrame
]


#: formats of vectors alone, of which users tell all else
_PLAIN = ("arrays", "word2vec")

#: formats whose files hold the names
_NAMED = ("word2vec", "graphvite", "ampligraph")

#: of formats, interactions that are read as others: see each reader
_READ_AS = {
    ("ampligraph", "HolE"): "ComplEx",
    ("graphvite", "SimplE"): "CP",
    ("openke", "SimplE"): "DistMult",
}

#: options of `run_from_arrays` that a function takes
_OF_FUNCTIONS = ("drop_unknown", "name")


class ArrayOptions(TypedDict, total=False):
    """Of `run_from_arrays`, all optional.

    ``layout``: "halves" (default) or "interleaved"; ``norm``: 1 or 2; ``core`` of TuckER: (entity,
    relation, entity); ``drop_unknown``: leave out rows of names that the dataset lacks; ``name`` of
    the run.
    """

    layout: str
    norm: int
    core: np.ndarray
    drop_unknown: bool
    name: str


def import_embedding(
    source: Path,
    out: Path,
    form: str,
    dataset: str | None,
    options: Options,
    drop_unknown: bool = False,
) -> Run:
    """Write the run of an embedding that another library made (the command ``import``).

    :param source: folder or file
    :param form: one of `READERS`
    :param dataset: PyKEEN name or folder of the triples that it was made of
    :param drop_unknown: leave out rows of names that no training triple of the dataset holds
    :return: the run, as it was before it was written
    :raises KgdashError: if anything is refused; nothing is written then
    """
    check_name("format", form, list(READERS), "import")
    if dataset is None:
        raise KgdashError(
            f"vectors do not say what they were trained on: give the dataset of {source}, by "
            "PyKEEN name or by folder (--dataset umls)"
        )
    check_free(out)
    try:
        with bounded_reading(source):
            embedding = READERS[form](source, options)
        _check_taken(source, form, options, embedding)
        graph = load_dataset(dataset)
        spec, state, notes = fit_to(embedding, graph, drop_unknown)
    except MemoryError as error:
        raise KgdashError(
            f"the vectors of {source} do not fit into memory ({error!s:.120}); look at the sizes "
            "of its files, or import it on a larger machine"
        ) from error
    provenance = {
        "form": f"imported from {form}",
        "imported_from": source.name or source.resolve().name,
        "interaction": embedding.interaction,
        "dataset": trained_on(graph, dataset),
        "notes": list(notes),
    }
    training = {"reported": dict(embedding.reported)} if embedding.reported else {}
    run = assemble(source.name, graph, spec, state, training, provenance)
    write_run(out, graph, spec, state, training, provenance)
    return run


def _check_taken(source: Path, form: str, options: Options, embedding: Embedding) -> None:
    """Refuse options that the files contradict, or that have no meaning for them."""
    of, said, norm = embedding.interaction, options.interaction, None
    if said:
        name, norm = interaction_name(said)
        if of not in (name, _READ_AS.get((form, name))):
            raise KgdashError(f"{source} is of {of}: leave out --interaction {said}")
    for each in (norm, options.norm):
        if each not in (None, embedding.parts.norm):
            found = embedding.parts.norm or "none"
            raise KgdashError(f"{source}: {of} by norm {each} was asked for; it has {found}")
    is_plain = form in _PLAIN
    if options.unit is not None and not is_plain and (form, of) != ("openke", "TransE"):
        raise KgdashError(f"{source}: --unit and --no-unit have no meaning for {of} of {form}")
    if options.unit is False and of == "cosine":
        raise KgdashError(f"{source}: cosine is of vectors of length 1: leave out --no-unit")
    if options.layout not in (None, "halves") and not (is_plain and of in COMPLEX):
        raise KgdashError(f"{source}: --layout has no meaning for {of} of {form}")
    if options.names and form in _NAMED:
        raise KgdashError(f"{source}: {form} holds its names: leave out --names")


def run_from_arrays(
    entities: Named,
    relations: Named | None,
    interaction: str | ScoreFunction,
    dataset: str | Path | KnowledgeGraph,
    **options: Unpack[ArrayOptions],
) -> Run:
    """Make a run of vectors at hand; it is kept in memory and not written.

    >>> run = kgdash.run_from_arrays((names, vectors), (kinds, others), "DistMult", "umls")

    :param entities: a name per row, or the row of each name (PyKEEN's ``entity_to_id``), and the
        rows: floats or complex numbers, ``(n, …)``, an array, a tensor or a DataFrame
    :param relations: likewise; None for dot and cosine
    :param interaction: a name as of ``kgdash import --from arrays``, or a function of the vectors
        of heads, relations and tails, torch tensors whose leading dimensions broadcast, that
        returns scores, higher for what is more plausible
    :param dataset: PyKEEN name, folder, or a graph; rows are put into its order by name
    :param options: as `ArrayOptions`; a function takes ``drop_unknown`` and ``name`` only
    :raises KgdashError: if names do not match the dataset's, shapes not the interaction's, an
        option is not one that is taken, or numbers are not finite
    """
    known = set(ArrayOptions.__annotations__ if isinstance(interaction, str) else _OF_FUNCTIONS)
    if unknown := sorted(set(options) - known):
        kind = "an interaction by name" if isinstance(interaction, str) else "a function"
        raise KgdashError(
            f"{kind} does not take {', '.join(unknown):.80}; it takes {', '.join(sorted(known))}"
        )
    graph = dataset if isinstance(dataset, KnowledgeGraph) else load_dataset(dataset)
    names = _in_order(entities[0]), _in_order(relations[0] if relations else ())
    _check_index(entities, names[0], "entities")
    if relations:
        _check_index(relations, names[1], "relations")
    vectors = [
        None if given is None else single_precision(_array(given[1]), kind)
        for kind, given in (("entities", entities), ("relations", relations))
    ]
    assert vectors[0] is not None
    drop_unknown, name = options.get("drop_unknown", False), options.get("name", "arrays")
    provenance = {"form": "made of arrays", "notes": []}
    if not isinstance(interaction, str):
        found = _fitted(names, vectors, graph, drop_unknown)
        return _called(interaction, found, graph, name)
    called, norm = interaction_and_norm(interaction, options.get("norm"))
    core = options.get("core")
    parts = Parts(
        vectors[0],
        vectors[1],
        None if core is None else single_precision(_array(core), "core"),
        options.get("layout"),
        norm,
    )
    embedding = Embedding(called, *names, parts, Source("arrays"))
    spec, state, notes = fit_to(embedding, graph, drop_unknown)
    return assemble(name, graph, spec, state, {}, provenance | {"notes": list(notes)})


def _in_order(names: Sequence[str] | Mapping[str, int] | pd.Series) -> tuple[str, ...]:
    """Return names in the order of their rows."""
    if isinstance(names, Set):
        raise KgdashError("expected names in the order of their rows; found a set, which has none")
    if not isinstance(names, Mapping):
        return tuple(names)
    found = tuple(sorted(names, key=names.__getitem__))
    if [names[name] for name in found] != list(range(len(found))):
        raise KgdashError("expected the rows of names to be 0, 1, 2, … without gaps")
    return found


def _check_index(given: Named, names: Sequence[str], kind: str) -> None:
    """Refuse what pandas would put into another order: names or rows whose index says so."""
    indexed = [each.index for each in given if isinstance(each, pd.Series | pd.DataFrame)]
    if len(indexed) == 2 and indexed[0].equals(indexed[1]):
        return
    for index in indexed:
        if not index.equals(pd.RangeIndex(len(index))) and not index.equals(pd.Index(names)):
            raise KgdashError(
                f"{kind}: the index of a Series or DataFrame is neither 0, 1, 2, … nor the names "
                "in the order given: give list(names) and frame.to_numpy() in one order"
            )


def _array(values: np.ndarray | torch.Tensor | pd.DataFrame) -> np.ndarray:
    if np.ma.is_masked(values):
        raise KgdashError("the vectors are masked in part: fill them, or leave out these rows")
    if not isinstance(values, torch.Tensor):
        return np.asarray(values)
    values = values.detach().cpu().resolve_conj().resolve_neg()
    return (values.float() if values.dtype == torch.bfloat16 else values).numpy()


def _fitted(
    names: tuple[tuple[str, ...], tuple[str, ...]],
    vectors: list[np.ndarray | None],
    graph: KnowledgeGraph,
    drop_unknown: bool,
) -> tuple[list[torch.Tensor], list[str]]:
    """Put rows into a graph's order; notes for the user."""
    tensors, notes = [], []
    for kind, own, values, wanted in zip(
        ("entities", "relations"), names, vectors, (graph.entities, graph.relations), strict=True
    ):
        if values is None:
            raise KgdashError(f"a function of your own takes vectors of {kind}; found none")
        check_length(own, len(values), f"the list of {kind}", kind)
        check_distinct(own, f"{kind}, row")
        check_finite(values, own, kind)
        rows, more = rows_of(kind, own, wanted, kind, drop_unknown)
        tensors.append(torch.from_numpy(np.ascontiguousarray(values[rows])))
        notes += more
    return tensors, notes


def _called(
    score: ScoreFunction,
    found: tuple[list[torch.Tensor], list[str]],
    graph: KnowledgeGraph,
    name: str,
) -> Run:
    tensors, notes = found
    # Nothing tells two functions apart for sure: what is computed is found again by this run alone.
    digest = hashlib.sha256(uuid.uuid4().bytes).hexdigest()
    called = getattr(score, "__name__", type(score).__name__)
    return Run(
        name=name,
        graph=graph,
        scorer=CallableScorer(score, *tensors),
        spec=ModelSpec(called, {}),
        weights_digest=digest,
        provenance={"form": "made of arrays and a function", "notes": notes},
        notes=tuple(notes),
    )
