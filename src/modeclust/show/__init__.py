"""Pictures and pages of fitted models."""
