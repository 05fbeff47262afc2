"""The page Agreement in a browser: other runs, other hits, and a query in conflict."""

from kgdash.statistics.estimate import percent
from kgdash.studies.agreement.agreement import AgreementSetting, agreement
from kgdash.studies.agreement.agreement_report import agreement_summary
from tests.browser.driver import CARDS, open_page, press, settle, table_texts
from tests.browser.test_inspect import names_in, select_row


def in_conflict(tab, expected: str) -> None:
    tab.wait_for_function(
        f"wanted => ({CARDS})()[0]?.join() === wanted", arg=f"In conflict,{expected}", polling=100
    )


def test_what_a_hit_is_and_a_query_in_conflict(address, tab, bundled):
    names = ["umls-transe", "umls-transe-seed1", "umls-transe-seed2"]
    runs = [bundled(name) for name in names]
    others = "&".join(f"with={name}" for name in names[1:])
    open_page(tab, f"{address}/agreement?run={names[0]}&{others}")
    shares = {
        k: percent(agreement_summary(agreement(runs, AgreementSetting(k=k)))["ambiguity"].value)
        for k in (1, 10)
    }
    assert shares[1] != shares[10]
    in_conflict(tab, shares[1])
    press(tab, "hit_at", "10")
    in_conflict(tab, shares[10])
    settle(tab)
    found = agreement(runs, AgreementSetting(k=10))
    count = int(found.queries["conflict"].sum())
    tab.wait_for_function(  # the table that a screen reader gets comes after the picture
        "count => [...document.querySelectorAll('.st-key-in_conflict table')].some("
        "grid => grid.getAttribute('aria-rowcount') == count + 1)",
        arg=count,
    )
    first = table_texts(tab)[0]
    select_row(tab, "in_conflict", 0)
    tab.wait_for_url("**/inspect**")
    tab.get_by_role("heading", name="Inspect a prediction").wait_for()
    settle(tab)
    assert names_in(tab.url) == first[:3]
