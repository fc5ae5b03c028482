"""The fragility curve: the probability of a correct answer at every temperature, from one set of logits."""
