"""Settings, batching, checks and caches that all sources share."""
