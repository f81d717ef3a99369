"""Card texts that pipeline systems share."""

from __future__ import annotations

NEEDS = "needs weights, none come along (voicenym models assemble); 16 kHz, CPU or GPU, hears a"
SSL_NEEDS = (
    f"{NEEDS} recording as a whole; content/ (hubert-soft), speaker/ (ecapa), synthesizer/ "
    "(hifigan)"
)
B1_NEEDS = f"{NEEDS} recording as a whole; content/ (tdnnf), speaker/ (xvector), synthesizer/"
SSL_STEPS = (
    "content = HuBERT-soft(speech): 50 frames a second, each given twice",
    "F0 by YAAPT, 60 to 400 Hz, every 10 ms; 0 where unvoiced; the speaker's own",
    "x = ECAPA-TDNN(speech), 192 numbers",
    "waveform = HiFi-GAN(content, F0, x'): 393 numbers a frame with 200 of content",
)
B1_STEPS = (
    "content = bottleneck of a TDNN-F recogniser: 256 numbers every 10 ms",
    "F0 by YAAPT, 60 to 400 Hz, every 10 ms; 0 where unvoiced; the speaker's own",
    "x = x-vector(speech), 512 numbers",
    "x' = mean of 100 drawn by the pseudonym from the 200 speakers of the pool with the least PLDA "
    "affinity, of the same sex; not normalised",
)
PROMISES = (
    "length, channels, rhythm and the level over a tenth of a second are kept; silence is silent",
    "no sample, phase or spectrum of the original reaches the output, only content, F0 and level",
    "blocks of any size give the same file; memory does not grow with its length",
)
FAILS = (
    "F0 is the speaker's own, as published, unless f0=moved: register and intonation stay",
    "content still holds something of the speaker: accent, rhythm, and what attackers who train on "
    "the output find",
    "does not work live: parts hear a recording as a whole",
    "music, overlapping talkers and whispering are spoken as if they were one voice",
)
HOUSEHOLDER_FAILS = (
    "with turns=model, as published, there is one secret for all speakers, the seed of a training, "
    "and whoever has the weights has it",
)
SSL_UNLIKE = (
    "HuBERT-soft as van Niekerk et al. publish it (256 numbers, layers as in the checkpoint) where "
    "the paper has 200 numbers after six layers; content/ decides",
    "long recordings are heard in windows of 30 s, of which the middle 24 s are kept",
    "the level over a tenth of a second is made that of the input, which the paper does not do",
)
HOUSEHOLDER_UNLIKE = ("the key's own rotation, after the network's, is ours",)
B1_UNLIKE = (
    "the recogniser hears 40 log mel bands and no i-vector, where the challenge's hears 40 cepstra "
    "and an i-vector of 100 numbers; it learns by CTC; content/ decides its sizes",
    "the x-vector network is of SpeechBrain's layout and features, not of Kaldi's",
    "the level over a tenth of a second is made that of the input, which the challenge's does not",
)
