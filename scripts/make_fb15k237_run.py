"""Train the bundled run of FB15k-237 anew: ``python scripts/make_fb15k237_run.py DATASET [OUT]``.

With ``--tables`` as DATASET only tables that pages open with are added. Else it is a folder with
train, valid and test triples and ``entity_labels.tsv``, any of them .gz;
relations read as fb15k237_relation_labels.tsv says. ComplEx is trained as Lacroix, Usunier and
Obozinski do ("Canonical Tensor Decomposition for Knowledge Base Completion", ICML 2018): each
training triple in both directions, softmax over all entities, Adagrad, the nuclear 3-norm; answers
of a query are trained together, which costs a fifth. The number of epochs was chosen on validation
MRR. Weights are kept in half precision, and all that follows, the tables that pages open with
included, is of the halved ones.

Takes a quarter of an hour on a free core. On another processor the last digits may differ.
"""

import argparse
import hashlib
import io
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kgdash.files.table_cache import cache_directory  # noqa: E402
from kgdash.formats.run_directory import MANIFEST, single_precision, write_run  # noqa: E402
from kgdash.graph import KnowledgeGraph  # noqa: E402
from kgdash.graph.datasets import load_dataset  # noqa: E402
from kgdash.graph.triple_files import read_labels  # noqa: E402
from kgdash.progress import terminal  # noqa: E402
from kgdash.ranking.metrics import mean_reciprocal_rank, metrics  # noqa: E402
from kgdash.ranking.ranks import rank_triples  # noqa: E402
from kgdash.runs import Run  # noqa: E402
from kgdash.runs.bundled import DEMO  # noqa: E402
from kgdash.runs.loading import assemble, load  # noqa: E402
from kgdash.scoring.model_spec import ModelSpec  # noqa: E402
from kgdash.studies.overview.preparation import prepare_pages  # noqa: E402

NAME = "fb15k-237-complex"
SPEC = ModelSpec("ComplEx", {"embedding_dim": 64}, create_inverse_triples=True)
EPOCHS, ROWS, ANSWERS, RATE, N3, SPREAD, SEED = 10, 256, 16, 0.1, 0.03, 0.01, 0

#: of the run's files, so that all bundled runs take less than 12 MB
MOST_BYTES = 11_200_000

#: tables that others were made from, and pages do not read as they open
NOT_ASKED_FOR = ("grown regions", "every query")

ATTRIBUTION = (
    "FB15k-237 (Toutanova and Chen 2015), a part of Freebase, CC BY 2.5; names of entities as "
    "packed with KG-BERT (Yao, Mao and Luo 2019)"
)
NOTICE = """# Where the data come from

The triples are FB15k-237: Kristina Toutanova and Danqi Chen, "Observed versus latent features for
knowledge base and text inference", 2015, made from FB15k (Bordes et al. 2013). They are a part of
Freebase, freebase.com, which Google published under the licence Creative Commons Attribution 2.5
Generic: https://creativecommons.org/licenses/by/2.5/

The English names of entities are Freebase's, as packed in the repository yao8839836/kg-bert (Liang
Yao, Chengsheng Mao and Yuan Luo, "KG-BERT", 2019). Changed for kgdash: 36 entities that never occur
in training are left out, with the triples that hold them; marks of a region at the end of names
("Actor-GB") are cut off; relations have labels in plain English.

The weights and tables were made from them by scripts/make_fb15k237_run.py of kgdash.
"""


def read_graph(folder: Path) -> KnowledgeGraph:
    """Read the dataset, with labels for people."""
    graph = load_dataset(folder)
    # Freebase marks some names with where they are said so: "Actor-GB".
    entities = tuple(re.sub(r"-(GB|US)$", "", label) for label in graph.entity_labels)
    relations = read_labels(Path(__file__).with_name("fb15k237_relation_labels.tsv"))
    labels = tuple(relations[name] for name in graph.relations)
    return replace(graph, name="FB15k-237", entity_labels=entities, relation_labels=labels)


