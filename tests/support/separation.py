"""The separation that a command must print."""

from kgdash.studies.instances.instances import score_instances
from kgdash.studies.instances.separation import COMPARED, compare_measures
from tests.support.cli import without_nan


def expected_separation(run, instances, aggregate="max", over="all triples"):
    table = score_instances(run, instances).table
    found = compare_measures(table, COMPARED[over], aggregate, order="separation")
    return {m: without_nan(rows.to_dict("records")) for m, rows in found.by_measure.items()}
