"""From entries and signs to what stopped a job, where first, and whose move it is."""
