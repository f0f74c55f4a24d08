/**
 * Milliseconds from the expiry of a transaction until the signer signs a further one of its payment,
 * on a chain whose attempts do not exclude each other. The signer has no node, so this time stands
 * for the chain's answer.
 */
export const furtherAfterExpiryMs = 120_000;
