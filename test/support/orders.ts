import { addressExample } from '../../src/chains/address.ts';

/** A body that creates an order, with changes. */
export function orderBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    coin_from: 'BTC',
    network_from: 'BTC',
    coin_to: 'USDT',
    network_to: 'TRC20',
    amount_from: 0.01,
    rate_type: 'float',
    recipient_address: addressExample('TRC20'),
    ...changes,
  };
}

/** A body without one member. */
export function orderBodyWithout(member: string): Record<string, unknown> {
  const { [member]: _left, ...rest } = orderBody();
  return rest;
}
