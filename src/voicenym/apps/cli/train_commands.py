"""The commands of ``voicenym train``."""

from __future__ import annotations

from voicenym.apps.cli import (
    train_autoencoder,
    train_content,
    train_householder,
    train_hybrid,
    train_mixture,
    train_musa,
    train_recogniser,
    train_register,
    train_resynthesis,
    train_statistical,
    train_synthesizer,
    train_tokenizer,
    train_vcloak,
    train_verifier,
    train_word_codes,
)
from voicenym.apps.cli.skipped_files import leaves_out
from voicenym.apps.cli.train import app

app.command("verifier")(leaves_out(train_verifier.verifier))
app.command("bottleneck")(leaves_out(train_content.bottleneck))
app.command("content")(leaves_out(train_content.content))
app.command("units")(leaves_out(train_content.units))
app.command("autoencoder")(train_autoencoder.autoencoder)
app.command("householder")(leaves_out(train_householder.householder))
app.command("hybrid")(leaves_out(train_hybrid.hybrid))
app.command("mixture")(train_mixture.mixture)
app.command("musa")(leaves_out(train_musa.musa))
app.command("recogniser")(leaves_out(train_recogniser.recogniser))
app.command("register")(leaves_out(train_register.register))
app.command("resynthesis")(leaves_out(train_resynthesis.resynthesis))
app.command("synthesizer")(leaves_out(train_synthesizer.synthesizer))
app.command("tokenizer")(leaves_out(train_tokenizer.tokenizer))
app.command("ubm")(leaves_out(train_statistical.ubm))
app.command("ivector")(leaves_out(train_statistical.ivector))
app.command("vcloak")(leaves_out(train_vcloak.vcloak))
app.command("word-codes")(leaves_out(train_word_codes.word_codes))
