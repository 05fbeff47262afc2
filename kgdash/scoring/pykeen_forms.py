"""Which PyKEEN models have a form that the engine's kernels can score, and what it is."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from pykeen.nn import modules

from kgdash.engine.form import Turn
from kgdash.engine.microkernels import DOT, L2
from kgdash.engine.turned_kernels import COMPLEX, PRODUCT, SUM
from kgdash.scoring import bilinear_forms, projected_forms
from kgdash.scoring.form_parts import (
    Description,
    Linear,
    Map,
    Turning,
    are_vectors,
    norm_kind,
    simple_form,
    within,
)
from kgdash.scoring.own_models import DotInteraction

#: weights beyond this could overflow in a product of a few of them
_LARGEST = 1e8

#: numbers of relations' vectors that are gathered at once: those of matrices are many
_GATHERED = 2**24


@dataclass(frozen=True)
class PyKEENForm:
    """A PyKEEN model in the form of `kgdash.engine.form.InteractionForm`.

    s(h, r, t) = φ(left(h, r), right(t, r)). With inverse relations heads are scored as PyKEEN does
    it: φ(left(t, r⁻¹), right(h, r⁻¹)).
    """

    kind: int
    dimension: int
    num_entities: int
    num_relations: int
    entities: list[torch.Tensor]
    relations: list[torch.Tensor]
    left: Map
    right: Map
    inverse: bool
    #: the right vector does not depend on the relation
    right_fixed: bool
    #: the left vector does not either
    left_fixed: bool = False
    #: `left` gives the same bits whatever else is in the batch
    elementwise: bool = True
    #: `left` and `right` are linear in the entity's vector, but for a summand
    linear: bool = True
    name: str = field(default="")

    @property
    def device(self) -> torch.device:
        """Return where the vectors are."""
        return self.entities[0].device

    @property
    def one_function(self) -> bool:
        """Return whether both sides have the same scores, bit for bit."""
        return self.elementwise and not self.inverse

    def queries(self, side: str, anchors: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return the query vectors of (anchor entity, relation) pairs: ``(n,)`` → ``(n, K)``."""
        use = self.left if side == "tail" or self.inverse else self.right
        return self._apply(use, side, anchors, relations)

    def vectors(self, side: str, entities: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return candidates' vectors under their relations: ``(n,)`` → ``(n, K)``."""
        use = self.right if side == "tail" or self.inverse else self.left
        return self._apply(use, side, entities, relations)

    @property
    def affine(self) -> bool:
        """Tell whether an entity has one vector x, and all its query and candidate vectors x M + c.

        So it is with all forms but ConvE's, whose queries a network makes, CrossE's with its
        activation and TransR's, which cuts lengths.
        """
        return self.elementwise and self.linear and len(self.entities) == 1

    def role(self, side: str, is_query: bool, relation: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return M and c of an entity's query or candidate vector x M + c: ``(D, K)``, ``(K,)``.

        :param side: of the candidates
        """
        assert self.affine
        use = self.left if is_query == (side == "tail" or self.inverse) else self.right
        if self.inverse:
            relation = 2 * relation + (side == "head")
        if isinstance(use, Linear):
            matrix = use.matrix([r[relation] for r in self.relations])
            return matrix, matrix.new_zeros(matrix.shape[1])
        own = self.entities[0]
        basis = own.new_zeros(1 + own.shape[1], own.shape[1])
        basis[1:].fill_diagonal_(1)
        found = use([basis], [r[relation].expand(len(basis), -1) for r in self.relations])
        offset = found[0].clone()
        return found[1:].sub_(offset), offset

    def is_fixed(self, side: str) -> bool:
        """Tell whether a candidate's vector is the same under every relation."""
        return self.right_fixed if side == "tail" or self.inverse else self.left_fixed

    def turn(self, side: str) -> Turn | None:
        """Return how the kernels can make the bits of `vectors`; None if they can not."""
        use = self.right if side == "tail" or self.inverse else self.left
        if not isinstance(use, Turning):
            return None
        relations = self.relations[use.relation]
        if self.inverse:
            relations = relations[int(side == "head") :: 2]
        return Turn(use.kind, self.entities[0], relations.contiguous().numpy())

    def _apply(
        self, use: Map, side: str, entities: torch.Tensor, relations: torch.Tensor
    ) -> torch.Tensor:
        if self.inverse:
            # PyKEEN interleaves the inverse of relation r as 2r + 1.
            relations = 2 * relations + (side == "head")
        if len(relations) and bool((relations == relations[0]).all()):
            # The vectors of one relation stand once, however many entities there are.
            own = [r[relations[0]].expand(len(relations), *r.shape[1:]) for r in self.relations]
            return self._made(use, entities, own)
        widest = max((r[0].numel() for r in self.relations), default=1)
        step = max(1, _GATHERED // widest) if self.elementwise else max(1, len(entities))
        parts = [
            self._made(
                use, entities[k : k + step], [r[relations[k : k + step]] for r in self.relations]
            )
            for k in range(0, max(1, len(entities)), step)
        ]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _made(
        self, use: Map, entities: torch.Tensor, relations: list[torch.Tensor]
    ) -> torch.Tensor:
        found = use([e[entities] for e in self.entities], relations)
        return found.to(torch.float32).contiguous()


def form_of(model: Any) -> PyKEENForm | None:
    """Recognise the form of a PyKEEN model.

    :return: its form, or None if it has none that is known, passes its scores through a sigmoid, or
        holds weights that are not finite or so large that scores could overflow
    """
    interaction = getattr(model, "interaction", None)
    recognise = _RECOGNISED.get(type(interaction))
    if recognise is None or model.predict_with_sigmoid:
        return None
    with torch.inference_mode():
        entities = [r(None).detach() for r in model.entity_representations]
        relations = [r(None).detach() for r in model.relation_representations]
    weights = [*entities, *relations]
    if any(w.dtype not in (torch.float32, torch.complex64) for w in weights):
        return None
    if not within(_LARGEST, *weights):
        return None
    parts = recognise(interaction, entities, relations)
    # What is made of the weights, such as TuckER's matrices, is judged as they are.
    if parts is None or not within(_LARGEST, *parts["entities"], *parts["relations"]):
        return None
    inner = interaction.base if isinstance(interaction, modules.ClampedInteraction) else interaction
    return PyKEENForm(
        num_entities=model.num_entities,
        num_relations=model.num_real_relations,
        inverse=bool(model.use_inverse_triples),
        name=type(inner).__name__.removesuffix("Interaction"),
        **parts,
    )


def _pair(value: torch.Tensor) -> torch.Tensor:
    """Turn complex vectors into real ones of twice the length."""
    return torch.view_as_real(value).flatten(-2)


def _distmult(_i: Any, entities: list, relations: list) -> Description:
    if entities[0].is_complex():
        return None
    return simple_form(DOT, entities, relations, 1, Turning(PRODUCT))


def _complex(_i: Any, entities: list, relations: list) -> Description:
    if not all(x.is_complex() for x in (*entities, *relations)):
        return None
    # Re(h r conj(t)) is the inner product of h r and t as real vectors.
    entities, relations = [_pair(x) for x in entities], [_pair(x) for x in relations]
    return simple_form(DOT, entities, relations, 1, Turning(COMPLEX))


def _rotate(interaction: Any, entities: list, relations: list) -> Description:
    parts = _complex(interaction, entities, relations)
    # PyKEEN's RotatE takes the Euclidean norm whatever p says.
    return None if parts is None else parts | {"kind": L2}


def _transe(interaction: Any, entities: list, relations: list) -> Description:
    return simple_form(norm_kind(interaction), entities, relations, 1, Turning(SUM))


def _pairre(interaction: Any, entities: list, relations: list) -> Description:
    kind = norm_kind(interaction)
    return simple_form(kind, entities, relations, 2, Turning(PRODUCT), Turning(PRODUCT, 1))


def _lineare(interaction: Any, entities: list, relations: list) -> Description:
    # PyKEEN's order of a relation's vectors: for the head, the translation, for the tail.
    return simple_form(
        norm_kind(interaction),
        entities,
        relations,
        3,
        lambda e, r: e[0] * r[0] + r[1],
        Turning(PRODUCT, 2),
    )


def _um(interaction: Any, entities: list, relations: list) -> Description:
    parts = simple_form(norm_kind(interaction), entities, relations, 0, lambda e, r: e[0])
    return None if parts is None else parts | {"left_fixed": True}


def _dot(_i: Any, entities: list, relations: list) -> Description:
    parts = simple_form(DOT, entities, relations, 0, lambda e, r: e[0])
    return None if parts is None else parts | {"left_fixed": True}


def _conve(interaction: Any, entities: list, relations: list) -> Description:
    if len(entities) != 2 or not are_vectors(relations, 1):
        return None
    vectors, biases = entities[0], entities[1].reshape(len(entities[0]), 1)
    shape = interaction.shape_info
    # What a layer reads and what it makes are there at once.
    at_once = max(1, min(_CONVOLVED, _LAYER_BYTES // (2 * 4 * shape.num_in_features)))

    def image(vector: torch.Tensor) -> torch.Tensor:
        return vector.view(-1, shape.input_channels, shape.image_height, shape.image_width)

    def left(entity: list[torch.Tensor], relation: list[torch.Tensor]) -> torch.Tensor:
        parts = []
        pairs = zip(entity[0].split(at_once), relation[0].split(at_once), strict=True)
        for h, r in pairs:
            x = interaction.hr2d(torch.cat([image(h), image(r)], dim=-2))
            parts.append(interaction.hr1d(x.reshape(len(h), shape.num_in_features)))
        found = torch.cat(parts)
        # The tail's bias is one more dimension, in which every query is 1.
        return torch.cat([found, found.new_ones((len(found), 1))], dim=1)

    return {
        "kind": DOT,
        "dimension": vectors.shape[1] + 1,
        "entities": [vectors, torch.cat([vectors, biases], dim=1)],
        "relations": relations,
        "left": left,
        "right": lambda e, r: e[1],
        "right_fixed": True,
        "elementwise": False,
    }


#: pairs that go through ConvE's convolution at once, and bytes that these may take: a few weights
#: can make wide layers
_CONVOLVED, _LAYER_BYTES = 4096, 2**28

_RECOGNISED: dict[type, Callable[..., Description]] = {
    modules.DistMultInteraction: _distmult,
    modules.ComplExInteraction: _complex,
    modules.RotatEInteraction: _rotate,
    modules.TransEInteraction: _transe,
    modules.PairREInteraction: _pairre,
    modules.LineaREInteraction: _lineare,
    modules.UMInteraction: _um,
    modules.ConvEInteraction: _conve,
    DotInteraction: _dot,
    modules.ClampedInteraction: bilinear_forms.clamped,
    modules.SimplEInteraction: bilinear_forms.simple,
    modules.CPInteraction: bilinear_forms.cp,
    modules.DistMAInteraction: bilinear_forms.distma,
    modules.QuatEInteraction: bilinear_forms.quate,
    modules.HolEInteraction: bilinear_forms.hole,
    modules.RESCALInteraction: bilinear_forms.rescal,
    modules.TuckERInteraction: bilinear_forms.tucker,
    modules.CrossEInteraction: bilinear_forms.crosse,
    modules.TransHInteraction: projected_forms.transh,
    modules.TransRInteraction: projected_forms.transr,
}
