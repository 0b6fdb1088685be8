"""Sessions of agents: prompts, events, observations, summaries, and the notes made of them."""
