"""For the test suites of others: a pytest plugin, `bough.testing.plugin`."""
