import { directoryIndex, keyOf, sha512Half, uint32, type XrpKey } from './crypto.ts';
import type { XrpLedgers } from './ledgers.ts';
import type { Waiting } from './pool.ts';
import type { Result } from './results.ts';
import { txFlags } from './rules.ts';
import { encodeTransaction, signTransaction } from './transaction.ts';

/** Tokens of an issuer, or of an issuance of the newer kind. */
export type Tokens =
  | { readonly currency: string; readonly issuer: string; readonly value: string }
  | { readonly mpt_issuance_id: string; readonly value: string };

/** Ways to get coins without a payment. */
export type Unusual = 'AccountDelete' | 'EscrowFinish' | 'PaymentChannelClaim' | 'CheckCash';

export interface Credit {
  readonly to: string;
  /** In drops. */
  readonly amount: bigint;
  readonly tag?: number | undefined;
}

type Json = Readonly<Record<string, unknown>>;

const fee = 10n;

/** A transaction that is next for an account, and signed. */
function next(chain: XrpLedgers, key: XrpKey, json: Json, account = key.address): Waiting['tx'] {
  const { sequence } = chain.pool.open.existing(account);
  const network = chain.networkId > 1_024 ? { NetworkID: chain.networkId } : {};
  return signTransaction({ Account: account, Fee: String(fee), Sequence: sequence, ...network, ...json }, key);
}

const tagged = (tag: number | undefined): Json => (tag === undefined ? {} : { DestinationTag: tag });

/**
 * A payment that asks for more than it delivers: the sender gives tokens, and the bank, which
 * takes them in exchange, gives the coins.
 */
export function partialPayment(
  chain: XrpLedgers,
  from: XrpKey,
  { to, amount, tag }: Credit,
  { delivered, tokens = usd(chain) }: { readonly delivered: bigint; readonly tokens?: Tokens },
): Waiting {
  const tx = next(chain, from, {
    ...{ TransactionType: 'Payment', Destination: to, Amount: String(amount), SendMax: tokens },
    ...{ Flags: txFlags.partial, ...tagged(tag) },
  });
  return {
    tx,
    stored: { DeliveredAmount: String(delivered) },
    act: ({ state, index }) => {
      state.add(chain.bank.address, -delivered, index);
      state.add(to, delivered, index);
      return { result: 'tesSUCCESS', delivered: String(delivered) };
    },
  };
}

/** A payment of coins that a ledger holds with a result that it would not get by itself. */
export function failedPayment(chain: XrpLedgers, from: XrpKey, { to, amount, tag }: Credit, result: Result): Waiting {
  const members = { TransactionType: 'Payment', Destination: to, Amount: String(amount), ...tagged(tag) };
  return { tx: next(chain, from, members), act: () => ({ result }) };
}

/** A payment of tokens, which moves no coins. */
export function tokenPayment(chain: XrpLedgers, from: XrpKey, to: string, tokens: Tokens, tag?: number): Waiting {
  const members = { TransactionType: 'Payment', Destination: to, Amount: tokens, ...tagged(tag) };
  return { tx: next(chain, from, members), act: () => ({ result: 'tesSUCCESS', delivered: tokens }) };
}

export function usd({ bank }: XrpLedgers, value = '10'): Tokens {
  return { currency: 'USD', issuer: bank.address, value };
}

