"""Deng et al. 2023: values of the extended version's tables that the text quotes."""

from __future__ import annotations

from voicenym.reproduction.bench import Bench
from voicenym.reproduction.outcome import Finding
from voicenym.reproduction.paper_table import Ours


def quoted_sums(bench: Bench) -> Ours:
    """Differences that the text states, computed from the values that it states."""
    stated = (
        ("MP3 lowers V-Cloak's MMR by 3.27 points", 94.02 - 90.75, 3.27),
        ("MP3 lowers V-Cloak's EER by 9.26 points", 46.10 - 36.84, 9.26),
        ("V-Cloak raises the mean WER by 1.46 points", 7.65 - 6.19, 1.46),
        ("French: the WER rises by 6.59 points", 22.91 - 16.33, 6.59),
        ("Italian: the WER rises by 6.55 points", 21.66 - 15.11, 6.55),
    )
    findings = tuple(
        Finding(claim, abs(found - printed) < 0.0051, f"the stated values differ by {found:.2f}",
                arithmetic=True)
        for claim, found, printed in stated
    )  # fmt: skip
    reason = (
        "French and Italian need speech with texts in these languages, and recognisers of them, "
        "which are not at hand"
    )
    return Ours(findings=findings, notes=(reason,))
