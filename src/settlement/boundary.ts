/**
 * Every point of settlement between two effects that last: a commit, or something the outside world saw. A process that
 * ends at any of them must lose nothing and do nothing twice; the crash matrix of the tests ends one at each.
 */
export const boundaries = {
  'deposit.scanned': 'the chain was read, and nothing of it is stored',
  'deposit.recorded': 'deposits, moves and the cursor are stored',
  'order.settled': 'a step of the order is stored',
  'trade.intended': 'the terms are stored, and the venue was not asked',
  'trade.answered': 'the venue answered, and the answer is not stored',
  'trade.recorded': 'the fill, the payment and the move are stored',
  'payment.built': 'the transaction is built, and nothing is stored',
  'payment.prepared': 'the transaction and what it spends are stored',
  'payment.signature': 'the signer signed, and the bytes are not stored',
  'payment.signed': 'the bytes are stored, and nobody has seen them',
  'payment.broadcast': 'the node has the bytes, and that is not stored',
  'payment.sent': 'the broadcast is stored',
  'payment.observed': 'the chain told its status, and nothing is stored',
  'payment.confirmed': 'the end of the payment and its booking are stored',
} as const;

export type BoundaryName = keyof typeof boundaries;

/** Told of each boundary that is passed. It may wait, and in tests it may end the process. */
export type OnBoundary = (name: BoundaryName) => Promise<void> | void;
