"""Tables and figures of Deng et al. 2023."""

from __future__ import annotations

from voicenym.reproduction import languages
from voicenym.reproduction.deng import (
    deng_ablations,
    deng_comparison,
    deng_denoisers,
    deng_quotes,
    deng_speech,
    deng_targets,
    deng_verifiers,
)
from voicenym.reproduction.paper_table import (
    ANSWERS,
    CLOAKS,
    NOTHING,
    SPEECH,
    WORDS,
    Compute,
    Paper,
    PaperTable,
)

PAPER = Paper(
    "deng-2023",
    "Deng et al. 2023",
    "J. Deng, F. Teng, Y. Chen, X. Chen, Z. Wang, W. Xu, V-Cloak: intelligibility-, naturalness- & "
    "timbre-preserving real-time voice anonymization, USENIX Security 2023",
)
CLOAK = (
    "vcloak has the bundled small weights, trained for an hour on one core against two small "
    "verifiers; the paper trains on VoxCeleb1 against ECAPA-TDNN and DeepSpeech2"
)
SYSTEMS = (
    "HFGAN is ssl-select with bundled weights, VoiceMask is vtln, McAdams is mcadams; NSF is b1a, "
    "with bundled weights of a laptop's size, an inverse-STFT vocoder in the place of the NSF"
)
VERIFIERS = (
    "verifiers of this package, given by --verifier, where the paper has ECAPA-TDNN, x-vectors, "
    "GMM-UBM, i-vectors and the commercial iFlytek"
)
DATA = (
    "the speech given, where the paper has LibriSpeech test-clean (40 speakers, 2,620 utterances)"
)
ATTACKERS = (
    "A1 is the ignorant attacker and A3 the lazy-informed one; section 5.5 does not define which "
    "recordings A3 enrols: here the enrolment under the attacker's own key"
)
THRESHOLD = (
    "the paper leaves the threshold of MMR undefined: here that of equal errors on original speech"
)
RECOGNISERS = "Whisper where the paper has five recognisers, which the extended version alone names"
SEVERAL = (
    "--verifier ecapa-small --verifier resemblyzer --verifier gmm-ubm:IVECTOR --verifier "
    "ivector:IVECTOR"
)
"""Verifiers that are at hand; IVECTOR is a folder of voicenym train ivector."""
EXTENDED = "the table is in the extended version; only values that the text quotes are here"


def _of(
    name: str,
    title: str,
    compute: Compute,
    how: str,
    *differs: str,
    needs: tuple[str, ...] = (SPEECH,),
    cost: str = "minutes",
    options: str = "",
) -> PaperTable:
    return PaperTable(PAPER, name, title, compute, how, differs, needs, cost, options)


TABLES = (
    _of("table-1", "Methods and real-time coefficients", deng_speech.speed,
        "computing time on one core as a share of the duration", CLOAK, SYSTEMS,
        "one core of the machine at hand; the paper does not name its own"),
    _of("table-2", "Data sets", deng_speech.data_sets, "counted", DATA, cost="seconds"),
    _of("table-3", "Verifiers on original speech", deng_verifiers.verifiers,
        "EER of every --verifier on original speech", VERIFIERS, DATA, options=SEVERAL),
    _of("table-4", "Adversary A3", deng_verifiers.unlinkability,
        "the lazy-informed attacker; for the last column the key-holder that gives all models the "
        "trial's voice", CLOAK, SYSTEMS, VERIFIERS, DATA, ATTACKERS,
        "in the column 'without key' our targets are drawn by the key",
        needs=(NOTHING, SPEECH), options=SEVERAL),
    _of("table-5", "Verifiers trained on other data", deng_verifiers.separate,
        "MMR, WMR and EER of the ignorant attacker", CLOAK, SYSTEMS, VERIFIERS, DATA, THRESHOLD,
        "ecapa-small is part of vcloak's training; Resemblyzer is not",
        needs=(NOTHING, SPEECH), options=SEVERAL),
    _of("figure-6", "Adversary A1 and words", deng_comparison.comparison,
        "means over every --verifier, each verifier, and word errors", CLOAK, SYSTEMS, VERIFIERS,
        DATA, THRESHOLD, RECOGNISERS, needs=(SPEECH, WORDS), options=SEVERAL),
    _of("figure-7", "Adversary A2: de-noisers", deng_denoisers.cleaned,
        "the ignorant attacker after each of six de-noisers, means over every --verifier and each "
        "verifier", CLOAK, SYSTEMS, VERIFIERS, DATA,
        THRESHOLD, "MP3 at 32 kbit/s; the paper names no rate", options=SEVERAL),
    _of("figure-8", "Levels of anonymization", deng_speech.levels,
        "the budget's values of epsilon", CLOAK, DATA, THRESHOLD, needs=(SPEECH, WORDS)),
    _of("figure-9", "User study", deng_speech.users, "means and normalised ranks of --answers",
        "listeners of your own; the paper has 102", needs=(ANSWERS,), cost="seconds"),
    _of("table-8", "Chinese", languages.chinese_of_deng,
        "the ignorant attacker on the corpus espeak-cmn of "
        "benchmarks/studies/languages/other_languages.py", CLOAK, VERIFIERS, THRESHOLD, EXTENDED,
        "synthetic Mandarin of espeak-ng where the paper has AISHELL", needs=(NOTHING, SPEECH)),
    _of("table-9-10", "French and Italian", deng_quotes.quoted_sums,
        "differences of the values that the text states", EXTENDED, needs=(NOTHING,),
        cost="seconds"),
    _of("table-17", "Targets matched", deng_targets.matched,
        "cosines to the target's other recordings, and matches at the threshold of equal errors",
        "vcloak-target has bundled small weights, trained on targets for 35 minutes on a third of "
        "a core", VERIFIERS, DATA, THRESHOLD, EXTENDED),
    _of("table-20", "Without the intelligibility loss", deng_ablations.ablations,
        "means over every --verifier, and word errors, of cloaks trained without a part of the "
        "recipe (section 5.7)",
        "the cloaks have the small network and a small budget; the paper's have its own size, and "
        "50 epochs of VoxCeleb1",
        "L_ASR compares levels of a filterbank, or posteriors of phones-small, where the paper has "
        "DeepSpeech2; the state of silence stands for CTC's blank",
        VERIFIERS, DATA, THRESHOLD, "Whisper where the paper has five recognisers", EXTENDED,
        needs=(NOTHING, SPEECH, WORDS, CLOAKS)),
)  # fmt: skip
EXTENSION = "is in the extended version, whose text is not at hand"
NOT_HERE = {
    "figures 1 to 5": "are diagrams: nothing is measured",
    "table-6": f"the recognisers of words; {EXTENSION}",
    "table-7": f"figure 6 by verifier; {EXTENSION}; figure-6 has ours",
    **{f"table-{n}": f"figure 7, one of six de-noisers; {EXTENSION}; figure-7 has ours"
       for n in range(11, 17)},
    "table-18": f"without Throttle; {EXTENSION}; table-20 has ours with --cloak no-throttle",
    "table-19": f"levels of epsilon; {EXTENSION}; figure-8 has ours",
    "figure-10": f"Chinese; {EXTENSION}; table-8 has what the text quotes",
    "figure-11": f"levels of epsilon; {EXTENSION}; figure-8 has ours",
    "figure-12": f"French and Italian; {EXTENSION}; table-9-10 has what the text quotes",
    "figure-13": f"without Throttle; {EXTENSION}; table-20 has ours with --cloak no-throttle",
}  # fmt: skip
"""Tables and figures without a command, with the reason."""
