import { ed25519 } from '@noble/curves/ed25519.js';
import { addressExample, checkAddress } from '../../../src/chains/addresses/address.ts';
import { encodeBase58check } from '../../../src/chains/addresses/base58check.ts';
import { encodeP2wpkh } from '../../../src/chains/addresses/bitcoin-like.ts';
import { encodeSolana } from '../../../src/chains/addresses/solana.ts';
import { networkById } from '../../../src/chains/networks/networks.ts';
import type { Dice } from '../gateway/dice.ts';
import type { Rows } from '../gateway/orders.ts';

/** Where an order pays to. */
export interface Recipient {
  readonly address: string;
  readonly tag: string | null;
}

/** An address that no other order has, in the form in which the gateway keeps it. */
export function newRecipient(network: string, dice: Dice): Recipient {
  const found = networkById(network);
  const random = dice.bytes(20);
  const address =
    found?.family === 'bitcoin'
      ? encodeP2wpkh('bc', random)
      : found?.family === 'litecoin'
        ? encodeP2wpkh('ltc', random)
        : found?.family === 'dogecoin'
          ? encodeBase58check([0x1e], random)
          : found?.family === 'tron'
            ? encodeBase58check([0x41], random)
            : found?.family === 'evm'
              ? `0x${Buffer.from(random).toString('hex')}`
              : found?.family === 'solana'
                ? encodeSolana(ed25519.getPublicKey(dice.bytes(32)))
                : addressExample(network);
  const tag = found?.memo ? String(Math.floor(dice.between(1, 4e9))) : null;
  const check = checkAddress(network, address, tag);
  if (!check.ok) throw new Error(`${address} on ${network} ${check.detail}`);
  return { address: check.address, tag };
}

/** An order, and the recipient that no other order has. */
export interface Recipients {
  readonly id: string;
  readonly recipient: Recipient;
}

/** Payments of ours that succeeded on their chain. */
export const paidOnChain = `select t.chain, t.txid, t.recipient, t.tag, t.contract, t.amount, a.payment_id
    from sandbox_tx t left join payment_attempt a on a.chain = t.chain and a.txid = t.txid
   where t.sender is not null and t.state = 'mined' and t.success`;

/**
 * Reads from the sandbox chains who got money twice: a payment, a leg of a deposit or the recipient
 * of an order, a line each.
 */
export async function paidTwice(rows: Rows, orders: readonly Recipients[]): Promise<string[]> {
  const twice = await rows<{ what: string }>(
    `with paid as (${paidOnChain})
     select 'payment ' || payment_id || ' succeeded ' || count(*) || ' times' as what
       from paid group by payment_id having count(*) > 1
     union all
     select 'leg ' || p.leg || ' of deposit ' || p.deposit_id || ' was paid ' || count(*) || ' times'
       from paid join payment p on p.id = paid.payment_id group by p.deposit_id, p.leg having count(*) > 1
     union all
     select 'recipient ' || s.address || ' of order ' || s.id || ' was paid ' || count(*) || ' times'
       from jsonb_to_recordset($1::jsonb) as s (id text, address text, tag text)
       join paid on paid.recipient = s.address and paid.tag is not distinct from s.tag
      group by s.id, s.address, s.tag having count(*) > 1`,
    [JSON.stringify(orders.map(({ id, recipient }) => ({ id, ...recipient })))],
  );
  return twice.map(({ what }) => what);
}
