"""Interactions by name: what an embedding's columns mean, as layers of a model that scores them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kgdash.errors import KgdashError, unknown_name
from kgdash.formats.embeddings.parts import Layers, Parts, about_phases

LAYOUTS = ("halves", "interleaved")


def interaction_name(text: str) -> tuple[str, int | None]:
    """Return an interaction's own spelling, and the norm if the text ends in one (TransE-L1).

    :raises KgdashError: if there is none of that name
    """
    folded = text.casefold().replace("_", "").replace("-", "").replace(" ", "")
    norm = None
    if folded.endswith(("l1", "l2")):
        folded, norm = folded[:-2], int(folded[-1])
    known = {name.casefold(): name for name in INTERACTIONS}
    if folded not in known:
        raise unknown_name("interaction", text, list(INTERACTIONS), "import")
    return known[folded], norm


def check_interaction(name: str, where: str) -> None:
    """Refuse an interaction that there is not."""
    if name not in INTERACTIONS:
        raise unknown_name("interaction", name, list(INTERACTIONS), where)


def layers_of(interaction: str, parts: Parts) -> Layers:
    """Return the model that scores an embedding.

    :raises KgdashError: if shapes do not fit the interaction
    """
    if parts.norm not in (None, 1, 2):
        raise KgdashError(f"{parts.where}: expected norm 1 or 2; found {parts.norm}")
    if parts.layout not in (None, *LAYOUTS):
        raise unknown_name("layout", parts.layout, LAYOUTS, parts.where)
    if parts.norm is not None and interaction not in _WITH_NORM:
        raise KgdashError(f"{parts.where}: {interaction} has no norm; leave it out")
    for values in (parts.entities, parts.relations):
        if values is not None and values.ndim > 2 and values.dtype.kind != "c":
            _check_axes(interaction, values, parts)
    layers = INTERACTIONS[interaction](interaction, parts)
    is_guessed = parts.layout is None and interaction in COMPLEX and parts.entities.ndim == 2
    if not is_guessed or parts.entities.dtype.kind == "c":
        return layers
    note = f"{interaction} was taken with layout halves, all real parts first, as none was given"
    return replace(layers, notes=(*layers.notes, note))


def _check_axes(name: str, values: np.ndarray, parts: Parts) -> None:
    """Refuse pairs of reals along another axis than they are taken from: (…, 2), or (…, 2, d)."""
    if name not in (*COMPLEX, *_OF_HALVES):
        return
    layout = (name in COMPLEX and parts.layout) or "halves"
    last, before = values.shape[-1] == 2, values.shape[-2] == 2
    if last == before or last == (layout == "interleaved") or 1 in values.shape[-2:]:
        return
    found = "interleaved" if last else "halves"
    cure = f"give layout {found}" if name in COMPLEX else "swap the last two axes"
    raise KgdashError(
        f"{parts.where}: {name} takes {layout}; found {values.shape}, whose pairs are {found}: "
        f"{cure}"
    )


# What several have in common


def _relations(name: str, parts: Parts) -> np.ndarray:
    if parts.relations is None:
        raise KgdashError(f"{parts.where}: {name} needs vectors of relations; found none")
    return parts.relations


def _real(name: str, values: np.ndarray, parts: Parts) -> np.ndarray:
    if values.dtype.kind == "c":
        raise KgdashError(f"{parts.where}: {name} takes real numbers; found complex ones")
    return values.reshape(len(values), -1)


def _reals(name: str, parts: Parts) -> tuple[np.ndarray, np.ndarray]:
    relations = _real(name, _relations(name, parts), parts)
    return _real(name, parts.entities, parts), relations


def _expect(name: str, parts: Parts, fits: bool, wanted: str) -> None:
    if fits:
        return
    columns = parts.entities.size // max(1, len(parts.entities))
    text = f"entities of {columns:,} columns"
    if parts.relations is not None:
        text += f", relations of {parts.relations.size // max(1, len(parts.relations)):,}"
    raise KgdashError(f"{parts.where}: {name} takes {wanted}; found {text}")


def _halves(name: str, values: np.ndarray, parts: Parts) -> list[np.ndarray]:
    _expect(name, parts, values.shape[1] % 2 == 0, "an even number of columns, two vectors a row")
    return np.split(values, 2, axis=1)


def _complex(name: str, values: np.ndarray, parts: Parts) -> np.ndarray:
    if values.dtype.kind == "c":
        return values.reshape(len(values), -1)
    real = values.reshape(len(values), -1)
    _expect(name, parts, real.shape[1] % 2 == 0, "an even number of reals, two a complex number")
    if parts.layout == "interleaved":
        return np.ascontiguousarray(real).view(np.complex64)
    first, second = np.split(real, 2, axis=1)
    return (first + 1j * second).astype(np.complex64)


def unit_rows(values: np.ndarray, where: str) -> np.ndarray:
    """Scale real rows to length 1; those of zeros stay.

    :raises KgdashError: if they are no rows of reals
    """
    if values.ndim != 2 or values.dtype.kind == "c":
        raise KgdashError(f"{where}: expected rows of reals; found {values.dtype}, {values.shape}")
    lengths = np.linalg.norm(values.astype(np.float64), axis=1, keepdims=True)
    return np.divide(values, lengths, out=np.zeros(values.shape), where=lengths > 0).astype(
        np.float32
    )


def _norm(name: str, parts: Parts, default: int) -> tuple[int, tuple[str, ...]]:
    if parts.norm is not None:
        return parts.norm, ()
    return default, (f"{name} was taken with norm L{default}, as none was given",)


# The interactions


def _dot(name: str, parts: Parts) -> Layers:
    entities = _real(name, parts.entities, parts)
    entities = unit_rows(entities, parts.where) if name == "cosine" else entities
    note = f"{name} scores entities alone: all relations have the same scores, and tie"
    return Layers("Dot", {"embedding_dim": entities.shape[1]}, [entities], [], notes=(note,))


def _distmult(name: str, parts: Parts) -> Layers:
    entities, relations = _reals(name, parts)
    _same_width(name, parts, entities, relations)
    return Layers(name, {"embedding_dim": entities.shape[1]}, [entities], [relations])


def _same_width(name: str, parts: Parts, entities: np.ndarray, relations: np.ndarray) -> None:
    _expect(name, parts, entities.shape[1] == relations.shape[1], "as many columns in both")


def _transe(name: str, parts: Parts) -> Layers:
    entities, relations = _reals(name, parts)
    _same_width(name, parts, entities, relations)
    norm, notes = _norm(name, parts, 1)
    arguments = {"embedding_dim": entities.shape[1], "scoring_fct_norm": norm}
    arguments["power_norm"] = parts.squared
    return Layers(name, arguments, [entities], [relations], notes=notes)


def _transh(name: str, parts: Parts) -> Layers:
    entities, relations = _reals(name, parts)
    _expect(
        name,
        parts,
        relations.shape[1] == 2 * entities.shape[1],
        "relations of a translation and a normal vector, each as long as an entity's",
    )
    translations, normals = _halves(name, relations, parts)
    norm, notes = _norm(name, parts, 2)
    arguments = {"embedding_dim": entities.shape[1], "scoring_fct_norm": norm}
    arguments["power_norm"] = parts.squared
    # PyKEEN's order: the normal vector stands first.
    return Layers(
        name, arguments, [entities], [unit_rows(normals, parts.where), translations], notes=notes
    )


def _complex_model(name: str, parts: Parts) -> Layers:
    entities = _complex(name, parts.entities, parts)
    relations = _complex(name, _relations(name, parts), parts)
    _same_width(name, parts, entities, relations)
    return Layers(name, {"embedding_dim": entities.shape[1]}, [entities], [relations])


def _rotate(name: str, parts: Parts) -> Layers:
    entities, relations = _complex(name, parts.entities, parts), _relations(name, parts)
    columns = relations.size // max(1, len(relations))
    if relations.dtype.kind != "c" and columns == entities.shape[1]:
        phases = relations.reshape(len(relations), -1).astype(np.float64)
        turned, odd = np.exp(1j * phases).astype(np.complex64), about_phases(phases)
    else:
        turned, odd = _complex(name, relations, parts), ()
    _expect(
        name,
        parts,
        turned.shape[1] == entities.shape[1],
        "relations of as many phases, or complex numbers, as entities have complex numbers",
    )
    norm, notes = _norm(name, parts, 1)
    model, notes = "RotatESum" if norm == 1 else name, (*notes, *odd)
    return Layers(model, {"embedding_dim": entities.shape[1]}, [entities], [turned], notes=notes)


def _pairre(name: str, parts: Parts) -> Layers:
    entities, relations = _reals(name, parts)
    _expect(
        name,
        parts,
        relations.shape[1] == 2 * entities.shape[1],
        "relations of two vectors, for head and tail, each as long as an entity's",
    )
    norm, notes = _norm(name, parts, 1)
    arguments = {"embedding_dim": entities.shape[1], "p": norm}
    return Layers(name, arguments, [entities], _halves(name, relations, parts), notes=notes)


def _simple(name: str, parts: Parts) -> Layers:
    """Write (⟨hₕ, r, tₜ⟩ + ⟨tₕ, r⁻¹, hₜ⟩) / 2 as one product: PyKEEN's SimplE swaps no halves."""
    entities, relations = _reals(name, parts)
    _same_width(name, parts, entities, relations)
    swapped = np.concatenate(_halves(name, entities, parts)[::-1], axis=1)
    arguments = {"embedding_dim": entities.shape[1], "rank": 1}
    return Layers("CP", arguments, [entities, swapped], [relations / np.float32(2)])


