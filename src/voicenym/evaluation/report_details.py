"""What a report says beyond its first table: kinds of errors, noise, diversity, how to read."""

from __future__ import annotations

from html import escape

from voicenym.evaluation import diversity
from voicenym.evaluation.condition_weights import WEIGHTED as MEAN
from voicenym.evaluation.html import grid, interval, number
from voicenym.evaluation.protection import WEIGHTED
from voicenym.evaluation.results import AttackFigures, Evaluation, Measured, SystemResults
from voicenym.evaluation.utility import KINDS

ERRORS = ("WER", "CER")
SOUND = (("rho_F0", 2), ("rho_F0 by chance", 2), ("SNR", 1))
DIVERSITY = (("D_KS", 2), *((name, 1) for name in diversity.FIGURES))
BLOCKS = tuple((f"M_{b} {kind}", 2) for b in ("oo", "oa", "aa") for kind in ("own", "others"))
DIGITS = {"rho_F0": 2}
HEADS = {"SNR": "SNR, dB", "D_KS": "D_KS, 0 to 1", "entropy": "entropy, nats"}


def utility(evaluation: Evaluation) -> list[str]:
    """Tables of errors by kind, and of sound and diversity; nothing where nothing was measured."""
    every: list[tuple[str, dict[str, Measured]]] = [("(original)", evaluation.utility)]
    every += [(system.name, system.utility) for system in evaluation.systems]
    kinds = [name for e in ERRORS for name in (e, *(f"{e} {kind}" for kind in KINDS))]
    errors = _table("Errors of the recogniser, in %", [(k, 1) for k in kinds], every)
    sound = _table("Sound", SOUND, every[1:])
    voices = _table("Diversity of voices", DIVERSITY, every)
    blocks = _table("Voice similarity, 0 to 1", BLOCKS, every[1:])
    named = list(dict.fromkeys(m for _, figures in every for m in figures))
    means = _table(
        "Means over data sets with the weights of the VoicePrivacy Challenge",
        [(m, DIGITS.get(m.removeprefix(f"{MEAN} "), 1)) for m in named if m.startswith(MEAN)],
        every,
    )
    tables = [table for table in (errors, sound, voices, blocks, means) if table]
    if not tables:
        return []
    text = []
    if errors:
        text.append(
            "WER counts words, CER characters without blanks: substitutions, deletions and "
            "insertions, each as a share of what was said, add up to it."
        )
    if sound:
        text.append(
            "rho_F0 by chance: an original's melody against another recording's, which the "
            "melody's own correlation must exceed to mean something. SNR: only of systems that add "
            "a little to the waveform does it say how they sound; a waveform made anew is near "
            "\N{MINUS SIGN}3 dB."
        )
    if voices:
        text.append(
            "D_KS: the largest gap between the distributions of how alike different people's "
            "voices are, before and after; 0 is a diversity as before. Entropy: of the Gaussian "
            "mixture of these people's voices, with bounds that need no sampling; effective "
            "voices: how many that are alike frequent and apart have as much, from bound to bound."
        )
    if blocks:
        text.append(
            "M_oo, M_oa, M_aa: mean similarity of originals, of originals with anonymized and of "
            "anonymized voices, own: of one person, others: of two."
        )
    if means:
        text.append(
            "Weighted: G_VD (in dB) and rho_F0 are means over data sets and sexes with the weights "
            "of the EER's, WER is that of LibriSpeech and VCTK, half each; each part is in "
            "results.csv."
        )
    return [
        "<h2>Utility in detail</h2>",
        *tables,
        f"<p><small>{' '.join(text)}</small></p>",
    ]


def _table(
    caption: str,
    columns: tuple[tuple[str, int], ...] | list[tuple[str, int]],
    every: list[tuple[str, dict[str, Measured]]],
) -> str:
    """Rows of those for whom anything of it was measured, columns of what was for anybody."""
    there = [(m, d) for m, d in columns if any(m in figures for _, figures in every)]
    rows = [
        [escape(name), *(interval(figures.get(m), d, "\N{EN DASH}") for m, d in there)]
        for name, figures in every
        if any(m in figures for m, _ in there)
    ]
    if not rows:
        return ""
    heads = ["system", *(HEADS.get(metric, metric) for metric, _ in there)]
    return f'<div class="more">{grid(caption, heads, rows)}</div>'


def attackers(evaluation: Evaluation) -> list[str]:
    """How to read the tables of attackers, as far as they hold what is explained."""
    attacks: list[AttackFigures] = [*evaluation.unprotected]
    attacks += [attack for system in evaluation.systems for attack in system.attacks]
    metrics = {metric for attack in attacks for metric in attack.figures}
    text = [
        "EER f, m: among women, among men. ROCCH-EER: on the convex hull. min C_llr: bits that are "
        "missing after the best calibration, 1 is nothing known. D_ECE and worst case: what is "
        "disclosed on average, in bit, and at most, as log10 of a likelihood ratio; the tag is its "
        "category, 0 and A (little) to F. D_sys: linkability, 0 to 1, which chance alone raises "
        "above 0 where trials are few: its interval is freed of that and may lie below the figure."
    ]
    if "MMR" in metrics:
        text.append(
            "MMR, WMR in %: trials of the same person that are missed, and of others that match, "
            "at the threshold of equal errors on original speech of the same scoring; they are "
            "left out where there is no such scoring."
        )
    if WEIGHTED in metrics:
        text.append(
            "Weighted EER: the mean of the parts' own, with the weights of the VoicePrivacy "
            "Challenge (Miao et al. 2023, appendix A): 0.25 for LibriSpeech, 0.20 for VCTK with "
            "different sentences and 0.05 with common ones, for women and for men alike."
        )
    if any("AS-norm" in attack.attacker for attack in attacks):
        text.append("AS-norm: scores normalised by those of other people.")
    return [f"<p><small>{' '.join(text)}</small></p>"] if metrics else []


def weighted(system: SystemResults) -> list[str]:
    """For the verdict: the lowest weighted mean of an attacker without the key, where there is one.

    It need not be the attacker of the headline, whose rate has one threshold for all data sets.
    """
    found = [a for a in system.attacks if not a.holds_key and WEIGHTED in a.figures]
    if not found:
        return []
    top = min(found, key=lambda a: a.figures[WEIGHTED].value)
    mean = top.figures[WEIGHTED]
    limits = ""
    if mean.low is not None and mean.high is not None:
        limits = f" ({number(mean.low, 1)} to {number(mean.high, 1)}&nbsp;%)"
    return [
        f"<p>Averaged over data sets and sexes with the weights of the VoicePrivacy Challenge: "
        f"<b>{number(mean.value, 1)}&nbsp;%</b>{limits}, by {escape(top.attacker)}, "
        f"{escape(top.verifier)}.</p>"
    ]
