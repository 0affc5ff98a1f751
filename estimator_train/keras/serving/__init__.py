"""Signatures of exported Keras models."""
