"""``voicenym live`` whose system gives the negative of its input: for tests on a terminal.

The command measures no machine and computes next to nothing, so that a busy machine holds it.
"""

from __future__ import annotations

import sys

from live_line import Negative

from voicenym.__main__ import main
from voicenym.apps.cli.anonymizing.batch_report import Messages
from voicenym.apps.cli.live_sessions import live_runs
from voicenym.live import block_choice, echo_check

live_runs.live_voice = lambda *given: live_runs.Voice(  # type: ignore[assignment]
    "negative", lambda rate: Negative(100), Messages(False)
)
block_choice.choose_block = lambda make, rate, *more, **others: block_choice.BlockChoice(
    rate // 50, 0.1, 100, {}
)
# the negative of an input is an echo, as which no session would begin
echo_check.refuse_echo = lambda make_stream, rate, name: None
sys.argv[0] = "voicenym"
main()
