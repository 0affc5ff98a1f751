"""What all sources share: settings, batching, checks, caches."""
