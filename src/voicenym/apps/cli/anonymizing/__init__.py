"""Parts of ``voicenym anonymize``: inputs, kinds of runs, messages."""
