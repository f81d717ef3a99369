"""The batch run: anonymizes recordings in parallel, resumes, and isolates failures."""
