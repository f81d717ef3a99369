"""Options of ``voicenym evaluate``.

Each option is declared here; it is also a parameter of
:func:`voicenym.apps.cli.commands.evaluate.evaluate` and a field of
:class:`voicenym.apps.cli.evaluating.evaluate_request.Request` of the same name.
"""

from __future__ import annotations

from functools import partial

import typer

systems_option = partial(typer.Option, rich_help_panel="Systems")
speech_option = partial(typer.Option, rich_help_panel="Speech")
attackers_option = partial(typer.Option, rich_help_panel="Attackers")
trials_option = partial(typer.Option, rich_help_panel="Trials")
words_option = partial(typer.Option, rich_help_panel="Words")
vectors_option = partial(typer.Option, rich_help_panel="Vectors")

CORPUS = typer.Argument(
    None,
    help="Folder of speakers, Kaldi data folder, TSV manifest, or shards of original speech, on "
    "this machine or in an object store.",
)
OUTPUT = typer.Option(..., "--output", "-o", help="Folder of the report.")
SYSTEM = systems_option(
    [],
    "--system",
    "-s",
    metavar="NAME[:FIELD=VALUE,...]",
    help=(
        "System, with settings where they differ from its defaults, such as "
        "mcadams:low=0.8,high=0.8; may be repeated. A value with commas stands in parentheses: "
        "base:identity=(selection:pool=P,world=5)."
    ),
)
EVERY = systems_option(
    False,
    "--all",
    help="Evaluate every system whose weights are here.",
)
ORIGINAL = systems_option(None, "--original", help="Original speech, with --anonymized.")
ANONYMIZED = systems_option(
    None,
    "--anonymized",
    help="The same recordings, anonymized by something else.",
)
ANONYMIZED_SUFFIX = systems_option(
    "",
    "--anonymized-suffix",
    help="End of the names of Kaldi data folders of anonymized speech, such as _mcadams; they lie "
    "beside those of original speech, or in the folder of --anonymized.",
)
ANONYMIZED_ENROLMENT = attackers_option(
    [],
    "--anonymized-enrolment",
    help="With --anonymized: the enrolment, anonymized under keys of the attackers (a challenge's "
    "libri_dev_enrolls, or another folder); may be repeated. Adds attackers who know the system.",
)
ANONYMIZED_POOL = attackers_option(
    [],
    "--anonymized-pool",
    help="With --anonymized-enrolment: anonymized speech of other speakers (a challenge's "
    "train-clean-360, or another folder), with labels of its own or the originals as --pool; may "
    "be repeated. Adds attackers who train on it.",
)
LINE = speech_option(
    None,
    "--line",
    help="Pass all speech, original and anonymized, through a telephone line at 8 kHz: g711 "
    "(A-law), g711-mulaw, gsm, amr (12.2 kbit/s), amr-4.75.",
)
LIVE = speech_option(
    False,
    "--live",
    help="Measure systems as live streams, which have only running averages; their figures and "
    "speech are kept apart from those of whole recordings.",
)
SPLIT = speech_option(None, "--split", help="Split of a manifest to use.")
PART = speech_option(None, "--corpus", help="Corpus of a manifest to use.")
HALF = speech_option(
    None,
    "--half",
    help=(
        "tune or report: use every other speaker, one half to tune a system and the "
        "other to report."
    ),
)
POOL = attackers_option(
    None,
    "--pool",
    help="Speech of other speakers, on which attackers train.",
)
POOL_SPLIT = attackers_option(None, "--pool-split", help="Split of the manifest of --pool.")
POOL_PART = attackers_option(
    None,
    "--pool-corpus",
    help="Corpus of the manifest of --pool.",
)
POOL_SIZE = attackers_option(
    600,
    "--pool-size",
    min=0,
    help="Recordings of --pool at most, from all its speakers, or from as many as have two each. "
    "Attackers that train find more from more.",
)
ENROLLS = trials_option(
    [],
    "--enrolls",
    help="VoicePrivacy enrolment list; may be repeated.",
)
TRIALS = trials_option(
    [],
    "--trials",
    help=(
        "VoicePrivacy trial list; may be repeated. The rates of several lists are also "
        "averaged with the challenge's weights."
    ),
)
LISTS = trials_option(
    True,
    "--lists/--no-lists",
    help="Use the lists enrolls and trials that lie in Kaldi data folders of the corpus, rather "
    "than draw trials.",
)
ENROLMENT = trials_option(
    8,
    "--enrolment",
    min=1,
    help="Enrolment utterances per speaker.",
)
TRIED = trials_option(6, "--tried", min=1, help="Trial utterances per speaker.")
ANY_SEX = trials_option(
    False,
    "--any-sex",
    help="Also compare speakers of different sex.",
)
PER = systems_option(
    "speaker",
    "--per",
    help="Voices: one per speaker, one per utterance, or one for everybody.",
)
TARGETS = systems_option(
    None,
    "--targets",
    help="Target voices: random, same-sex (voices of the speaker's sex) or one-for-all; attackers "
    "draw theirs alike. Default: as each system draws them.",
)
KEYS = attackers_option(24, "--keys", min=1, help="Keys that the key search tries.")
DENOISE = typer.Option(True, help="Also run V-Cloak's de-noising attackers.")
SANITY = typer.Option(
    True,
    help=(
        "Also run attackers on original speech, on copied speech and on the system at half "
        "strength: an attacker that finds nobody there is broken. A network that is trained has a "
        "quarter of --attacker-budget or --attacker-steps for each."
    ),
)
ONLY = attackers_option(
    [],
    "--attacker",
    help=(
        "Run only attackers whose names contain this text, such as 'verifier trained'; "
        "may be repeated. The strongest attacker may then be missing."
    ),
)
ATTACKER_SYSTEMS = attackers_option(
    [],
    "--attacker-system",
    metavar="NAME:FIELD=VALUE,...",
    help=(
        "Settings that attackers run the system of this name with, where they differ from the "
        "user's, such as weights of their own: ssl-roh:turns=model,weights=THEIRS; may be repeated."
    ),
)
VERIFIERS = attackers_option(
    [],
    "--verifier",
    help=(
        "Verifier of the attackers: ecapa-small, resemblyzer, a folder of voicenym "
        "train verifier, gmm-ubm:FOLDER of train ubm or ivector, ivector:FOLDER of "
        "train ivector, ecapa:PLACE or xvector:PLACE of published weights (a pulled "
        "name, or a folder of models convert); may be repeated. Default: the first two, "
        "if their weights are here."
    ),
)
ATTACKER_BUDGET = attackers_option(
    None,
    "--attacker-budget",
    help=(
        "Training time of the semi-informed attacker per system, such as 20m or 2h: it "
        "trains a verifier on the anonymized --pool. Without this and --attacker-steps, it trains "
        "a back end only."
    ),
)
ATTACKER_STEPS = attackers_option(
    None,
    "--attacker-steps",
    min=1,
    help=(
        "Optimizer steps of this training at most. Without --attacker-budget they are the only "
        "limit, so that a slow machine trains as good an attacker as a fast one."
    ),
)
ATTACKER_START = attackers_option(
    "ecapa-small",
    "--attacker-from",
    help="Verifier that this training starts from; 'nothing' trains from scratch.",
)
ATTACKER_CONFIG = attackers_option(
    "attacker",
    "--attacker-config",
    help="Configuration of this training.",
)
ATTACKER_PRETRAINED = attackers_option(
    None,
    "--attacker-pretrained",
    help=(
        "Folder of voicenym train two-branch: a verifier of filterbanks and a frozen network, "
        "which an attacker with --attacker-budget or --attacker-steps adapts to each system."
    ),
)
NORMALISER = attackers_option(
    None,
    "--normalise",
    help="as-norm: also run attackers with scores normalised against --pool.",
)
RECOGNISER = words_option(
    None,
    "--recogniser",
    help="whisper, wav2vec2, hybrid or ctc (trained here), sphinx, or none; default: whisper, if "
    "its weights are here.",
)
WEIGHTS = words_option(
    None,
    "--recogniser-weights",
    help="Folder or hub name of its weights.",
)
RETRAINED = words_option(
    [],
    "--recogniser-anonymized",
    help="SYSTEM=FOLDER: a recogniser that voicenym train whisper, hybrid or recogniser trained on "
    "this system's output; may be repeated.",
)
PHONES = words_option(
    "small",
    "--phones",
    help="Recogniser of phones without words, for the phone error rate: small (bundled, English), "
    "a folder of voicenym train hybrid, or none.",
)
SOUND = words_option(
    [],
    "--metric",
    help="Beside words, measure only metrics of sound whose names contain this text, such as "
    "DNSMOS; may be repeated. 'none' for none.",
)
TRANSCRIPTS = words_option(
    [],
    "--transcripts",
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
WORKERS = typer.Option(
    None,
    "--workers",
    "-j",
    min=1,
    help="Number of processes; as many as pay unless given, with --engine ray all processors.",
)
CACHE = typer.Option(None, "--cache", help="Cache of speaker vectors; default: in the report.")
QUIET = typer.Option(False, "--quiet", "-q", help="Print errors only.")
VECTORS = vectors_option(
    None,
    "--vectors",
    help=(
        "Evaluate identity methods on speaker vectors, in a folder of voicenym pool "
        "build --utterances; --pool is then such a folder too."
    ),
)
IDENTITIES = vectors_option(
    [],
    "--identity",
    help="[LABEL=]METHOD:FIELD=VALUE,..., for --vectors; may be repeated.",
)
ATTACKER_IDENTITIES = vectors_option(
    [],
    "--attacker-identity",
    help="LABEL=METHOD:..., the method with the weights of the attackers, where they differ.",
)
