"""Speaker verification: encoders, scoring, PLDA, score normalisation, and a store of vectors."""
