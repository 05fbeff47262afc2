"""The sentences about sampled protocols."""

import pandas as pd
import pytest

from kgdash.studies.protocols.orders import compare_orders
from kgdash.studies.protocols.protocol_verdict import protocol_verdict
from kgdash.studies.protocols.protocols import EXACT


def found(exact, **sampled):
    """Say of some runs, "a", "b" …, their exact MRR and what each protocol says."""
    by_protocol = {EXACT.name: exact, **sampled}
    rows = [
        (run, protocol, "mrr", value, right)
        for protocol, values in by_protocol.items()
        for run, value, right in zip("abc", values, exact, strict=False)
    ]
    columns = ["run", "protocol", "metric", "value", "exact"]
    return compare_orders(pd.DataFrame(rows, columns=columns))


def test_the_widest_flip_and_the_farthest_value():
    said = protocol_verdict(
        found([0.3, 0.2, 0.1], few=[0.8, 0.85, 0.1], many=[0.3, 0.2, 0.4], same=[0.3, 0.2, 0.1]),
        "mrr",
        100,
        str.upper,
    )
    assert said.startswith("**2 of 3 protocols would have put runs in another order**")
    assert "By *many*, C would have been ahead of B: 0.400 against 0.200;" in said
    assert said.endswith("is *few* for B: MRR **0.850** in place of **0.200**.")


@pytest.mark.parametrize(("triples", "small"), [(29, True), (30, False)])
def test_no_flip(triples, small):
    said = protocol_verdict(found([0.3, 0.2], few=[0.8, 0.7]), "mrr", triples)
    assert said.startswith("**No protocol changes the order of the runs**")
    assert ("only 29 triples" in said) == small


def test_one_run_has_no_order():
    said = protocol_verdict(found([0.3], few=[0.8]), "mrr", 100)
    assert said == "Farthest off is *few* for a: MRR **0.800** in place of **0.300**."


def test_protocols_that_are_right():
    said = protocol_verdict(found([0.3], few=[0.3]), "mrr", 100)
    assert said == "All protocols give the exact values."
