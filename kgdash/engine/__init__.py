"""The counting engine: scores that are compared while they are still in the cache."""
