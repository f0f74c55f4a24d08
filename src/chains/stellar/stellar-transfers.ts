import { unsound } from '../nodes/node-answer.ts';
import type { Transfer } from '../port/chain-adapter.ts';
import {
  nativeAsset,
  type StellarLedger,
  type StellarLedgerTx,
  type StellarOperation,
  type ToldMemo,
} from './stellar-ledger.ts';
import type { StellarAccounts } from './stellar-setup.ts';

export interface CreditRules {
  readonly accounts: StellarAccounts;
  /** The contracts of listed tokens, by the name of their asset. */
  readonly tokens: ReadonlyMap<string, string>;
}

/**
 * All listed assets that a ledger brought to accounts, in the order of its transactions.
 *
 * Payments, path payments and new accounts bring what the operation, or its result, says. Assets
 * come to our accounts in other ways too: an account that is merged into them, a contract. Those
 * are found by the balances that rose. They have no tag and carry a doubt. So does what comes to a
 * channel: it belongs to the wallet and to no order.
 *
 * What our own operations bring to our accounts is left out.
 *
 * Keys: 'txid:<operation>' for a payment, 'txid:<operation>:rise:<account>' for a balance that
 * rose, with the asset behind it for a token.
 *
 * @throws ChainError when a payment to our accounts does not agree with its change of balance.
 */
export function transfersOf({ transactions }: Pick<StellarLedger, 'transactions'>, rules: CreditRules): Transfer[] {
  return transactions.flatMap((tx) => transfersOfTx(tx, rules));
}

function transfersOfTx(tx: StellarLedgerTx, rules: CreditRules): Transfer[] {
  const { wallet, channels } = rules.accounts;
  const own = new Set([wallet, ...channels]);
  return tx.operations.flatMap((operation, place) => {
    const found = operation.paid === null ? [] : paidTransfers(tx, operation, place, rules);
    // What our own operations bring to our accounts is no news: coins that a channel gets.
    if (own.has(operation.source)) return found.filter(() => !own.has(operation.paid?.to ?? ''));
    for (const { account, asset, change } of operation.changes) {
      if (change <= 0n) continue;
      const { paid } = operation;
      if (paid !== null && paid.to === account && paid.asset === asset) {
        // Its amount follows from the hash of the ledger, and the change does not.
        if (paid.amount !== change) throw unsound('a payment whose change of balance is another one');
        continue;
      }
      const contract = contractOf(asset, rules);
      if (contract === undefined) continue;
      const key = `${tx.txid}:${place}:rise:${account}${asset === nativeAsset ? '' : `:${asset}`}`;
      found.push({ key, txid: tx.txid, address: wallet, tag: null, contract, amount: change, doubt: 'unusual_kind' });
    }
    return found;
  });
}

function paidTransfers(
  { txid, memo }: StellarLedgerTx,
  { paid }: StellarOperation,
  place: number,
  rules: CreditRules,
): Transfer[] {
  if (paid === null || paid.amount === 0n) return [];
  const contract = contractOf(paid.asset, rules);
  if (contract === undefined) return [];
  const { wallet, channels } = rules.accounts;
  const found = { key: `${txid}:${place}`, txid, contract, amount: paid.amount };
  // Only the wallet's address is given out.
  if (channels.includes(paid.to)) return [{ ...found, address: wallet, tag: null, doubt: 'unusual_kind' }];
  return [{ ...found, address: paid.to, tag: tagOf(memo, paid.muxedId) }];
}

/** Undefined for an asset that is not listed. */
function contractOf(asset: string, { tokens }: CreditRules): string | null | undefined {
  return asset === nativeAsset ? null : tokens.get(asset);
}

/**
 * The tag of a payment: the number of a memo, its text, or the number of a muxed address. Where
 * memo and address say different things, the tag names both, and so no order.
 */
export function tagOf(memo: ToldMemo, muxedId: string | null): string | null {
  const told = memoText(memo);
  if (told === null || muxedId === null || told === muxedId) return told ?? muxedId;
  return `${told} and ${muxedId}`;
}

/** What text of senders may hold to be shown as it is. */
const plain = /^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\p{C}\p{Z}])?$/u;

function memoText(memo: ToldMemo): string | null {
  switch (memo.kind) {
    case 'none':
      return null;
    case 'id':
      return memo.id;
    case 'text': {
      if (memo.bytes.length === 0) return null;
      const text = memo.bytes.toString('utf8');
      const isPlain = plain.test(text) && Buffer.from(text).equals(memo.bytes);
      return isPlain ? text : `text:${memo.bytes.toString('hex')}`;
    }
    default:
      return `${memo.kind}:${memo.hex}`;
  }
}
