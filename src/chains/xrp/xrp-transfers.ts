import { rippleCodec } from '../addresses/ripple.ts';
import { asObject, unsound } from '../nodes/node-answer.ts';
import type { Transfer } from '../port/chain-adapter.ts';
import { asDrops, asUint32, asWord, type XrpLedger, type XrpLedgerTx } from './xrp-answer.ts';

/** The only result that moves anything but the fee. */
const success = 'tesSUCCESS';

/**
 * All coins that a ledger brought to accounts, in the order of its transactions.
 *
 * A Payment that succeeded brings what its metadata says was delivered, never the amount that it
 * asked for: a partial payment delivers less. Coins come in other ways too: an escrow, a check, a
 * payment channel, an account that is deleted. Those are found by the balances that rose. They have
 * no tag, and carry a doubt.
 *
 * Keys: 'txid:0' for a payment, 'txid:rise:<account>' for a balance that rose.
 *
 * @throws ChainError for an answer that contradicts itself.
 */
export function transfersOf({ transactions }: Pick<XrpLedger, 'transactions'>): Transfer[] {
  return transactions.flatMap(transfersOfTx);
}

function transfersOfTx(entry: XrpLedgerTx): Transfer[] {
  const { txid, tx, meta } = entry;
  if (asWord(meta.TransactionResult, 'result of a transaction') !== success) return [];
  const rises = risesOf(meta);
  const found: Transfer[] = [];
  if (asWord(tx.TransactionType, 'type of a transaction') === 'Payment') {
    const address = asAccount(tx.Destination, 'recipient of a payment');
    const payment = readPayment(entry, address, rises.get(address) ?? 0n);
    if (payment !== null) {
      found.push(payment);
      rises.delete(address);
    }
  }
  for (const [address, amount] of rises) {
    const key = `${txid}:rise:${address}`;
    found.push({ key, txid, address, tag: null, contract: null, amount, doubt: 'unusual_kind' });
  }
  return found;
}

/**
 * A payment of the ledger's own coin; null for one of an issued currency, and for one that brought
 * nothing. Where the node does not tell what was delivered, or tells another amount than that by
 * which the balance rose, the balance counts, with a doubt.
 *
 * @param rise By how much the balance of its recipient rose.
 */
function readPayment({ txid, tx, meta }: XrpLedgerTx, address: string, rise: bigint): Transfer | null {
  const told = meta.delivered_amount;
  if (typeof told === 'object' && told !== null) return null;
  const delivered = told === undefined || told === 'unavailable' ? null : asDrops(told, 'delivered amount');
  const tag = tx.DestinationTag === undefined ? null : String(asUint32(tx.DestinationTag, 'destination tag'));
  // One who pays itself pays the fee from the same balance.
  const isSure = delivered !== null && (delivered === rise || tx.Account === address);
  const amount = isSure ? delivered : rise;
  if (amount === 0n) return null;
  const found: Transfer = { key: `${txid}:0`, txid, address, tag, contract: null, amount };
  return isSure ? found : { ...found, doubt: 'unusual_kind' };
}

/** The accounts whose balance rose, with the amounts. */
function risesOf(meta: XrpLedgerTx['meta']): Map<string, bigint> {
  return new Map([...changesOf(meta)].filter(([, change]) => change > 0n));
}

/** By how much each balance of the own coin rose, or fell below 0, in a transaction. */
export function changesOf({ AffectedNodes }: XrpLedgerTx['meta']): Map<string, bigint> {
  const changes = new Map<string, bigint>();
  if (!Array.isArray(AffectedNodes)) throw unsound('no changes of a transaction');
  for (const item of AffectedNodes) {
    const { CreatedNode, ModifiedNode } = asObject(item, 'change of the ledger');
    const isNew = CreatedNode !== undefined;
    if (!isNew && ModifiedNode === undefined) continue;
    const node = asObject(isNew ? CreatedNode : ModifiedNode, 'change of the ledger');
    if (node.LedgerEntryType !== 'AccountRoot') continue;
    const change = isNew ? changeOfNew(node) : changeOfKnown(node);
    if (change !== null) changes.set(...change);
  }
  return changes;
}

function changeOfNew({ NewFields }: Readonly<Record<string, unknown>>): [string, bigint] {
  const { Account, Balance } = asObject(NewFields, 'new account');
  return [asAccount(Account, 'new account'), asDrops(Balance, 'balance')];
}

/** Null when the balance did not change. */
function changeOfKnown({ FinalFields, PreviousFields }: Readonly<Record<string, unknown>>): [string, bigint] | null {
  if (FinalFields === undefined || PreviousFields === undefined) return null;
  const before = asObject(PreviousFields, 'account before').Balance;
  if (before === undefined) return null;
  const { Account, Balance } = asObject(FinalFields, 'account');
  return [asAccount(Account, 'account'), asDrops(Balance, 'balance') - asDrops(before, 'balance before')];
}

function asAccount(value: unknown, what: string): string {
  const text = typeof value === 'string' ? value : '';
  const read = rippleCodec.decode(text);
  if (!text.startsWith('r') || !read.ok) throw unsound(`no account as ${what}`);
  return text;
}
