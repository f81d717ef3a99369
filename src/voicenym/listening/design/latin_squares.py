"""Williams designs: Latin squares in which each condition follows each other one equally often.

Williams, "Experimental designs balanced for the estimation of residual effects of treatments",
Australian Journal of Scientific Research A 2 (1949).
"""

from __future__ import annotations


def williams(conditions: int) -> list[list[int]]:
    """Orders of conditions: one row a listener.

    Each condition is at each place equally often, and follows each other one equally often: once
    for an even number of conditions (as many rows), twice for an odd one (twice as many).

    Args:
        conditions: number, at least 1.

    Example:
        >>> williams(4)
        [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]
    """
    if conditions == 1:
        return [[0]]
    first, low, high = [0], 1, conditions - 1
    while low <= high:
        first.append(low)
        if low < high:
            first.append(high)
        low, high = low + 1, high - 1
    rows = [[(step + shift) % conditions for step in first] for shift in range(conditions)]
    return rows if conditions % 2 == 0 else rows + [row[::-1] for row in rows]
