"""Parts of ``voicenym live``: keys, view, runs."""
