/**
 * Crash points: places in settlement between two durable effects. An effect is a commit, or
 * something that the outside world saw. A process that dies at any of them loses nothing and
 * repeats no effect. The crash matrix of the tests kills a process at each.
 */
export const crashPoints = {
  'deposit.scanned': 'the chain was read, and nothing of it is stored',
  'deposit.recorded': 'deposits, moves and the cursor are stored',
  'order.settled': 'a step of the order is stored',
  'trade.intended': 'the terms are stored, and the venue was not asked',
  'trade.answered': 'the venue answered, and the answer is not stored',
  'trade.recorded': 'the fill, the payment and the move are stored',
  'payment.built': 'the transaction is built, and nothing is stored',
  'payment.prepared': 'the transaction and what it spends are stored',
  'payment.signature': 'the signer signed, and the bytes are not stored',
  'payment.signed': 'the bytes are stored, and no node has seen them',
  'payment.broadcast': 'the node has the bytes, and that is not stored',
  'payment.sent': 'the broadcast is stored',
  'payment.observed': 'the chain told its status, and nothing is stored',
  'payment.confirmed': 'the end of the payment and its booking are stored',
} as const;

export type CrashPoint = keyof typeof crashPoints;

/** Called at each crash point. Tests let it wait or end the process. */
export type OnCrashPoint = (name: CrashPoint) => Promise<void> | void;
