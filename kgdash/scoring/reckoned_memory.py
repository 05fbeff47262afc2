"""What a call into a model would take of memory, found without data: shapes are reckoned, no more.

A few weights of a stranger's model may make large layers, whichever model it is.
"""

import copy
import math
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from pykeen.nn.message_passing import Decomposition
from pykeen.nn.representation import Embedding, Representation
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from kgdash.errors import KgdashError
from kgdash.files.memory import free_memory, memory_budget
from kgdash.files.visitor import visitor
from kgdash.scoring.without_data import without_data

#: where a model has its vectors
KINDS = ("entity_representations", "relation_representations")

#: loops that do not score all tails alone
_BY_NEGATIVES, _BOTH_SIDES = "SLCWATrainingLoop", "SymmetricLCWATrainingLoop"

#: how many times what is made to score training takes, which keeps it; and the memory budget that
#: a machine has which does not say, and that a run's own words may take
_KEPT, _HAS, _MAY = 2, 4, 2


def made_bytes(model: Any) -> int:
    """Return what is made at once to score: of all edges (CompGCN), or of all relations (RGCN).

    That is three vectors of each edge, or all entities' vectors once per relation and a copy. Two
    layers do it four times, for edges and their inverses; more of them take longer.
    """
    own = list(getattr(model, KINDS[0], ()))
    width = max((math.prod(each.shape) for each in own), default=0)
    edges = [t.shape[-1] for n, t in model.state_dict().items() if n.endswith(".edge_index")]
    looked_up = {id(m) for m in model.modules() if isinstance(m, Embedding)} | set(map(id, own))
    inner = [m for m in model.modules() if isinstance(m, Representation)]
    made = [m.max_id * math.prod(m.shape) for m in inner if id(m) not in looked_up]
    layers = [m for m in model.modules() if isinstance(m, Decomposition)]
    stacked = max((m.num_relations * m.input_dim for m in layers), default=0) * model.num_entities
    along = 3 * max(edges, default=0) * width + max(made, default=0)
    return 4 * along + 2 * stacked * max(4, len(layers))


def check_made(model: Any, where: str) -> None:
    """Refuse few weights, and many edges or relations, of which scoring would fill the memory.

    :raises KgdashError: if that takes more than `memory_budget`, or half of it for visitors
    """
    found, most = made_bytes(model), memory_budget() // (1 if visitor().is_local else 2)
    if found > most:
        raise KgdashError(
            f"{where}: to score takes {found:,} bytes for what is made of all edges or relations "
            f"at once; expected {most:,} at most: set KGDASH_MEMORY to more if you trust it, or "
            "take fewer dimensions"
        )


def shadows(model: Any) -> list[Any]:
    """Return a copy of a model without data, and the same with vectors that are looked up, no more.

    Some representations look at data, as those that pass messages do.

    :return: nothing where a model can not be copied
    """
    try:
        tensors = [*model.parameters(), *model.buffers()]
        whole = copy.deepcopy(model, {id(each): _without_data(each) for each in tensors})
        plain = copy.deepcopy(whole)
        for kind in KINDS:
            kept = getattr(plain, kind, ())
            vectors = [without_data(Embedding, max_id=r.max_id, shape=r.shape) for r in kept]
            setattr(plain, kind, torch.nn.ModuleList(vectors))
        return [whole, plain]
    except Exception:  # a model is PyKEEN's: some hold what can not be copied
        return []


def most_bytes(call: Callable[[], Any], learns: bool = False) -> int | None:
    """Return the bytes that a call of `shadows` would have in use at once, what they have left out.

    :param learns: whether what the call gives has its gradients followed
    :return: None if it can not be told: the call looks at data
    """
    counting = _Counting()
    try:
        with torch.inference_mode(not learns), counting:
            made = call()
            if learns:
                made.sum().backward()
    except Exception:  # a model is PyKEEN's and raises whatever it pleases without data
        return None
    return counting.most


def most_for_training(is_own: bool = True) -> int:
    """Return the bytes that training may take.

    The user's own may take what is free, and `memory_budget`; as a run says, which may be a
    stranger's, twice `memory_budget`.
    """
    most = memory_budget()
    return max(most, free_memory() or _HAS * most) if is_own else _MAY * most


def check_batch(model: Any, batch: tuple[str, int, Any], where: str, most: int) -> None:
    """Refuse a batch whose training takes more memory than it may, as far as it can be reckoned.

    :param batch: name of PyKEEN's loop, which scores negatives of each row, all tails, or heads as
        well; its rows; and the negatives of each
    :param most: bytes, of `most_for_training`
    :raises KgdashError: if it takes more, or has no negatives
    """
    loop, rows, negatives = batch
    if type(negatives) is not int or negatives < 1:
        raise KgdashError(
            f"{where}: expected 1 negative or more for each triple; found {negatives!r:.40}"
        )
    taken = _batch_bytes(model, loop, rows, negatives)
    if taken > most:
        by = f"{negatives:,} negatives" if loop == _BY_NEGATIVES else "all entities"
        raise KgdashError(
            f"{where}: to train on {rows:,} triples at once, with {by} each, takes "
            f"{taken / 2**30:,.1f} GiB of memory at least; expected {most / 2**30:,.1f} at most: "
            "take a smaller batch, fewer negatives or fewer dimensions, or set KGDASH_MEMORY to "
            "more if you trust it"
        )


def _batch_bytes(model: Any, loop: str, rows: int, negatives: int) -> int:
    def scores(shadow: Any) -> Any:
        if loop == _BY_NEGATIVES:
            return shadow.score_hrt(_ids(rows * (1 + negatives), 3))
        labels, pairs = torch.zeros((rows, model.num_entities), device="meta"), _ids(rows, 2)
        found = shadow.score_t(pairs) + labels
        return found + shadow.score_h(pairs) if loop == _BOTH_SIDES else found

    passed = 0
    for each in shadows(model):
        each.train().requires_grad_(True)
        found = most_bytes(partial(scores, each), learns=True)
        if found is not None:
            return passed + found
        passed = _KEPT * made_bytes(model)
    return passed


def _ids(rows: int, columns: int) -> torch.Tensor:
    return torch.zeros((rows, columns), dtype=torch.long, device="meta")


def _without_data(tensor: torch.Tensor) -> torch.Tensor:
    bare = torch.empty_like(tensor, device="meta")
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(bare, requires_grad=False)
    return bare


class _Counting(TorchDispatchMode):
    """Counts the bytes of tensors that are made while it is on, as long as they live."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # to be kept from the compiler would import it, for a second or two

    def __init__(self) -> None:
        super().__init__()
        self.most = self._now = 0
        self._known: set[int] = set()

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        with self:  # what is made of several is reckoned step by step
            found = function.decompose(*args, **(kwargs or {}))
        if found is not NotImplemented:
            return found
        given = {each.untyped_storage()._cdata for each in _tensors((args, kwargs))}
        found = function(*args, **(kwargs or {}))
        for each in _tensors(found):
            storage = each.untyped_storage()
            if storage._cdata not in self._known | given:
                self._count(storage)
        return found

    def _count(self, storage: Any) -> None:
        key, size = storage._cdata, storage.nbytes()
        self._known.add(key)
        self._now += size
        self.most = max(self.most, self._now)
        weakref.finalize(storage, self._freed, key, size)

    def _freed(self, key: int, size: int) -> None:
        self._known.discard(key)
        self._now -= size


def _tensors(values: Any) -> list[torch.Tensor]:
    return [each for each in tree_leaves(values) if isinstance(each, torch.Tensor)]
