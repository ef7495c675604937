from __future__ import annotations

from omibench.study.explain import find_nearest_ids, make_id_error


def test_the_nearest_three_ids_come_first() -> None:
    known = [f"physics-{i}" for i in range(1, 40)] + ["biology-3", "chemistry-12", "math-7"]
    assert find_nearest_ids("phyiscs-33", known)[0] == "physics-33"
    assert find_nearest_ids("Biology_3", known)[0] == "biology-3"
    assert len(find_nearest_ids("zzz", known)) == 3
    error = str(make_id_error("phys\x1b-33", known))
    assert error.count("physics-") == 3
    assert "\x1b" not in error
    assert "the only one is 'q1'" in str(make_id_error("zzz", ["q1"]))
