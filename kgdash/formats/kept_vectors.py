"""Vectors that PyKEEN kept in a model's file, and scores by: compared with what its weights make.

Machines differ in the last bits of sums, so that numbers are compared to a part of themselves. What
tells entities apart may be less than that, so the ranks of triples are compared, too.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pykeen.nn.message_passing import Decomposition

from kgdash.errors import KgdashError
from kgdash.files.memory import memory_budget
from kgdash.formats.pykeen_model_file import PickledModel
from kgdash.formats.torch_archive import damage_refused
from kgdash.graph import KnowledgeGraph
from kgdash.scoring.build_model import build_model
from kgdash.scoring.pykeen_scorer import PyKEENScorer

#: by which part of a number, and of its column's median, it may be another
_SAME = 1e-3

#: by how much a reciprocal rank may be another, on average: rounding turns what is nearly tied
_TURNED = 0.005

#: triples that are drawn of each split, and of all there may be: fewer where scoring them takes
#: long, as many as so many numbers of all entities' vectors
_FEWEST, _MOST, _NUMBERS = 32, 500, 2**26


def check_kept(pickled: PickledModel, graph: KnowledgeGraph, path: Path) -> None:
    """Refuse vectors that PyKEEN kept, and scores by, if they are not what the weights make.

    It takes what it takes to score by the model, of RGCN `memory_budget` at most: all entities'
    vectors once per relation, and a copy, for each layer.

    :param graph: that the model was trained on, of whose triples some are ranked by both
    :param path: the model's file
    :raises KgdashError: if they are others, or that is too much
    """
    if not pickled.kept:
        return
    state = pickled.state
    edges = [t.shape[-1] for n, t in state.items() if n.endswith((".edge_type", ".edge_types"))]
    triples = np.zeros((max(edges, default=1), 3), dtype=np.int64)
    sizes = (pickled.num_entities, pickled.num_relations)
    rebuilt = build_model(pickled.spec, triples, *sizes, state, str(path))
    _check_size(rebuilt, path)
    with damage_refused(path), torch.no_grad():
        for part in (*rebuilt.entity_representations, *rebuilt.relation_representations):
            part(None)
        vectors = [each.numel() for found in pickled.kept.values() for each in found]
        fit = _NUMBERS // max(4 * pickled.num_entities, *vectors)
        drawn = list(_draw(graph, max(_FEWEST, min(_MOST, fit))))
        made = _reciprocal_ranks(rebuilt, drawn, graph)
        is_same = _take(rebuilt, pickled.kept)
        if is_same:
            turned = (_reciprocal_ranks(rebuilt, drawn, graph) - made).abs().mean(dim=-1)
            is_same = bool((turned <= _TURNED).all())
    if not is_same:
        names = ", ".join(map(".".join, pickled.kept))
        raise KgdashError(
            f"{path}: PyKEEN scores by {names}, which is not what the weights make; call the "
            "model's post_parameter_update() and save it again"
        )


def _check_size(model: Any, path: Path) -> None:
    layers = [each for each in model.modules() if isinstance(each, Decomposition)]
    width = max((each.input_dim for each in layers), default=0)
    # Two layers have four, edges and their inverses; more of them take longer.
    bytes_ = 2 * width * model.num_entities * model.num_relations * max(4, len(layers))
    if bytes_ > memory_budget():
        raise KgdashError(
            f"{path}: to compare the vectors that PyKEEN kept with the weights takes {bytes_:,} "
            "bytes: set KGDASH_MEMORY to more, or call the model's post_parameter_update() and "
            "save it again"
        )


def _take(model: Any, kept: Mapping[tuple[str, str], tuple[torch.Tensor, ...]]) -> bool:
    """Give a model kept vectors in place of those that it made; tell whether they are alike."""
    parts, taken = list(model.named_modules(remove_duplicate=False)), dict[Any, Any]()
    for (path, name), found in kept.items():
        module = model.get_submodule(path)
        made = getattr(module, name, None)
        several = made if isinstance(made, tuple) else (made,)
        # Entities and relations may be made by one module, which the file may have twice.
        is_whole = all((place, name) in kept for place, each in parts if each is module)
        is_one = all(map(torch.equal, found, taken.setdefault((module, name), found)))
        is_alike = len(several) == len(found) and all(map(_agree, found, several))
        if not (is_whole and is_one and is_alike):
            return False
        setattr(module, name, found if isinstance(made, tuple) else found[0])
    return True


def _agree(found: torch.Tensor, own: torch.Tensor) -> bool:
    """Tell whether vectors are the same but for rounding, however large one of them is."""
    size = own.abs()
    usual = size.where(size > 0, torch.nan).nanmedian(dim=0).values.nan_to_num()
    same = found.shape == own.shape
    return same and bool(((found - own).abs() <= _SAME * (size + usual)).all())


def _draw(graph: KnowledgeGraph, count: int) -> Iterator[torch.Tensor]:
    """Draw triples of each split, and any: others each time, so that no file's author knows them.

    :return: as many each time, ``(count, 3)``
    """
    generator = np.random.default_rng()
    for known in graph.splits.values():
        if len(known):
            yield torch.from_numpy(known[generator.integers(len(known), size=count)])
    sizes = (graph.num_entities, graph.num_relations, graph.num_entities)
    yield torch.from_numpy(generator.integers(sizes, size=(count, 3)))


def _reciprocal_ranks(model: Any, drawn: list[torch.Tensor], graph: KnowledgeGraph) -> torch.Tensor:
    """Return 1 / rank, realistic, of tails and heads, raw and filtered: ``(4 · lists, count)``."""
    scorer, known, found = PyKEENScorer(model), graph.known(), list[torch.Tensor]()
    for triples in drawn:
        for side, scores, answers in (
            ("tail", scorer.score_tails(triples[:, :2]), triples[:, 2:]),
            ("head", scorer.score_heads(triples[:, 1:]), triples[:, :1]),
        ):
            own = scores.gather(1, answers)
            found.append(2 / ((scores > own).sum(1) + (scores >= own).sum(1) + 1))
            queries, others = map(torch.from_numpy, known.known_answers(triples.numpy(), side))
            scores = scores.index_put((queries, others), scores.new_tensor(-torch.inf))
            # The answer is a known one, or not; it counts once.
            ties = (scores == own).sum(1) - (scores.gather(1, answers) == own).sum(1)
            found.append(2 / (2 * (scores > own).sum(1) + ties + 2))
    return torch.stack(found)
