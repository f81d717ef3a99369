"""Parts that every resynthesis machine shares: windows, batches of rows, levels, averages."""
