"""The environments: adapters of the engine to PettingZoo and Gymnasium; there is no rule in them."""
