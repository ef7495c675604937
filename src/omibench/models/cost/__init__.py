"""Cost estimates of requests before they are sent: text and image tokens, dollars, upper bounds."""