class Trainer:
    """Weights and Adagrad's memory of them.

    Gradients are written out: answers of one query share its scores of all entities, of which one
    array is enough.
    """

    def __init__(self, graph: KnowledgeGraph) -> None:
        """Draw the weights from the seed."""
        self.random = torch.Generator().manual_seed(SEED)
        self.sizes = graph.num_entities, 2 * graph.num_relations
        self.weights = [
            SPREAD * torch.randn(n, 2 * SPEC.kwargs["embedding_dim"], generator=self.random)
            for n in self.sizes
        ]
        self._squares = [torch.zeros_like(each) for each in self.weights]
        self._gradients = [torch.empty_like(each) for each in self.weights]
        h, r, t = torch.from_numpy(graph.splits["train"]).T
        # PyKEEN interleaves the inverse of relation r as 2r + 1.
        self.triples = torch.cat([torch.stack([h, 2 * r, t], 1), torch.stack([t, 2 * r + 1, h], 1)])

    def epoch(self) -> float:
        """Train on every triple once, both ways; return the mean cross-entropy."""
        triples, firsts = self._rows()
        ends = torch.cat([firsts[1:], torch.tensor([len(triples)])])
        total = 0.0
        for rows in torch.randperm(len(firsts), generator=self.random).split(ROWS):
            sizes = ends[rows] - firsts[rows]
            shift = torch.cumsum(sizes, 0) - sizes - firsts[rows]
            places = torch.arange(int(sizes.sum())) - torch.repeat_interleave(shift, sizes)
            total += self._step(triples[firsts[rows], :2], sizes, triples[places, 2])
        return total / len(triples)

    def _rows(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Mix the answers of each query and cut them into rows; return triples, rows' starts."""
        mixed = self.triples[torch.randperm(len(self.triples), generator=self.random)]
        query = mixed[:, 0] * self.sizes[1] + mixed[:, 1]
        order = torch.argsort(query, stable=True)
        mixed, query = mixed[order], query[order]
        places = torch.arange(len(query))
        is_first = torch.ones(len(query), dtype=torch.bool)
        is_first[1:] = query[1:] != query[:-1]
        start = places[is_first][torch.cumsum(is_first, 0) - 1]
        return mixed, places[(places - start) % ANSWERS == 0]

    def _step(self, queries: torch.Tensor, sizes: torch.Tensor, tails: torch.Tensor) -> float:
        """Follow the gradient of cross-entropy and norm; return the sum of the former.

        :param queries: (entity, relation) of each row, ``(b, 2)``
        :param sizes: answers of each row, ``(b,)``
        :param tails: the answers, row after row, ``(sizes.sum(),)``
        """
        (entities, relations), (by_entity, by_relation) = self.weights, self._gradients
        n, row = len(tails), torch.repeat_interleave(torch.arange(len(queries)), sizes)
        share = (sizes / n).unsqueeze(1)
        heads, kinds = queries.T
        h, r, t = (_complex(v) for v in (entities[heads], relations[kinds], entities[tails]))
        query = _pairs(h * r)
        scores = query @ entities.T
        partition = scores.logsumexp(1, keepdim=True)
        loss = float((partition * share).sum() - (query[row] * entities[tails]).sum() / n)
        scores.sub_(partition).exp_().mul_(share)
        torch.mm(scores.T, query, out=by_entity)
        by_query = _complex((scores @ entities).index_add_(0, row, entities[tails], alpha=-1 / n))
        by_entity.index_add_(0, tails, _pairs(3 * N3 / n * t.abs() * t) - query[row] / n)
        by_entity.index_add_(0, heads, _pairs(by_query * r.conj() + 3 * N3 * share * h.abs() * h))
        by_relation.zero_()
        by_relation.index_add_(0, kinds, _pairs(by_query * h.conj() + 3 * N3 * share * r.abs() * r))
        for weights, squares, gradient in zip(
            self.weights, self._squares, self._gradients, strict=True
        ):
            squares.addcmul_(gradient, gradient)
            weights.addcdiv_(gradient, squares.sqrt().add_(1e-10), value=-RATE)
        return loss * n

    def halved(self) -> dict[str, torch.Tensor]:
        """Return the weights in half precision, named as PyKEEN's."""
        parts = zip(("entity", "relation"), self.weights, strict=True)
        return {f"{part}_representations.0._embeddings.weight": w.half() for part, w in parts}


def _complex(pairs: torch.Tensor) -> torch.Tensor:
    return torch.view_as_complex(pairs.unflatten(-1, (-1, 2)))


def _pairs(numbers: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(numbers).flatten(-2)


def opened(graph: KnowledgeGraph, state: dict) -> Run:
    """Return a run of weights in half precision, as it is when it is opened."""
    return assemble(NAME, graph, SPEC, single_precision(state), {}, {})


def validation_mrr(graph: KnowledgeGraph, state: dict) -> float:
    """Return the MRR on valid, filtered by train and valid."""
    known = graph.known(("train", "valid"))
    ranks = rank_triples(opened(graph, state).scorer, graph.splits["valid"], known)
    return mean_reciprocal_rank(ranks, ("head", "tail"))


def record(graph: KnowledgeGraph) -> tuple[dict, dict]:
    """Train, and return the last weights and what ``run.json`` says of the training."""
    start, losses, checks, trainer = time.monotonic(), [], [], Trainer(graph)
    for epoch in range(1, EPOCHS + 1):
        losses.append(round(trainer.epoch(), 4))
        checks.append(round(validation_mrr(graph, trainer.halved()), 4))
        print(f"epoch {epoch}: loss {losses[-1]}, validation MRR {checks[-1]}", flush=True)
    about = {
        "dataset": graph.name,
        "model": SPEC.name,
        "model_kwargs": dict(SPEC.kwargs),
        "create_inverse_triples": True,
        "training_loop": "each triple in both directions, softmax over all entities",
        "loss": "cross-entropy",
        "regularizer": "nuclear 3-norm",
        "regularizer_kwargs": {"weight": N3},
        "optimizer": "Adagrad",
        "optimizer_kwargs": {"lr": RATE},
        "epochs": len(losses),
        "batch_size": f"{ROWS} queries with up to {ANSWERS} answers each",
        "random_seed": SEED,
        "losses": losses,
        "validation_mrr": checks,
        "seconds": round(time.monotonic() - start, 1),
    }
    return trainer.halved(), about


def write(graph: KnowledgeGraph, state: dict, about: dict, out: Path) -> None:
    """Evaluate the weights and write the run with the tables that its pages open with."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KGDASH_CACHE"] = folder
        run = opened(graph, state)
        values = metrics(run.ranks()).values()
        keys = ("inverse_harmonic_mean_rank", "hits_at_1", "hits_at_3", "hits_at_10")
        about["evaluation"] = {key: round(values[key], 6) for key in keys}
        print(about["evaluation"], flush=True)
        form = f"trained with {Path(__file__).parent.name}/{Path(__file__).name}"
        provenance = {"form": form, "attribution": ATTRIBUTION}
        write_run(out, graph, SPEC, state, about, provenance)
        prepare_pages(run, terminal("tables"))
        add_tables(out)
    (out / "ATTRIBUTION.md").write_text(NOTICE, encoding="utf-8")


def renew_tables(out: Path) -> None:
    """Give a run the tables that pages open with, made from those that it has."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KGDASH_CACHE"] = folder
        for path in (out / "tables").glob("*.parquet"):
            path.rename(Path(folder) / path.name)
        prepare_pages(load(str(out)), terminal("tables"))
        add_tables(out)


def add_tables(out: Path) -> None:
    """Put tables of the cache into a run: those that save most time per byte, while there is room.

    They are packed well, and ``run.json`` gives their SHA-256.
    """
    manifest = json.loads((out / MANIFEST).read_text(encoding="utf-8"))
    files = manifest["sha256"]
    manifest["sha256"] = {name: files[name] for name in files if not name.startswith("tables/")}
    room = MOST_BYTES - sum(path.stat().st_size for path in out.iterdir() if path.is_file())
    (out / "tables").mkdir(exist_ok=True)
    saved = {}
    for source in cache_directory().glob("*.parquet"):
        table, path = pq.read_table(source), out / "tables" / source.name
        about = json.loads(table.schema.metadata[b"kgdash"])
        if about.get("method") in NOT_ASKED_FOR:
            continue
        path.write_bytes(min(packed(table), key=len))
        saved[path] = about["seconds"] / path.stat().st_size
    for path in sorted(saved, key=lambda path: (-saved[path], path.name)):
        if path.stat().st_size > room:
            path.unlink()
            continue
        room -= path.stat().st_size
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        manifest["sha256"][f"tables/{path.name}"] = digest
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    (out / MANIFEST).write_text(text, encoding="utf-8")


def packed(table: pa.Table) -> Iterator[bytes]:
    """Write a table as Parquet, with numbers by value and byte by byte."""
    numeric = (pa.types.is_int64, pa.types.is_floating)
    split = [each.name for each in table.schema if any(is_kind(each.type) for is_kind in numeric)]
    rest = [name for name in table.column_names if name not in split] or False
    for way in ({}, {"use_dictionary": rest, "use_byte_stream_split": split}):
        stream = io.BytesIO()
        pq.write_table(table, stream, compression="zstd", compression_level=19, **way)
        yield stream.getvalue()


def main() -> None:
    """Train and write under OUT (default: the package's demo folder)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", type=Path, help="folder of triples and labels")
    parser.add_argument("out", nargs="?", type=Path, default=DEMO)
    parser.add_argument("--tables", action="store_true", help="only add tables to the run in OUT")
    asked = parser.parse_args()
    if asked.tables:
        renew_tables((asked.dataset or asked.out) / NAME)
        return
    if asked.dataset is None:
        parser.error("expected a DATASET, or --tables")
    # One thread sums in one order, so that the weights come out the same on every machine.
    torch.set_num_threads(1)
    graph = read_graph(asked.dataset)
    state, about = record(graph)
    write(graph, state, about, asked.out / NAME)


if __name__ == "__main__":
    main()
