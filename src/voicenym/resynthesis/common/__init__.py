"""Parts shared by the resynthesis systems: windows, row groups, output level, averages."""