/** Coins by another type of transaction. An account that leaves has the coins and 0.2 XRP. */
export function unusualCredit(chain: XrpLedgers, kind: Unusual, credit: Credit, leaver: XrpKey): Waiting {
  if (kind === 'AccountDelete') return deletion(chain, credit, leaver);
  const { bank } = chain;
  const { to, amount, tag } = credit;
  const id = sha512Half(Buffer.from(`${kind} ${to}`), uint32(chain.pool.open.existing(bank.address).sequence));
  const entry = { LedgerIndex: id };
  const common = { Account: bank.address, Destination: to, Flags: 0, OwnerNode: '0', ...tagged(tag) };
  const made: Readonly<Record<Exclude<Unusual, 'AccountDelete'>, { tx: Waiting['tx']; node: object }>> = {
    EscrowFinish: {
      tx: next(chain, bank, { TransactionType: kind, Owner: bank.address, OfferSequence: 1 }),
      node: {
        DeletedNode: {
          FinalFields: { ...common, Amount: String(amount), FinishAfter: chain.head.header.close_time },
          ...entry,
          LedgerEntryType: 'Escrow',
        },
      },
    },
    PaymentChannelClaim: {
      tx: next(chain, bank, { TransactionType: kind, Channel: id, Balance: String(amount), Amount: String(amount) }),
      node: {
        ModifiedNode: {
          FinalFields: {
            ...{ ...common, Amount: String(amount * 2n), Balance: String(amount) },
            ...{ PublicKey: bank.publicKey, SettleDelay: 86_400 },
          },
          ...{ ...entry, LedgerEntryType: 'PayChannel', PreviousFields: { Balance: '0' } },
        },
      },
    },
    // The recipient of a check cashes it. Its key is not known here: another one signs.
    CheckCash: {
      tx: next(chain, keyOf('checks'), { TransactionType: kind, CheckID: id, Amount: String(amount) }, to),
      node: {
        DeletedNode: {
          FinalFields: { ...common, SendMax: String(amount), Sequence: 1, DestinationNode: '0' },
          ...{ ...entry, LedgerEntryType: 'Check' },
        },
      },
    },
  };
  return {
    tx: made[kind].tx,
    nodes: [made[kind].node],
    act: ({ state, index }) => {
      state.add(bank.address, -amount, index);
      state.add(to, amount, index);
      return { result: 'tesSUCCESS', delivered: String(amount) };
    },
  };
}

function deletion(chain: XrpLedgers, { to, amount, tag }: Credit, leaver: XrpKey): Waiting {
  const Fee = String(chain.fees.reserveInc);
  const directory = { LedgerEntryType: 'DirectoryNode', LedgerIndex: directoryIndex(leaver.address) };
  return {
    tx: next(chain, leaver, { TransactionType: 'AccountDelete', Destination: to, Fee, ...tagged(tag) }),
    stored: { DeliveredAmount: String(amount) },
    nodes: [{ DeletedNode: { FinalFields: { Flags: 0, RootIndex: directory.LedgerIndex }, ...directory } }],
    act: ({ state, index }) => {
      state.add(to, amount, index);
      state.delete(leaver.address);
      return { result: 'tesSUCCESS', delivered: String(amount) };
    },
  };
}

/**
 * A batch of two payments by the bank, one to the recipient and one to another account. The inner
 * ones have ids and their own metadata, and no signature.
 * https://xrpl.org/docs/concepts/transactions/batch-transactions
 */
export function batch(chain: XrpLedgers, credits: readonly [Credit, Credit]): Waiting {
  const { bank, networkId } = chain;
  const { sequence } = chain.pool.open.existing(bank.address);
  const network = networkId > 1_024 ? { NetworkID: networkId } : {};
  const inner = credits.map(({ to, amount, tag }, i) => ({
    ...{ TransactionType: 'Payment', Account: bank.address, Destination: to, Amount: String(amount) },
    ...{ Fee: '0', Flags: txFlags.innerBatch, Sequence: sequence + 1 + i, SigningPubKey: '', ...tagged(tag) },
    ...network,
  }));
  const RawTransactions = inner.map((RawTransaction) => ({ RawTransaction }));
  const outer = next(chain, bank, { TransactionType: 'Batch', Fee: '40', Flags: 65_536, RawTransactions });
  const entryOf = (i: number): Waiting | undefined => {
    const [json, credit] = [inner[i], credits[i]];
    if (!json || !credit) return undefined;
    const then = entryOf(i + 1);
    return {
      tx: encodeTransaction(json),
      stored: { ParentBatchID: outer.txid },
      act: ({ state, index }) => {
        state.add(bank.address, -credit.amount, index);
        state.add(credit.to, credit.amount, index);
        return { result: 'tesSUCCESS', delivered: json.Amount };
      },
      ...(then ? { then } : {}),
    };
  };
  const then = entryOf(0);
  return { tx: outer, act: () => ({ result: 'tesSUCCESS' }), ...(then ? { then } : {}) };
}
