"""Checkpoints that frameworks write by themselves, under a job's checkpoint folder: found, verified, let go of.

Everything here runs as the job's user in a child of the agent (`child`), with bounds on memory and time: what lies in
the folder is the program's and may be anything. Nothing is executed that was found, nothing is imported for it, and no
link is followed.
"""
