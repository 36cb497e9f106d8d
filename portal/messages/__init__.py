"""Messages to the operator and to holders of tokens, by e-mail and webhook, without plates."""
