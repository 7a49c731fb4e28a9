"""The main job, told as a short story: one training from the queue to the bill, on a throw-away platform."""
