"""Pages of the web process beside the webhook: set-up, dashboard."""
