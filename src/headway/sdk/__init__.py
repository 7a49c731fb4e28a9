"""What users import: `headway.sdk.job` inside a training, the API client outside. Importing this loads neither."""
