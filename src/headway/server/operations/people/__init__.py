"""Who may do what: users, roles, tokens, departments, projects, and the Unix accounts behind them."""
