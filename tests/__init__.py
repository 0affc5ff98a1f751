"""Tests, in folders by the package that they test."""
