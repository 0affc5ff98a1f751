"""State space models of time series: what a series is made of, and the filter that finds it."""
