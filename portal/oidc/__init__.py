"""Sign-in of people by an OpenID Connect provider, in the authorization code flow with PKCE."""
