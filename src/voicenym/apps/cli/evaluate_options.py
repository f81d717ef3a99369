"""Options of ``voicenym evaluate``.

Each option is declared here; it is also a parameter of
:func:`voicenym.apps.cli.evaluate.evaluate` and a field of
:class:`voicenym.apps.cli.evaluate_request.Request` of the same name.
"""

from __future__ import annotations

import typer

CORPUS = typer.Argument(
    None, help="Folder of speakers, Kaldi data folder, or TSV manifest of original speech."
)
OUTPUT = typer.Option(..., "--output", "-o", help="Folder of the report.")
SYSTEM = typer.Option(
    [],
    "--system",
    "-s",
    metavar="NAME[:FIELD=VALUE,...]",
    rich_help_panel="Systems",
    help=(
        "System, with settings where they differ from its defaults, such as "
        "mcadams:low=0.8,high=0.8; may be repeated. A value with commas stands in parentheses: "
        "base:identity=(selection:pool=P,world=5)."
    ),
)
EVERY = typer.Option(
    False,
    "--all",
    rich_help_panel="Systems",
    help="Evaluate every system whose weights are here.",
)
ORIGINAL = typer.Option(
    None, "--original", rich_help_panel="Systems", help="Original speech, with --anonymized."
)
ANONYMIZED = typer.Option(
    None,
    "--anonymized",
    rich_help_panel="Systems",
    help="The same recordings, anonymized by something else.",
)
ANONYMIZED_SUFFIX = typer.Option(
    "",
    "--anonymized-suffix",
    rich_help_panel="Systems",
    help="End of the names of Kaldi data folders of anonymized speech, such as _mcadams; they lie "
    "beside those of original speech, or in the folder of --anonymized.",
)
ANONYMIZED_ENROLMENT = typer.Option(
    [],
    "--anonymized-enrolment",
    rich_help_panel="Attackers",
    help="With --anonymized: the enrolment, anonymized under keys of the attackers (a challenge's "
    "libri_dev_enrolls, or another folder); may be repeated. Adds attackers who know the system.",
)
ANONYMIZED_POOL = typer.Option(
    [],
    "--anonymized-pool",
    rich_help_panel="Attackers",
    help="With --anonymized-enrolment: anonymized speech of other speakers (a challenge's "
    "train-clean-360, or another folder), with labels of its own or the originals as --pool; may "
    "be repeated. Adds attackers who train on it.",
)
LINE = typer.Option(
    None,
    "--line",
    rich_help_panel="Speech",
    help="Pass all speech, original and anonymized, through a telephone line at 8 kHz: g711 "
    "(A-law), g711-mulaw, gsm, amr (12.2 kbit/s), amr-4.75.",
)
SPLIT = typer.Option(None, "--split", rich_help_panel="Speech", help="Split of a manifest to use.")
PART = typer.Option(None, "--corpus", rich_help_panel="Speech", help="Corpus of a manifest to use.")
HALF = typer.Option(
    None,
    "--half",
    rich_help_panel="Speech",
    help=(
        "tune or report: use every other speaker, one half to tune a system and the "
        "other to report."
    ),
)
POOL = typer.Option(
    None,
    "--pool",
    rich_help_panel="Attackers",
    help="Speech of other speakers, on which attackers train.",
)
POOL_SPLIT = typer.Option(
    None, "--pool-split", rich_help_panel="Attackers", help="Split of the manifest of --pool."
)
POOL_PART = typer.Option(
    None,
    "--pool-corpus",
    rich_help_panel="Attackers",
    help="Corpus of the manifest of --pool.",
)
POOL_SIZE = typer.Option(
    600,
    "--pool-size",
    min=0,
    rich_help_panel="Attackers",
    help="Recordings of --pool at most, from all its speakers.",
)
ENROLLS = typer.Option(
    [],
    "--enrolls",
    rich_help_panel="Trials",
    help="VoicePrivacy enrolment list; may be repeated.",
)
TRIALS = typer.Option(
    [],
    "--trials",
    rich_help_panel="Trials",
    help=(
        "VoicePrivacy trial list; may be repeated. The rates of several lists are also "
        "averaged with the challenge's weights."
    ),
)
LISTS = typer.Option(
    True,
    "--lists/--no-lists",
    rich_help_panel="Trials",
    help="Use the lists enrolls and trials that lie in Kaldi data folders of the corpus, rather "
    "than draw trials.",
)
ENROLMENT = typer.Option(
    8,
    "--enrolment",
    min=1,
    rich_help_panel="Trials",
    help="Enrolment utterances per speaker.",
)
TRIED = typer.Option(
    6, "--tried", min=1, rich_help_panel="Trials", help="Trial utterances per speaker."
)
ANY_SEX = typer.Option(
    False,
    "--any-sex",
    rich_help_panel="Trials",
    help="Also compare speakers of different sex.",
)
PER = typer.Option(
    "speaker",
    "--per",
    rich_help_panel="Systems",
    help="Voices: one per speaker, one per utterance, or one for everybody.",
)
TARGETS = typer.Option(
    None,
    "--targets",
    rich_help_panel="Systems",
    help="Target voices: random, same-sex (voices of the speaker's sex) or one-for-all; attackers "
    "draw theirs alike. Default: as each system draws them.",
)
KEYS = typer.Option(
    24, "--keys", min=1, rich_help_panel="Attackers", help="Keys that the key search tries."
)
DENOISE = typer.Option(True, help="Also run V-Cloak's de-noising attackers.")
SANITY = typer.Option(
    True,
    help=(
        "Also run attackers on original speech, on copied speech and on the system at half "
        "strength: who finds nobody there is broken, not defeated. A network that is trained has a "
        "quarter of --attacker-budget for each."
    ),
)
ONLY = typer.Option(
    [],
    "--attacker",
    rich_help_panel="Attackers",
    help=(
        "Run only attackers whose names contain this text, such as 'verifier trained'; "
        "may be repeated. The strongest attacker may then be missing."
    ),
)
VERIFIERS = typer.Option(
    [],
    "--verifier",
    rich_help_panel="Attackers",
    help=(
        "Verifier of the attackers: ecapa-small, resemblyzer, a folder of voicenym "
        "train verifier, gmm-ubm:FOLDER of train ubm or ivector, ivector:FOLDER of "
        "train ivector, ecapa:PLACE or xvector:PLACE of published weights (a pulled "
        "name, or a folder of models convert); may be repeated. Default: the first two, "
        "if their weights are here."
    ),
)
ATTACKER_BUDGET = typer.Option(
    None,
    "--attacker-budget",
    rich_help_panel="Attackers",
    help=(
        "Training time of the semi-informed attacker per system, such as 20m or 2h: it "
        "trains a verifier on the anonymized --pool. Without, it trains a back end "
        "only."
    ),
)
ATTACKER_START = typer.Option(
    "ecapa-small",
    "--attacker-from",
    rich_help_panel="Attackers",
    help="Verifier that this training starts from; 'nothing' trains from scratch.",
)
ATTACKER_CONFIG = typer.Option(
    "attacker",
    "--attacker-config",
    rich_help_panel="Attackers",
    help="Configuration of this training.",
)
ATTACKER_PRETRAINED = typer.Option(
    None,
    "--attacker-pretrained",
    rich_help_panel="Attackers",
    help=(
        "Folder of voicenym train two-branch: a verifier of filterbanks and a frozen network, "
        "which an attacker with --attacker-budget adapts to each system."
    ),
)
NORMALISER = typer.Option(
    None,
    "--normalise",
    rich_help_panel="Attackers",
    help="as-norm: also run attackers with scores normalised against --pool.",
)
RECOGNISER = typer.Option(
    None,
    "--recogniser",
    rich_help_panel="Words",
    help="whisper, wav2vec2, hybrid or ctc (trained here), sphinx, or none; default: whisper, if "
    "its weights are here.",
)
WEIGHTS = typer.Option(
    None,
    "--recogniser-weights",
    rich_help_panel="Words",
    help="Folder or hub name of its weights.",
)
RETRAINED = typer.Option(
    [],
    "--recogniser-anonymized",
    rich_help_panel="Words",
    help="SYSTEM=FOLDER: a recogniser that voicenym train whisper, hybrid or recogniser trained on "
    "this system's output; may be repeated.",
)
PHONES = typer.Option(
    None,
    "--phones",
    rich_help_panel="Words",
    help="Folder of voicenym train hybrid, whose network counts phone errors.",
)
SOUND = typer.Option(
    [],
    "--metric",
    rich_help_panel="Words",
    help="Beside words, measure only metrics of sound whose names contain this text, such as "
    "DNSMOS; may be repeated. 'none' for none.",
)
TRANSCRIPTS = typer.Option(
    [],
    "--transcripts",
    rich_help_panel="Words",
    help=(
        "SYSTEM=FILE: transcripts of a system's output by another recogniser "
        "(original=FILE, files=FILE): Kaldi's text, a TSV or a folder; may be repeated."
    ),
)
SAMPLE = typer.Option(60, "--sample", min=1, help="Recordings to measure utility on.")
REPLICATES = typer.Option(
    1000, "--replicates", min=20, help="Bootstrap replicates of the intervals."
)
SEED = typer.Option(0, "--seed", help="Seed of trials, samples and bootstrap.")
WORKERS = typer.Option(1, "--workers", "-j", min=1, help="Number of processes.")
CACHE = typer.Option(None, "--cache", help="Cache of speaker vectors; default: in the report.")
QUIET = typer.Option(False, "--quiet", "-q", help="Print errors only.")
VECTORS = typer.Option(
    None,
    "--vectors",
    rich_help_panel="Vectors",
    help=(
        "Evaluate identity methods on speaker vectors, in a folder of voicenym pool "
        "build --utterances; --pool is then such a folder too."
    ),
)
IDENTITIES = typer.Option(
    [],
    "--identity",
    rich_help_panel="Vectors",
    help="[LABEL=]METHOD:FIELD=VALUE,..., for --vectors; may be repeated.",
)
ATTACKER_IDENTITIES = typer.Option(
    [],
    "--attacker-identity",
    rich_help_panel="Vectors",
    help="LABEL=METHOD:..., the method with the weights of the attackers, where they differ.",
)
