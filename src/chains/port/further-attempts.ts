/**
 * Milliseconds from the expiry of a transaction until the signer signs a further one of its
 * payment, on a chain whose attempts do not exclude each other. The signer has no node, so it waits
 * this long instead of asking the chain.
 */
export const furtherAfterExpiryMs = 120_000;
