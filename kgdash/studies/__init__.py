"""Questions asked of the tables of ranks and ReliK."""
