"""Finds the clusters of the bundled pool, for dense and sparse selection, and writes them to its
configuration.

python tools/pool_clusters.py

Vectors and PLDA stay as they are, and with them the digest that runs record. Run
``tools/digests.py`` afterwards.
"""

from __future__ import annotations

import json
from pathlib import Path

from voicenym.identity.pools import speaker_pool
from voicenym.identity.pools.affinity_propagation import clustered
from voicenym.nets.weights.weight_files import CONFIG

POOL = Path(__file__).resolve().parents[1] / "src/voicenym/resynthesis/pipeline/bundled/ssl/pool"

if __name__ == "__main__":
    pool = clustered(speaker_pool.load(POOL), "plda")
    assert pool.clusters is not None
    config = json.loads((POOL / CONFIG).read_text("utf-8"))
    config["clusters"] = pool.clusters.tolist()
    (POOL / CONFIG).write_text(json.dumps(config, separators=(",", ":")), "utf-8")
    print(f"{POOL.name}: {len(pool)} speakers in {len(set(config['clusters']))} clusters")
