"""Model selection: searching for a configuration on the validation split."""
