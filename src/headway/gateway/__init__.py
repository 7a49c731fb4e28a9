"""Inference traffic by version share: a supervised Envoy that serves on while the server is away."""
