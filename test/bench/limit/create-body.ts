import { isUtf8 } from 'node:buffer';
import { checkAddress } from '../../../src/chains/addresses/address.ts';
import * as decimals from './decimals.ts';
import type { Coin } from './quote.ts';
import { Refusal } from './refusal.ts';

/** The members of a create, with their greatest length. */
export const members: Readonly<Record<string, number>> = {
  coin_from: 12,
  network_from: 16,
  coin_to: 12,
  network_to: 16,
  rate_type: 5,
  recipient_address: 256,
  recipient_address_tag: 128,
  refund_address: 256,
  refund_address_tag: 128,
};
export const required = [
  'coin_from',
  'network_from',
  'coin_to',
  'network_to',
  'amount_from',
  'rate_type',
  'recipient_address',
];

export interface CreateBody {
  readonly texts: Readonly<Record<string, string>>;
  readonly amount: bigint;
}

export const wrongType = (field: string): Refusal => new Refusal(400, 'invalid_type', `${field} has the wrong type`);
export const unfit = (field: string): Refusal => new Refusal(422, 'invalid_value', `${field} is not acceptable`);

export function readBody(raw: Buffer): CreateBody {
  if (!isUtf8(raw)) throw new Refusal(400, 'invalid_encoding', 'the body is not valid UTF-8');
  let source = '';
  let body: Record<string, unknown>;
  try {
    body = JSON.parse(raw.toString(), (key, value, context) => {
      if (key === 'amount_from' && typeof value === 'number') source = context.source ?? '';
      return value;
    }) as Record<string, unknown>;
  } catch {
    throw new Refusal(400, 'invalid_json', 'the body is not JSON');
  }
  if (typeof body !== 'object' || body === null) throw wrongType('body');
  for (const name of required) if (!(name in body)) throw new Refusal(400, 'missing_field', `${name} is missing`);
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(body)) {
    if (name === 'amount_from') continue;
    const longest = members[name];
    if (longest === undefined) throw new Refusal(400, 'unknown_field', `${name} is not a member of this request`);
    if (typeof value !== 'string') throw wrongType(name);
    if (value === '' || value.length > longest) throw unfit(name);
    texts[name] = value;
  }
  if (typeof body.amount_from !== 'number') throw wrongType('amount_from');
  const amount = decimals.parse(source);
  if (amount === null || amount === 0n) throw unfit('amount_from');
  if (texts.rate_type !== 'float') throw unfit('rate_type');
  return { texts, amount };
}

export function destination({ network, contract }: Coin, address: string, tag: string | null) {
  const check = checkAddress(network, address, tag);
  if (!check.ok || check.address === contract)
    throw new Refusal(422, 'invalid_address', 'the address is not acceptable');
  return check;
}
