"""Keys and worked solutions: assign answers to problems."""
