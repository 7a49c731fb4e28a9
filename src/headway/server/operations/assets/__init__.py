"""What is registered and served: data sets, weights, models, services."""
