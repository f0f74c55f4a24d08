/**
 * Places between two durable effects of the reading of an account at an exchange. A process that
 * dies at any of them loses nothing and books nothing twice.
 */
export const treasuryCrashPoints = {
  'venue.listed': 'the lists of the exchange were read, and nothing of them is stored',
  'venue.stored': 'the movements and their entries are stored, and not that the lists were read',
  'venue.noted': 'it is stored that the lists were read, and the balances were not asked for',
  'venue.compared': 'the balances and their comparison with the books are stored',
  'transfer.looked': 'the chain told what left the hot wallet, and nothing is stored',
  'transfer.stored': 'arrivals are matched and booked',
} as const;

export type TreasuryCrashPoint = keyof typeof treasuryCrashPoints;

/** Called at each crash point. Tests let it wait or end the process. */
export type OnTreasuryCrashPoint = (name: TreasuryCrashPoint) => Promise<void> | void;
