"""State space models of time series: their components and the Kalman filter."""
