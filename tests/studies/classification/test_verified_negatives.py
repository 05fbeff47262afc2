from dataclasses import replace

import pytest

from kgdash.errors import KgdashError
from kgdash.studies.classification.verified_negatives import negatives_by_name, verified_negatives
from tests.support.fakes import fake_run, random_scorer
from tests.support.instance_fakes import small_graph

RUN = fake_run(small_graph([(0, 0, 1), (1, 1, 2)], valid=[(2, 0, 0)]), random_scorer(3, 2))


def test_those_of_the_dataset(tmp_path):
    assert verified_negatives(RUN) is None
    with pytest.raises(KgdashError, match=r"ships no verified negatives .* or take closed-world"):
        negatives_by_name(RUN, ["verified"])
    (tmp_path / "valid_negatives.tsv").write_text("e0\tr0\te2\n")
    (tmp_path / "test_negatives.tsv").write_text("e2\tr1\te2\n")
    of_folder = replace(RUN, provenance={"dataset": str(tmp_path)})
    assert verified_negatives(of_folder).tolist() == [[0, 0, 2], [2, 1, 2]]
    assert negatives_by_name(of_folder, ["verified"]).tolist() == [[0, 0, 2], [2, 1, 2]]


def test_closed_world_and_files(tmp_path):
    assert negatives_by_name(RUN, []) is None
    assert negatives_by_name(RUN, ["closed-world"]) is None
    files = [tmp_path / "a.tsv", tmp_path / "b.csv"]
    files[0].write_text("e0\tr0\te2\n")
    files[1].write_text("e1,r1,e1\n")
    assert negatives_by_name(RUN, map(str, files)).tolist() == [[0, 0, 2], [1, 1, 1]]
    with pytest.raises(KgdashError, match=r"closed-world or verified, or files .* found 'open'"):
        negatives_by_name(RUN, ["open"])
    files[0].write_text("e9\tr0\te2\n")
    with pytest.raises(KgdashError, match="unknown entity 'e9'"):
        negatives_by_name(RUN, [str(files[0])])
