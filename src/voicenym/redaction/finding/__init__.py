"""Words to remove, found in transcripts: by category, by rules, by one's own list."""
