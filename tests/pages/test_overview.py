"""The first page, and the choice of the run that all pages share."""

import shutil

import pytest

import kgdash
from kgdash.ranking.glossary import explained
from kgdash.runs import preparation
from kgdash.runs.bundled import DEMO, FOLDER_CHOICE, bundled_names
from kgdash.statistics.estimate import number
from kgdash.studies.overview.steps import overview_steps
from kgdash.ui.runtime.markdown import plain
from tests.pages.driver import assert_refused, cards, choose, choose_folder, open_page, table
from tests.pages.driver import run as run_again


def expected_cards(loaded) -> dict[str, str]:
    values = kgdash.metrics(loaded.ranks()).values()
    relik = loaded.relik(triples=loaded.graph.all_triples)["relik"].mean()
    return {
        "Test MRR": number(values["inverse_harmonic_mean_rank"]),
        "Hits@1": number(values["hits_at_1"]),
        "Hits@10": number(values["hits_at_10"]),
        "Mean ReliK": number(relik),
    }


def test_cards_are_those_of_the_run_and_its_recorded_mrr_is_what_ranking_gives(run):
    assert cards(open_page("overview")) == expected_cards(run)


def test_it_opens_with_the_verdict_and_each_lead_has_its_way(run):
    app = open_page("overview")
    found = list(overview_steps(run))[-1]
    shown = [element.value for element in app.main.markdown]
    assert shown[: len(found.verdict)] == [plain(sentence) for sentence in found.verdict]
    assert all(plain(lead.text) in shown for lead in found.leads)


def test_table_of_facts_once_it_is_unfolded():
    assert not open_page("overview").main.dataframe
    app = open_page("overview", about_training="true")
    facts = table(app, "property", "value").set_index("property")["value"]
    assert facts["model"] == "TransE"
    assert facts["embedding dim"] == "50"


def test_choosing_another_run_changes_every_page():
    app = open_page("overview")
    choose(app, run="umls-distmult")
    other = kgdash.load("umls-distmult")
    assert cards(app) == expected_cards(other)
    run_again(app.switch_page("pages/metrics.py"))
    values = kgdash.metrics(other.ranks()).values()
    assert cards(app)["Hits@10"] == number(values["hits_at_10"])


def test_every_bundled_run_opens():
    for name in bundled_names():
        app = open_page("overview", run=name)
        assert app.get_by_key("run").value == name
        assert not app.error


def test_unknown_run_in_the_address_is_named_and_another_one_can_be_chosen():
    app = open_page("overview", run="no-such-run", size="a", split="1", folder="/etc")
    assert_refused(
        app,
        "There is no run 'no-such-run' here: it was removed or renamed, or is another machine's. "
        "Choose a run in the sidebar.",
    )
    assert app.get_by_key("run_choice").value is None
    choose(app, run_choice="umls-rotate")
    assert app.get_by_key("run").value == "umls-rotate"
    assert "Test MRR" in cards(app)


def test_folder_of_a_run(tmp_path):
    copied = shutil.copytree(DEMO / "umls-rotate", tmp_path / "mine")
    app = choose_folder(open_page("overview"), f" {copied} ")
    assert cards(app) == expected_cards(kgdash.load("umls-rotate"))


def test_a_run_that_was_replaced_is_loaded_anew(tmp_path):
    folder = shutil.copytree(DEMO / "umls-rotate", tmp_path / "mine")
    app = choose_folder(open_page("overview"), folder)
    shutil.rmtree(folder)
    shutil.copytree(DEMO / "umls-pairre", folder, copy_function=shutil.copy)
    assert cards(run_again(app)) == expected_cards(kgdash.load("umls-pairre"))


def test_no_folder_named_yet_is_no_error():
    app = open_page("overview")
    choose(app, run=FOLDER_CHOICE)
    assert len(app.info) == 1
    assert not app.error
    assert not app.main.metric


def refusal(*arguments) -> str:
    with pytest.raises(kgdash.KgdashError) as caught:
        kgdash.load(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("page", ["overview", "queries"])
def test_folder_that_is_not_there(page, tmp_path):
    folder = str(tmp_path / "nothing")
    app = choose_folder(open_page(page), folder)
    assert_refused(app, refusal(folder))


def test_folder_that_is_no_run(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    assert_refused(choose_folder(open_page("overview"), tmp_path), refusal(str(tmp_path)))


def test_damaged_run_and_then_the_repaired_one(tmp_path):
    folder = shutil.copytree(DEMO / "umls-transe", tmp_path / "damaged")
    whole = (folder / "weights.safetensors").read_bytes()
    (folder / "weights.safetensors").write_bytes(whole[:-4] + b"\0\0\0\0")
    app = choose_folder(open_page("overview"), folder)
    assert_refused(app, refusal(str(folder)))
    assert "SHA-256" in app.error[0].value
    (folder / "weights.safetensors").write_bytes(whole)
    assert "Test MRR" in cards(run_again(app))


def test_pykeen_directory_needs_its_dataset(pykeen_directory):
    app = choose_folder(open_page("overview"), pykeen_directory)
    assert_refused(app, refusal(str(pykeen_directory)))
    assert "--dataset" in app.error[0].value
    choose(app, dataset="nations")
    assert not app.error
    assert "14 entities" in app.sidebar.caption[0].value
    app.query_params["about_training"] = "true"
    run_again(app)
    assert table(app, "property", "value").set_index("property")["value"]["model"] == "TransE"


def test_pykeen_directory_with_a_dataset_that_does_not_fit(pykeen_directory):
    app = choose_folder(open_page("overview"), pykeen_directory, "umls")
    assert_refused(app, refusal(str(pykeen_directory), "umls"))


def test_cards_say_on_hovering_what_they_show():
    page = open_page("overview")
    about = {card.label: card.help for card in page.main.metric}
    assert about == {label: explained(label) for label in about}
    assert len(set(about.values())) == 4


@pytest.mark.own_cache
def test_where_counting_takes_hours_figures_are_of_samples(monkeypatch):
    """Nothing is counted of ReliK until a width is named; then so much as it asks for."""
    monkeypatch.setattr(preparation, "UNASKED", 0.0)
    monkeypatch.setattr(preparation, "WAITED", 0.0)
    monkeypatch.setattr("kgdash.ui.runtime.refined._PATIENCE", 60.0)  # for the last result
    app = open_page("overview")
    assert cards(app)["Mean ReliK"] == "–"
    (how,) = (c.value for c in app.main.caption if c.value.startswith("Sampled"))
    assert "of 661 test triples" in how
    assert "of a core or more" in how
    run = kgdash.load("umls-transe")
    assert preparation.prepared_share(run) == 0
    choose(app, width="0.1")
    *_, found = overview_steps(run, 0.1)
    assert cards(app)["Mean ReliK"] == number(found.values["relik"].value)
    assert cards(app)["Test MRR"] == number(found.values["mrr"].value)
    assert 0 < preparation.prepared_share(run) < 1


@pytest.mark.own_cache
def test_pages_that_count_everything_ask_first(monkeypatch):
    monkeypatch.setattr(preparation, "UNASKED", 0.0)
    app = open_page("reliability")
    (info,) = (box.value for box in app.main.info)
    assert "ReliK of all 6,529 triples" in info
    assert not app.main.metric
    local = open_page("local", size="20")
    assert any("1,000 negatives a side" in box.value for box in local.main.info)
