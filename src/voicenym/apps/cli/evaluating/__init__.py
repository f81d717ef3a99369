"""Parts of ``voicenym evaluate``: request, plan, files, vectors."""