def _cp(name: str, parts: Parts) -> Layers:
    entities, relations = _reals(name, parts)
    _expect(
        name,
        parts,
        entities.shape[1] == 2 * relations.shape[1],
        "entities of two vectors, as head and as tail, each as long as a relation's",
    )
    arguments = {"embedding_dim": relations.shape[1], "rank": 1}
    return Layers(name, arguments, _halves(name, entities, parts), [relations])


def _tucker(name: str, parts: Parts) -> Layers:
    entities, relations = _reals(name, parts)
    wanted = (entities.shape[1], relations.shape[1], entities.shape[1])
    if parts.core is None or parts.core.shape != wanted or parts.core.dtype.kind == "c":
        found = "none" if parts.core is None else f"shape {parts.core.shape}, {parts.core.dtype}"
        raise KgdashError(
            f"{parts.where}: {name} takes a core (core.npy) of real numbers, shape {wanted}: "
            f"entity, relation, entity; found {found}"
        )
    arguments = {
        "embedding_dim": wanted[0],
        "relation_dim": wanted[1],
        "apply_batch_normalization": False,
    }
    return Layers(name, arguments, [entities], [relations], {"interaction.core_tensor": parts.core})


def _rescal(name: str, parts: Parts) -> Layers:
    entities, relations = _reals(name, parts)
    _expect(
        name,
        parts,
        relations.shape[1] == entities.shape[1] ** 2,
        "a square matrix per relation, row by row, of as many rows as entities have columns",
    )
    return Layers(name, {"embedding_dim": entities.shape[1]}, [entities], [relations])


_WITH_NORM = ("TransE", "TransH", "RotatE", "PairRE")

#: whose rows are complex numbers, and those of one table two vectors
COMPLEX, _OF_HALVES = ("ComplEx", "RotatE"), ("TransH", "PairRE", "SimplE", "CP")

INTERACTIONS: dict[str, Callable[[str, Parts], Layers]] = {
    "dot": _dot,
    "cosine": _dot,
    "DistMult": _distmult,
    "ComplEx": _complex_model,
    "RotatE": _rotate,
    "TransE": _transe,
    "TransH": _transh,
    "PairRE": _pairre,
    "SimplE": _simple,
    "CP": _cp,
    "TuckER": _tucker,
    "RESCAL": _rescal,
    "HolE": _distmult,
}
