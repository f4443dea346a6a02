"""dualfree: L2-regularised linear models by dual-free SDCA with any mini-batching scheme."""
