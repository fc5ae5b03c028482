"""Files of requests that an endpoint answers within hours, for less money: sent, waited for, found again, collected."""
