"""Methods that papers study, and that nothing else here needs."""
