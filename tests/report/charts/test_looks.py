from __future__ import annotations

from shaketable.report.charts.few import few
from shaketable.report.charts.looks import KNOWN, SPARE, evidence_looks, names_legend, ordered_looks


def test_an_evidence_has_one_color_dash_and_shape_in_every_picture() -> None:
    alone, together = evidence_looks(["sentence removal"]), evidence_looks(["unchanged", "sentence removal", "typos"])
    assert alone["sentence removal"] == together["sentence removal"]
    assert len({look.color for look in together.values()}) == 3
    assert len({look.dash for look in together.values()}) == 3
    assert len({look.shape for look in together.values()}) == 3


def test_known_evidence_stands_before_strangers() -> None:
    assert list(evidence_looks(["typos", "no evidence", "unchanged"])) == ["unchanged", "no evidence", "typos"]


def test_no_two_of_many_series_look_the_same() -> None:
    looks = ordered_looks([f"system {i}" for i in range(len(KNOWN) + len(SPARE))])
    assert len(set(looks.values())) == len(looks)


def test_a_legend_breaks_where_long_names_do_not_fit_side_by_side() -> None:
    assert names_legend(["a", "b", "c"]).to_dict()["columns"] == 3
    assert names_legend(["long " * 12] * 3).to_dict()["columns"] == 2
    assert names_legend(["long " * 12] * 3, width=100).to_dict()["columns"] == 1


def test_few_temperatures_are_picked_with_both_ends() -> None:
    assert few([0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0]) == [0.0, 0.6, 1.4, 2.0]
    assert few([0.0, 1.0]) == [0.0, 1.0]
    assert few([0.7]) == [0.7]
