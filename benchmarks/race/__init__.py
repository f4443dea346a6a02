"""The race: every solver on every dataset, loss and λ, to three targets, under one rule (see `rule`)."""
