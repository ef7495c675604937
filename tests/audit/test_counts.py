from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from omibench.audit.counts import check_counts, find_count
from omibench.printed_tables.cells import PrintedCell
from omibench.printed_tables.rows import PrintedNumber


def cell(
    value: float, n: int, part: str = "physics", row: str = "m", digits: int = 2
) -> PrintedCell:
    number = PrintedNumber(value, digits)
    return PrintedCell("t.csv", row, "d", "", part, "acc", "count", n, number)


@given(n=st.integers(1, 3000), digits=st.integers(0, 3), data=st.data())
def test_a_rounded_count_is_found(n: int, digits: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, n))
    number = PrintedNumber(round(100 * count / n, digits), digits)
    found = find_count(number, n)
    assert found is not None
    assert number.admits(100 * found / n)


@given(value=st.floats(0, 100), n=st.integers(1, 400))
def test_a_count_that_is_found_gives_the_value(value: float, n: int) -> None:
    number = PrintedNumber(round(value, 2), 2)
    found = find_count(number, n)
    near = [c for c in range(n + 1) if abs(100 * c / n - number.value) <= 0.005 + 1e-9]
    assert (found is None) == (not near)
    assert found is None or found in near


def test_the_number_of_problems_that_all_values_of_a_column_fit_is_named() -> None:
    cells = [cell(round(100 * count / 249, 2), 251, row=str(count)) for count in (151, 131, 47)]
    notes = [finding.note for finding in check_counts(cells)]
    assert notes == [f"no count of 251 gives it; {count} of 249 would" for count in (151, 131, 47)]


def test_a_row_of_ratios_is_checked_only_where_it_is_one_of_counts() -> None:
    def ratios(values: list[float]) -> list[PrintedCell]:
        parts = zip(values, ("a", "b", "c", "d"), strict=True)
        return [cell(value, 50, part)._replace(kind="ratio") for value, part in parts]

    assert not list(check_counts(ratios([10.55, 20.13, 30.0, 7.77])))
    findings = list(check_counts(ratios([10.0, 20.0, 30.0, 7.77])))
    assert [finding.agrees for finding in findings] == [True, True, True, False]
