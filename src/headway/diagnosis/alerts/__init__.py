"""When a rule fires and when it is over; what people are told, and how seldom."""
