/** Every status an order can have, in the words of the contract. */
export const orderStatuses = [
  'waiting_deposit',
  'confirming',
  'exchanging',
  'sending',
  'completed',
  'expired',
  'refunding',
  'refunded',
  'failed',
] as const;
export type OrderStatus = (typeof orderStatuses)[number];

interface Edge {
  readonly from: OrderStatus;
  readonly to: OrderStatus;
  /** The event that causes the move, for people. */
  readonly when: string;
}

/**
 * The state machine: every move an order can make, by its cause. The database enforces the same
 * edges. `schema/order-status.md` is generated from this table.
 */
export const orderMoves = {
  deposit_seen: {
    from: 'waiting_deposit',
    to: 'confirming',
    when: 'a deposit of at least the minimum is in a block or in the mempool',
  },
  window_passed: {
    from: 'waiting_deposit',
    to: 'expired',
    when: 'the deposit window passes without a deposit that the order could exchange or return',
  },
  partner_cancelled: {
    from: 'waiting_deposit',
    to: 'expired',
    when: 'the partner cancels the order within its window, before any deposit was seen',
  },
  below_minimum: {
    from: 'waiting_deposit',
    to: 'refunding',
    when: "the deposit window passes, and all that arrived is less than the pair's minimum",
  },
  deposit_lost: {
    from: 'confirming',
    to: 'waiting_deposit',
    when: 'a reorg or the mempool dropped the deposit, and the window is open or less than the minimum remains',
  },
  deposit_lost_late: {
    from: 'confirming',
    to: 'expired',
    when: 'a reorg or the mempool dropped the deposit, or no block took it in time, and the window has passed',
  },
  deposit_confirmed: {
    from: 'confirming',
    to: 'exchanging',
    when: 'the deposit has its confirmations and its amount is acceptable',
  },
  rate_expired: {
    from: 'confirming',
    to: 'refunding',
    when: 'nothing shows that the deposit came in time, and its rate is better than the market',
  },
  underpaid: {
    from: 'confirming',
    to: 'refunding',
    when: 'less than expected arrived, and the policy of the order or the answer to its question is a refund',
  },
  overpaid: {
    from: 'confirming',
    to: 'refunding',
    when: 'more than expected arrived, and the policy of the order or the answer to its question is a refund',
  },
  price_moved: {
    from: 'confirming',
    to: 'refunding',
    when: 'the payout would be below the smallest one that the order accepts',
  },
  late_deposit: { from: 'expired', to: 'refunding', when: 'a deposit that came too late has its confirmations' },
  late_accepted: {
    from: 'expired',
    to: 'exchanging',
    when: 'a late deposit is exchanged at the market, as the partner asked for, within 72 hours after the window',
  },
  liquidity_bought: { from: 'exchanging', to: 'sending', when: 'the liquidity venue filled the exchange' },
  exchange_deadline: {
    from: 'exchanging',
    to: 'refunding',
    when: 'no venue filled the exchange within the slippage bound until the deadline',
  },
  exchange_below_min: {
    from: 'exchanging',
    to: 'refunding',
    when: 'while the exchange waited, its payout fell below the smallest one that the order accepts',
  },
  payout_confirmed: { from: 'sending', to: 'completed', when: 'the payout is final on its chain' },
  payout_failed: { from: 'sending', to: 'failed', when: 'the payout failed for good' },
  payout_unknown: { from: 'sending', to: 'failed', when: "the payout's outcome stayed unknown too long" },
  refund_confirmed: { from: 'refunding', to: 'refunded', when: 'the refund is final on its chain' },
  no_refund_address: { from: 'refunding', to: 'failed', when: 'the order has no refund address' },
  refund_below_fee: {
    from: 'refunding',
    to: 'failed',
    when: "the refund would not cover its network's fee",
  },
  refund_needs_approval: {
    from: 'refunding',
    to: 'failed',
    when: 'the refund address was set after the creation, and the refund is above the limit of such refunds',
  },
  refund_failed: {
    from: 'refunding',
    to: 'failed',
    when: 'the refund failed for good, or its outcome stayed unknown too long',
  },
  staff_stopped: { from: 'sending', to: 'failed', when: 'staff end a payout that was never signed' },
  staff_failed: { from: 'refunding', to: 'failed', when: 'staff end a refund that was never signed' },
  refund_resumed: {
    from: 'failed',
    to: 'refunding',
    when: 'the partner set the refund address for whose lack the order had failed',
  },
  staff_refund: { from: 'failed', to: 'refunding', when: 'staff refund to an address, with a second approval' },
  staff_retry: { from: 'failed', to: 'sending', when: 'staff retry the payout, with a second approval' },
} as const satisfies Record<string, Edge>;

export type OrderMove = keyof typeof orderMoves;

export type MovesTo<To extends OrderStatus> = {
  [Move in OrderMove]: (typeof orderMoves)[Move]['to'] extends To ? Move : never;
}[OrderMove];

/**
 * What an order's history has in addition to its moves. The event of a fact has the same status
 * before and after. Statistics and subscriptions of the staff skip facts.
 */
export const orderFacts = {
  refund_address_set: 'the partner set the refund address of an order that had none',
  action_required: 'the partner is asked what to do with a deposit',
  deposit_added: 'a deposit other than the main one was seen; at most `MAX_REFUNDS_PER_ORDER` are reported',
  small_deposit: 'the same for a deposit below the minimum or in another currency',
  extra_refund_decided: 'such a deposit, or what the order did not exchange, is refunded',
  extra_refund_confirmed: 'such a refund is final on its chain',
  extra_refund_failed: 'such a refund failed for good',
  held: 'the order is held: nothing of it is paid',
  released: 'the hold of the order ended',
  action_resolved: 'the partner answered, its time passed, or a reorg took the deposit',
} as const;

export type OrderFact = keyof typeof orderFacts;

/** Why an event was written. */
export type OrderCause = 'created' | OrderMove | OrderFact;
