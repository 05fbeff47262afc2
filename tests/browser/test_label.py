"""The page Label predictions in a browser."""

from kgdash.studies.instances.instance_table import read_rule_table
from kgdash.studies.labelling.queue import in_labels, label_queue, named_triple
from kgdash.studies.labelling.sources import instance_predictions
from tests.browser.driver import open_page, save, settle, table_texts, widget
from tests.browser.test_inspect import select_row_of
from tests.support.paths import EXAMPLE


def test_labelled_with_buttons_and_keys_taken_back_and_saved(address, tab, run, tmp_path):
    queue = label_queue(run, instance_predictions(read_rule_table(EXAMPLE, run.graph)))
    asked = [in_labels(triple, run.graph) for triple in queue.order]
    open_page(tab, f"{address}/label?label_source=My+own+table")
    widget(tab, "label_table").locator("input[type=file]").set_input_files(EXAMPLE)
    card = widget(tab, "prediction")

    def wait_for(number: int, progress: str) -> None:
        card.get_by_role("heading", name=asked[number], exact=True).wait_for()
        tab.get_by_text(f"{progress}", exact=True).wait_for()
        settle(tab)

    total = f"of {len(asked)} labelled"
    wait_for(0, f"0 {total}")
    card.get_by_role("button", name="True").click()
    wait_for(1, f"1 {total}")
    tab.keyboard.press("n")
    wait_for(2, f"2 {total}")
    tab.keyboard.press("s")
    wait_for(3, f"2 {total}, 1 skipped")
    tab.keyboard.press("u")
    wait_for(2, f"2 {total}")
    card.get_by_role("button", name="Undo").click()
    wait_for(1, f"1 {total}")
    card.get_by_role("button", name="False").click()
    wait_for(2, f"2 {total}")
    # Kept on disk: another visit goes on where this one stopped.
    tab.reload()
    widget(tab, "label_table").locator("input[type=file]").set_input_files(EXAMPLE)
    wait_for(2, f"2 {total}")
    assert [row[:2] for row in table_texts(tab)] == [[asked[1], "false"], [asked[0], "true"]]
    button = tab.get_by_role("button", name="Download table of rule instances")
    saved = read_rule_table(save(tab, button, tmp_path), run.graph)
    heads = saved.triples[saved.triples["is_answer_triple"]]
    said = {
        in_labels(named_triple(ids, run.graph), run.graph): label
        for *ids, label in heads[["head", "relation", "tail", "label"]].to_numpy().tolist()
    }
    assert said == {asked[0]: True, asked[1]: False}
    # What is selected is a label, not a place: another one comes before it.
    select_row_of(tab, tab.locator("[class*=st-key-labels-] [data-testid=stDataFrame]"), 1)
    tab.get_by_role("button", name="Remove 1 selected").wait_for()
    card.get_by_role("button", name="True").click()
    wait_for(3, f"3 {total}")
    assert tab.get_by_role("button", name="Remove selected").is_disabled()
    assert [row[0] for row in table_texts(tab)] == [asked[2], asked[1], asked[0]]
    select_row_of(tab, tab.locator("[class*=st-key-labels-] [data-testid=stDataFrame]"), 1)
    tab.get_by_role("button", name="Remove 1 selected").click()
    wait_for(1, f"2 {total}")
    assert [row[0] for row in table_texts(tab)] == [asked[2], asked[0]]
