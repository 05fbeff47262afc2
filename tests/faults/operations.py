"""What is killed: commands, each on a sandbox that it finds ready."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ENTITIES, RELATIONS = 30, 4


@dataclass(frozen=True)
class Operation:
    """A command, what is typed, and how a second call may end once the first one was done."""

    name: str
    arguments: tuple[str, ...]
    typed: str = ""
    #: what the command says where it finds its work done already
    done: str = ""
    cache: str = "cache"
    #: how many of the faults fall on it, as a weight: those that take seconds get fewer
    weight: int = 10


def _operation(name: str, line: str, **options: Any) -> Operation:
    return Operation(name, tuple(shlex.split(line)), **options)


TINY = "--dim 4 --batch-size 64 --negatives 1"
AUDITED = "--folds 2 --epochs 1 --workdir folds"
EXISTS = "exists already"
OPERATIONS = {
    operation.name: operation
    for operation in (
        _operation(
            "train", f"train new --dataset data --model TransE {TINY} --epochs 1", done=EXISTS
        ),
        _operation("train-kept", f"train --dataset data --model DistMult {TINY} --epochs 1"),
        _operation("import", "import pykeen imported --dataset nations", done=EXISTS),
        _operation("import-kept", "import pykeen --dataset nations"),
        _operation("prepare", "prepare one", weight=3),
        _operation("relik", "relik one --split train --out relik.parquet", weight=18),
        _operation(
            "relik-sampled", "relik one --method sampled --samples 20 --out relik.csv", weight=18
        ),
        _operation("metrics", "metrics one --out metrics.csv", weight=14),
        _operation(
            "label", "label one --rules rules.tsv --per-rule 2 --min-pca 0", typed="y\n" * 80
        ),
        _operation("label-save", "label one --save labels.tsv", cache="filled", weight=20),
        _operation(
            "groupings-add", "groupings add one often --condition 'often: frequency > 3'", weight=24
        ),
        _operation(
            "groupings-remove", "groupings remove two rare", done="unknown grouping", weight=24
        ),
        _operation(
            "search",
            f"train --dataset data --model TransE {TINY} --epochs 1 --search --trials 2 "
            "--study search.db",
            weight=2,
        ),
        _operation("which-model", "which-model one two --subgraphs 5 --out choice.csv"),
        _operation("study", "study one --subgraphs 6 --size 8 --out study.csv"),
        _operation(
            "cross-validate",
            "cross-validate data --folds 2 --models TransE --dimension 4 --epochs 1 --subgraphs 4 "
            "--size 8 --workdir folds --out folds.csv",
            weight=4,
        ),
        _operation("trust", "trust one --triples data/test.tsv --out trust.parquet"),
        _operation("calibrate", "calibrate one --resamples 20 --out calibrated.csv", weight=8),
        _operation("answer-sets", "answer-sets one --by relation --out sets.csv"),
        _operation("agreement", "agreement one two --margin 1 --out agreement.csv", weight=8),
        _operation("why", "why one e1 r1 e2 --json"),
        _operation("audit", f"audit one {AUDITED} --out suspicious.csv", weight=4),
        _operation("audit-noise", f"audit one {AUDITED} --noise 0.1 --out found.csv", weight=2),
        _operation("report", "report one report.html", cache="filled", weight=1),
        _operation("cache-clear", "cache clear", cache="filled", weight=20),
        _operation("runs-rename", "runs rename two three", done="unknown run", weight=30),
        _operation("runs-remove", "runs remove one", done="unknown run", weight=30),
    )
}

#: what makes the sandbox that the operations find, one after another
PREPARATIONS = (
    _operation("train", f"train runs/one --dataset data --model TransE {TINY} --epochs 2"),
    _operation("train", f"train runs/two --dataset data --model DistMult {TINY} --epochs 2"),
    _operation("groupings-add", "groupings add two rare --condition 'rare: frequency < 3'"),
    _operation("metrics", "metrics one --out given.csv", cache="filled"),
    _operation("prepare", "prepare two", cache="filled"),
)


def preparations(operations: Sequence[Operation]) -> list[Operation]:
    """Return what must run before some operations find their sandbox."""
    filled = any(operation.cache == "filled" for operation in operations)
    found = [each for each in PREPARATIONS if filled or each.cache == "cache"]
    labels = any(operation.name == "label-save" for operation in operations)
    return found + [OPERATIONS["label"]] * labels


def needs_pykeen(operations: Sequence[Operation]) -> bool:
    """Tell whether one of the operations reads a directory of PyKEEN's."""
    return any(operation.name.startswith("import") for operation in operations)


def lay_out(folder: Path, operations: Sequence[Operation]) -> None:
    """Make a folder with what operations read: a dataset, rules and, where needed, PyKEEN's run."""
    from tests.support.tiny_runs import save_pykeen_directory

    folder.mkdir(parents=True)
    for name in ("runs", "cache", "kept", "filled"):
        (folder / name).mkdir()
    write_dataset(folder / "data")
    (folder / "rules.tsv").write_text(RULES)
    if needs_pykeen(operations):
        save_pykeen_directory(folder / "pykeen")


def write_dataset(folder: Path, seed: int = 7) -> None:
    """Write a graph of 30 entities as a folder of triples."""
    generator = np.random.default_rng(seed)
    sizes = [ENTITIES, RELATIONS, ENTITIES]
    rows = np.unique(generator.integers(0, sizes, size=(260, 3)), axis=0)
    generator.shuffle(rows)
    folder.mkdir()
    for split, part in zip(("valid", "test", "train"), np.split(rows, [20, 45]), strict=True):
        lines = (f"e{h}\tr{r}\te{t}\n" for h, r, t in part)
        (folder / f"{split}.tsv").write_text("".join(lines))


RULES = "rule\npca_confidence\n".replace("\n", "\t", 1) + "".join(
    f"?a  r{i}  ?b   => ?a  r{j}  ?b\t0.5\n" for i in range(2) for j in range(2) if i != j
)
