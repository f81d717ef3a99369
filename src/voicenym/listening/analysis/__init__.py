"""Analysis of answers: quality of listeners, figures with intervals, and the report."""
