"""Running the service: the web server, the worker, and the two together."""
