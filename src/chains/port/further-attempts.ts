/**
 * Milliseconds from the expiry of a transaction until the signer signs a further one of its
 * payment, on a chain whose attempts do not exclude each other. The signer has no node, so it waits
 * this long instead of asking the chain.
 */
export const furtherAfterExpiryMs = 120_000;

/**
 * The time of the chain in a further transaction differs from the signer's clock by less than these
 * milliseconds.
 */
export const furtherClockMs = 30_000;

/**
 * Milliseconds within which the gateway builds a further transaction on a head, and within which it
 * has it signed. Both together are less than the signer allows.
 */
export const furtherBuildMs = 14_000;
