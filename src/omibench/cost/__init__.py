"""What requests cost before they are sent: tokens of text and images, dollars, upper bounds."""
