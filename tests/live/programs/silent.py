"""A rank that makes one step and then waits until it is stopped."""

import signal

import headway

run = headway.attach()
run.progress(1, total=10)
signal.sigwait({signal.SIGTERM})
