"""Who tries to re-identify: verifiers, back ends, and what attackers know and do."""
