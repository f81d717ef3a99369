"""RTP for telephone switches: packets, legs of a call, jitter, reports."""
