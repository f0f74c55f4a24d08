/** The only source of time for business rules, so that tests can move it. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/**
 * Milliseconds since 1970 by this machine's clock, for waits and timestamps of the machinery.
 * Business rules read a `Clock`, which tests move.
 */
export const systemMs = (): number => Date.now();
