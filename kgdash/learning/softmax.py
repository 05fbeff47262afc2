"""The cross-entropy of answers among all entities, and its gradients, written out.

They need one array of rows × entities, or two. A score is the inner product q·e of the query's
vector q and an entity's e, or minus the distance ‖q − e‖, or, with weights w of the query's
relation, ‖q − w∘e‖. The answers of a row share its scores; the loss is the mean over all answers.
"""

from __future__ import annotations

import torch

from kgdash.learning.queries import Batch

#: squared distances are at least this: the gradient of a distance of 0 is no number
_LEAST = 1e-6


def by_products(
    query: torch.Tensor, entities: torch.Tensor, batch: Batch, by_entity: torch.Tensor, share: float
) -> tuple[float, torch.Tensor]:
    """Return the loss of scores q·e, and its gradient by the queries.

    :param query: of the batch's rows, float32, ``(b, k)``
    :param entities: float32, ``(n, k)``
    :param by_entity: ``(n, k)``; the gradient by the entities is added to it
    :param share: of this batch's answers among those of the loss
    """
    row, weight = batch.row, share / len(batch.answers)
    scores = query @ entities.T
    loss = -weight * float(scores[row, batch.answers].sum())
    loss += _to_probabilities(scores, share * batch.share)
    _less(scores, row, batch.answers, weight)
    by_entity.addmm_(scores.T, query)
    return loss, scores @ entities


def by_distances(
    query: torch.Tensor,
    weights: torch.Tensor | None,
    entities: torch.Tensor,
    batch: Batch,
    by_entity: torch.Tensor,
    share: float,
) -> tuple[float, torch.Tensor, torch.Tensor | None]:
    """Return the loss of scores −‖q − w∘e‖, and its gradients by the queries and by w.

    :param weights: w of the batch's rows, ``(b, k)``; None for 1
    :param entities: float32, ``(n, k)``
    :param by_entity: ``(n, k)``; the gradient by the entities is added to it
    :param share: of this batch's answers among those of the loss
    """
    row, weight = batch.row, share / len(batch.answers)
    left, right = query, entities
    if weights is None:
        squares = entities.square().sum(1).unsqueeze(0) + query.square().sum(1, keepdim=True)
        distances = squares.addmm_(query, entities.T, alpha=-2)
    else:
        # ‖q − w∘e‖² = ‖q‖² + (−2 q∘w)·e + w²·e²: one product of vectors of twice the length.
        left = torch.cat([-2 * query * weights, weights.square()], 1)
        right = torch.cat([entities, entities.square()], 1)
        distances = query.square().sum(1, keepdim=True) + left @ right.T
    distances.clamp_(min=_LEAST).sqrt_()
    loss = weight * float(distances[row, batch.answers].sum())
    scores = -distances
    loss += _to_probabilities(scores, share * batch.share)
    _less(scores, row, batch.answers, weight)
    # How the loss falls with half of each squared distance.
    scores.div_(distances)
    of_row = scores.sum(1, keepdim=True)
    if weights is None:
        by_entity.addmm_(scores.T, query).addcmul_(entities, scores.sum(0).unsqueeze(1), value=-1)
        return loss, scores @ entities - of_row * query, None
    found = (scores.T @ left).tensor_split(2, 1)
    by_entity.add_(found[0], alpha=-0.5).addcmul_(entities, found[1], value=-1)
    first, second = (scores @ right).tensor_split(2, 1)
    return loss, weights * first - of_row * query, query * first - weights * second


def _to_probabilities(scores: torch.Tensor, shares: torch.Tensor) -> float:
    """Turn scores, in place, into each row's probabilities times its share.

    :return: the sum of the rows' log-partitions, each times its share
    """
    most = scores.amax(1, keepdim=True)
    sums = scores.sub_(most).exp_().sum(1, keepdim=True)
    scores.mul_(shares / sums)
    return float(((sums.log() + most) * shares).sum())


def _less(scores: torch.Tensor, row: torch.Tensor, column: torch.Tensor, by: float) -> None:
    # A triple that stands twice in a file is two answers.
    scores.index_put_((row, column), scores.new_tensor(-by), accumulate=True)
