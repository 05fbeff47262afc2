"""The page OBL2021 in a browser: a submission that was downloaded is read back alike."""

from kgdash.statistics.estimate import number
from kgdash.studies.obl2021.evaluation import evaluate
from kgdash.studies.obl2021.top_ten import predict
from tests.browser.driver import Cards, enter, expect_cards, open_page, press, select, widget


def cards(scores) -> Cards:
    return [
        ("Hits@10", number(scores.h10)),
        ("Hits@10, heads", number(scores.head.h10)),
        ("Hits@10, tails", number(scores.tail.h10)),
        ("MRR@10", number(scores.mrr10)),
    ]


def test_a_submission_is_downloaded_and_uploaded_again(address, tab, run, tmp_path):
    triples = run.graph.split("valid")
    scores = evaluate(*predict(run, "valid", seed=3, filter="none"), triples)
    open_page(tab, f"{address}/obl2021?obl_split=valid")
    select(tab, "obl_filter_valid", "none (raw)")
    enter(tab, "tie_seed", 3)
    expect_cards(tab, cards(scores))
    with tab.expect_download() as started:
        tab.get_by_role("button", name="Download submission").click()
    path = tmp_path / started.value.suggested_filename
    started.value.save_as(path)
    press(tab, "predictions", "My own arrays")
    widget(tab, "arrays").locator("input[type=file]").set_input_files(path)
    expect_cards(tab, cards(scores))
