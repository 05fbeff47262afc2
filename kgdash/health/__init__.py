"""Whether a model's scores can be ranked by at all."""
