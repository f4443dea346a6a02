"""The paper's claims, run: one module a figure. ``python -m dualfree.paper`` writes them into ./reproduction."""
