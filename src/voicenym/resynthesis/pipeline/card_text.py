"""Card texts that pipeline systems share."""

from __future__ import annotations

NEEDS = (
    "bundled weights, of English (voicenym models assemble for others); 16 kHz; CPU or GPU; two "
    "passes over a recording; content/, speaker/, synthesizer/"
)
SSL_STEPS = (
    "content = HuBERT-soft(speech): 50 frames a second, each repeated once",
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
    "length and channels are kept, and rhythm and the level over 0.1 s unless level=drawn or "
    "timing=loose; silence stays silent",
    "no sample, phase or spectrum of the original reaches the output, only content, F0, level, and "
    "what x' has of x",
    "the output does not depend on the block size; memory is bounded",
)
FAILS = (
    "F0 is the speaker's own, as published, unless f0=moved or f0=predicted: mean F0 and "
    "intonation are kept; so are timing and the level over 0.1 s, unless level=drawn and "
    "timing=loose",
    "content features still carry speaker information: accent, rhythm, and what attackers trained "
    "on the output exploit",
    "does not work live: some modules need the whole recording",
    "music, overlapping talkers and whispering are resynthesised as if they were one voice",
)
HOUSEHOLDER_FAILS = (
    "with turns=model, as published, there is one secret for all speakers, the seed of a training, "
    "which everybody with the weights knows",
)
SSL_FAILS = (
    *FAILS,
    "the bundled weights are of English: recordings of other languages, and of mostly music or "
    "noise, are refused where they are detected in the first minute of speech; others become "
    "English sounds, and so do later passages in other languages, of which a warning tells from 20 "
    "s of speech on, and of shorter ones none",
)
SSL_UNLIKE = (
    "the bundled weights: content is word codes, 25 a second, of Whisper tiny.en where the paper "
    "has HuBERT-soft (units=soft: means of their vectors, weighted by how near each is, which keep "
    "more words); ecapa-small is an eighth of its ECAPA-TDNN; an inverse-STFT vocoder of 3.7 "
    "million weights is where HiFi-GAN is; vocoder=hifigan takes a HiFi-GAN of 0.13 million "
    "weights, with a source of pulses and noise, over its frame network, and sounds worse",
    "HuBERT-soft as van Niekerk et al. publish it (256 numbers, layers as in the checkpoint) where "
    "the paper has 200 numbers after six layers; content/ decides",
    "long recordings are processed in windows of 30 s, of which the middle 24 s are kept",
    "the silence that fills a window of Whisper's is computed in groups of eight states in the "
    "latest revision: four codes in a hundred differ",
    "the level over 0.1 s is set to that of the input; the paper does not do this",
)
HOUSEHOLDER_UNLIKE = ("the rotation by the key, after the network's, is ours",)
B1_UNLIKE = (
    "the input of the recogniser is 40 log mel bands without an i-vector, in the challenge 40 "
    "cepstra and an i-vector of 100 elements; content/ decides its sizes",
    "the x-vector network is of SpeechBrain's layout and features, not of Kaldi's",
    "the level over 0.1 s is set to that of the input; the challenge's baseline does not do this",
)
