"""Train the bundled run of FB15k-237 anew: ``python scripts/make_fb15k237_run.py DATASET [OUT]``.

With ``--tables`` as DATASET only tables that pages open with are added. Else it is a folder with
train, valid and test triples and ``entity_labels.tsv``, any of them .gz;
relations read as fb15k237_relation_labels.tsv says. ComplEx is trained by the loop softmax
(docs/training.md). Weights are kept in half precision, and all that follows, the tables that pages
open with included, is of the halved ones.

Takes a quarter of an hour on a free core. The bundled weights were made before the loop moved into
the package: since then sums are taken in another order, and the last digits differ.
"""

import argparse
import hashlib
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kgdash.files.cache_folder import cache_directory  # noqa: E402
from kgdash.formats.run_directory import MANIFEST, single_precision, write_run  # noqa: E402
from kgdash.graph import KnowledgeGraph  # noqa: E402
from kgdash.graph.datasets import load_dataset  # noqa: E402
from kgdash.graph.triple_files import read_labels  # noqa: E402
from kgdash.progress import terminal  # noqa: E402
from kgdash.ranking.metrics import metrics  # noqa: E402
from kgdash.runs import Run  # noqa: E402
from kgdash.runs.bundled import DEMO  # noqa: E402
from kgdash.runs.loading import assemble, load  # noqa: E402
from kgdash.runs.training import TrainingConfig, fit  # noqa: E402
from kgdash.scoring.build_model import scoring_state  # noqa: E402
from kgdash.studies.overview.preparation import prepare_pages  # noqa: E402

NAME = "fb15k-237-complex"
CONFIG = TrainingConfig(
    "ComplEx",
    {"embedding_dim": 64},
    epochs=10,
    batch_size=256,
    training_loop="softmax",
    optimizer="Adagrad",
    optimizer_kwargs={"lr": 0.1},
    loop_kwargs={"answers": 16, "n3": 0.03, "spread": 0.01, "check_every": 1},
)
SPEC = CONFIG.spec()

#: of the run's files, so that all bundled runs take less than 12 MB
MOST_BYTES = 11_200_000

#: bytes up to which there is always room for a table
SMALL = 16_384

#: tables that others were made from, and those of groups: pages do not read them as they open
NOT_ASKED_FOR = re.compile(r"grown regions|every query|(sets|thresholds), (?!none).*")

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


def opened(graph: KnowledgeGraph, state: dict) -> Run:
    """Return a run of weights in half precision, as it is when it is opened."""
    return assemble(NAME, graph, SPEC, single_precision(state), {}, {})


def record(graph: KnowledgeGraph) -> tuple[dict, dict]:
    """Train, and return the best weights, halved, and what ``run.json`` says of the training."""

    def tell(epoch: int, loss: float, model: Any, mrr: float | None) -> None:
        print(f"epoch {epoch}: loss {loss:.4f}, validation MRR {mrr:.4f}", flush=True)

    trained = fit(graph, CONFIG, watch=tell)
    about = {"dataset": graph.name, **CONFIG.record(), "losses": trained.losses, **trained.record}
    return {name: w.half() for name, w in scoring_state(trained.model).items()}, about


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
    """Put tables of the cache into a run, while there is room: small ones, then by time per byte.

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
        if NOT_ASKED_FOR.fullmatch(about.get("method") or ""):
            continue
        path.write_bytes(min(packed(table), key=len))
        size = path.stat().st_size
        saved[path] = (size > SMALL, -about["seconds"] / size, path.name)
    for path in sorted(saved, key=saved.__getitem__):
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
