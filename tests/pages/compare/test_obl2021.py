"""The page OBL2021 shows what the library computes."""

import io

import numpy as np

from kgdash.statistics.estimate import number
from kgdash.studies.obl2021.evaluation import compare, evaluate
from kgdash.studies.obl2021.submission_writing import submission_bytes, submission_line
from kgdash.studies.obl2021.top_ten import predict
from tests.pages.driver import cards, choose, open_page, table
from tests.pages.driver import run as rerun


def expected_cards(scores) -> dict[str, str]:
    return {
        "Hits@10": number(np.mean([f.h10 for f in scores])),
        "Hits@10, heads": number(np.mean([f.head.h10 for f in scores])),
        "Hits@10, tails": number(np.mean([f.tail.h10 for f in scores])),
        "MRR@10": number(np.mean([f.mrr10 for f in scores])),
    }


def test_of_the_run(run):
    app = open_page("obl2021")
    triples = run.graph.split("test")
    scores = evaluate(*predict(run), triples)
    assert cards(app) == expected_cards([scores])
    assert app.main.code[0].value == submission_line(scores.h10)
    choose(app, obl_split="valid", ties="ordinal")
    scores = evaluate(*predict(run, "valid", "ordinal"), run.graph.split("valid"))
    assert cards(app) == expected_cards([scores])
    assert app.main.code[0].value == submission_line(scores.h10)


def test_own_arrays_and_a_refusal(run):
    app = open_page("obl2021", predictions="My own arrays")
    assert len(app.main.info) == 1
    assert not app.main.metric
    triples = run.graph.split("test")
    both = [predict(run), predict(run, filter="none")]
    files = [
        (f"{i}.npz", submission_bytes(*arrays), "application/octet-stream")
        for i, arrays in enumerate(both)
    ]
    app.get_by_key("arrays").set_value(files)
    rerun(app)
    scores = [evaluate(*arrays, triples) for arrays in both]
    assert cards(app) == expected_cards(scores)
    deviation = compare(scores)["standard_deviation"][0]
    assert app.main.metric[0].delta == f"± {number(deviation)}"
    assert table(app, "submission", "h10")["h10"].tolist() == [f.h10 for f in scores]

    stream = io.BytesIO()
    np.save(stream, both[0][0].astype(float))
    app.get_by_key("arrays").set_value([("heads.npy", stream.getvalue(), "application/x")])
    rerun(app)
    (error,) = (e.value for e in app.error)
    assert error.startswith("heads.npy: expected integer ids; found dtype float64")
    assert not app.main.metric
