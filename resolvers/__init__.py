"""The GraphQL schema: types with bound fields, and the plan that prices, runs and explains documents."""
