"""A comparison shows what differs in conditions, keeps values as written, combines no labels, and ranks nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import scholarlake
from scholarlake.knowledge.layer.comparing import MAX_ROWS, Shared
from scholarlake.knowledge.layer.knowledge import Knowledge
from scholarlake.knowledge.layer.view import BadRequest
from tests.unit.knowledge.layer.battery import COLLECTION, all_tables, fact_id, made, released


@pytest.fixture(scope="module")
def cooling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Knowledge]:
    with all_tables():
        lake = released(made(tmp_path_factory.mktemp("comparing") / "lake"))
        with scholarlake.open(lake.root) as reader:
            yield reader.knowledge(COLLECTION)


def test_rows_come_in_the_order_of_papers_and_sentences_whatever_the_numbers(cooling: Knowledge) -> None:
    forward = cooling.compare(cooling.select(type="finding"))
    backward = cooling.compare(cooling.get(reversed(cooling.select(type="finding").ids)))
    assert [row.object_id for row in forward.rows] == [fact_id(number) for number in (2, 5, 6, 8, 11, 9)]
    assert backward.rows == forward.rows


def test_values_stand_as_written_and_differing_units_are_told(cooling: Knowledge) -> None:
    found = cooling.compare(cooling.select(type="finding"))
    assert found.cell(fact_id(5), "peak temperature") == ("36 °C",)
    assert found.cell(fact_id(6), "peak temperature") == ("321 K",)
    assert found.cell(fact_id(8), "number of no named metric") == ("20 min",)
    assert found.cell(fact_id(11), "peak temperature") == ()
    assert "peak temperature is reported in K, °C: values stand as written, nothing is converted" in found.notes


def test_what_is_comparable_is_one_metric_in_one_unit_with_what_differs(cooling: Knowledge) -> None:
    found = cooling.compare(cooling.select(type="finding"))
    assert found.shared == (
        Shared("peak temperature", "°C", (fact_id(2), fact_id(5), fact_id(9)), alike=("condition",), differs=("subject",)),
    )
    kelvin_too = cooling.compare(cooling.get([fact_id(5), fact_id(6)]))
    assert kelvin_too.shared == (), "one is in kelvin"


def test_dimensions_tell_whether_findings_agree_along_them(cooling: Knowledge) -> None:
    found = cooling.compare(cooling.get([fact_id(5), fact_id(6), fact_id(8)]))
    assert {one.name: one.agreement for one in found.dimensions} == {
        "subject": "differs",
        "type": "same",
        "setting": "partly",
        "condition": "differs",
        "load": "partly",
        "number of no named metric": "partly",
        "peak temperature": "differs",
        "temperature": "partly",
    }


def test_a_label_belongs_to_the_result_that_it_rests_on_and_to_no_other(cooling: Knowledge) -> None:
    found = cooling.compare(cooling.facts_of("p2"))
    assert [found.cell(fact_id(number), "load") for number in (4, 5, 6)] == [(), (), ("high load (likely)",)]
    assert "method family" not in [one.name for one in found.dimensions], "findings are not compared along it"


def test_versions_of_one_work_and_doubted_facts_are_told(cooling: Knowledge) -> None:
    notes = cooling.compare(cooling.select(type="finding")).notes
    assert "p2 and p4 are versions of one work: one source" in notes
    assert f"a check did not find these supported by their sentences: {fact_id(8)}" in notes


def test_dimensions_can_be_named_and_unknown_ones_are_told_with_those_there_are(cooling: Knowledge) -> None:
    view = cooling.get([fact_id(2), fact_id(6)])
    found = cooling.compare(view, ["Condition", "population", "method family", "peak temperature"])
    assert [(one.name, one.kind) for one in found.dimensions] == [
        ("condition", "condition"),
        ("population", "condition"),
        ("method family", "category"),
        ("peak temperature", "quantity"),
    ]
    assert found.rows[0].cells == (("2 C discharge",), (), (), ("41.5 °C",))
    with pytest.raises(BadRequest, match=r"no dimension 'price' .*; there are: subject, type, condition, load, peak temperature"):
        cooling.compare(view, ["price"])


def test_without_facts_there_is_nothing_to_compare(cooling: Knowledge) -> None:
    with pytest.raises(BadRequest, match="no fact in the view to compare; expand it along basis"):
        cooling.compare(cooling.select(kind="entity"))


def test_a_comparison_is_plain_values_and_a_table(cooling: Knowledge) -> None:
    found = cooling.compare(cooling.get([fact_id(2), fact_id(5)]), ["condition", "peak temperature"])
    assert found.to_dict()["rows"][0]["cells"] == {"condition": ("2 C discharge",), "peak temperature": ("41.5 °C",)}
    assert found.text() == (
        "|  | condition | peak temperature |\n"
        "|---|---|---|\n"
        "| 1 | 2 C discharge | 41.5 °C |\n"
        "| 2 | 2 C discharge | 36 °C |\n"
        f"1. {fact_id(2)}, Channel cooling of pouch cells (2018): At 2 C discharge the peak temperature was 41.5 °C.\n"
        f"2. {fact_id(5)}, Immersion cooling at high discharge rates (2020): "
        "Immersion cooling kept the peak temperature at 36 °C at 2 C discharge.\n"
        "- peak temperature in °C: 1, 2; they differ, or do not all say, along subject"
    )
    assert "best" not in found.text()
    assert MAX_ROWS == 200
