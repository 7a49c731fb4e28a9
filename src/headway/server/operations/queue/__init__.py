"""What the plan depends on and what it answers: the quota table, grants, windows, budgets, start times."""
