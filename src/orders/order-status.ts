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
