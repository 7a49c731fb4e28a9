"""The only room that knows SQL, log files and time series.

It keeps values and gives them back; it builds the scheduler's snapshots and applies its plans. It decides nothing:
`domain.lifecycle` says what a legal move is, `scheduler` what runs where.
"""
