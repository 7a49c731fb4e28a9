"""Commands over the API client: what people type. Importing this loads nothing."""
