let token: string | null = null;

/**
 * Takes the token of an invitation out of the address, so that neither the history nor a server's
 * log has it. It stays in the memory of this page alone.
 */
export function takeInvitation(): void {
  if (!location.pathname.endsWith('/invitation') || location.hash.length < 2) return;
  token = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
}

/** The token of the invitation that this page was opened with; null without one. */
export function invitationToken(): string | null {
  return token;
}

/** Forgets the token once it was used. */
export function dropInvitation(): void {
  token = null;
}
