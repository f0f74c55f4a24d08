import { xdr } from '@stellar/stellar-base';
import { type Applied, closeMeta, headerHash, historyEntry, transactionSet } from './close-meta.ts';
import { flipped, type StellarFaults } from './faults.ts';
import { type Hash, int64, uint64 } from './keys.ts';
import type { Found, StellarLedger, StellarLedgers } from './ledgers.ts';
import { opResult, txResult } from './results.ts';

/** A ledger as one server shows it. */
export interface Shown {
  readonly ledger: StellarLedger;
  readonly hash: Hash;
  readonly entry: xdr.LedgerHeaderHistoryEntry;
  readonly txSet: xdr.GeneralizedTransactionSet;
  readonly transactions: readonly Applied[];
}

/** The network as one server shows it. */
export class View {
  readonly chain: StellarLedgers;
  readonly faults: StellarFaults;

  constructor(chain: StellarLedgers, faults: StellarFaults) {
    this.chain = chain;
    this.faults = faults;
  }

  /** The newest ledger that it knows. */
  get head(): StellarLedger {
    const { lag = 0, stuckAt = Number.MAX_SAFE_INTEGER } = this.faults;
    const top = Math.min(this.chain.head.seq - lag, stuckAt);
    return this.chain.at(Math.max(top, this.chain.firstSeq)) ?? this.chain.head;
  }

  get oldest(): StellarLedger {
    const { oldest = 0 } = this.faults;
    return this.chain.at(Math.min(Math.max(oldest, this.chain.firstSeq), this.head.seq)) ?? this.head;
  }

  /** By its sequence number; null when the server does not have it. */
  ledger(seq: number): StellarLedger | null {
    const { gap } = this.faults;
    const isMissing = gap !== undefined && seq >= gap[0] && seq <= gap[1];
    return isMissing || seq < this.oldest.seq || seq > this.head.seq ? null : this.chain.at(seq);
  }

  /** A transaction in a ledger that it has, by its id. */
  find(txid: Hash): Found | null {
    if (this.faults.forgets?.some((one) => one.toLowerCase() === txid.toLowerCase())) return null;
    const found = this.chain.find(txid);
    if (!found || !this.ledger(found.ledger.seq)) return null;
    const changed = this.shown(found.ledger).transactions[found.position - 1];
    return changed ? { ...found, applied: changed } : null;
  }

  shown(ledger: StellarLedger): Shown {
    const header = this.#header(ledger);
    const hash = this.faults.ledger === 'hash' ? flipped(ledger.hash) : ledger.hash;
    const shownHash = this.faults.ledger === 'fork' ? headerHash(header) : hash;
    const transactions = this.#transactions(ledger);
    const isRelisted = ['lack', 'repeat', 'foreign', 'envelope'].includes(this.faults.ledger ?? '');
    const all = transactions.map(({ tx }) => tx);
    return {
      ...{ ledger, transactions, hash: shownHash, entry: historyEntry(header, shownHash) },
      txSet: isRelisted ? transactionSet(header.previousLedgerHash(), all, this.chain.fees) : ledger.txSet,
    };
  }

  #header({ header }: StellarLedger): xdr.LedgerHeader {
    const changed = xdr.LedgerHeader.fromXDR(header.toXDR());
    const { ledger } = this.faults;
    if (ledger === 'time') changed.scpValue().closeTime(uint64(header.scpValue().closeTime().toBigInt() + 1n));
    if (ledger === 'parent' || ledger === 'fork') {
      changed.previousLedgerHash(Buffer.from(flipped(header.previousLedgerHash().toString('hex')), 'hex'));
    }
    return changed;
  }

  #transactions({ seq, transactions }: StellarLedger): readonly Applied[] {
    const last = transactions.at(-1);
    const others = transactions.slice(0, -1);
    switch (this.faults.ledger) {
      case 'lack':
      case 'unlisted':
        return others;
      case 'repeat':
        return [...transactions, ...transactions.slice(-1)];
      case 'foreign':
        return [...transactions, ...this.#before(seq)];
      case 'envelope':
        return last ? [...others, otherEnvelope(last)] : [];
      case 'result':
        return last ? [...others, otherResult(last)] : [];
      case 'meta':
        return last ? [...others, otherMeta(last)] : [];
      default:
        return transactions;
    }
  }

  /** The first transaction of the newest ledger below this one that holds any. */
  #before(seq: number): readonly Applied[] {
    const found = this.chain.ledgers.findLast((one) => one.seq < seq && one.transactions.length > 0);
    return found?.transactions.slice(0, 1) ?? [];
  }
}

/** All that a server keeps of a ledger, as it shows it. */
export function shownMeta({ entry, txSet, transactions }: Shown): xdr.LedgerCloseMeta {
  return closeMeta(entry, txSet, transactions);
}

/** Pays a thousand times as much, or has another memo, with the same signature. */
function otherEnvelope(applied: Applied): Applied {
  const envelope = xdr.TransactionEnvelope.fromXDR(applied.tx.envelope.toXDR());
  const isBump = applied.tx.innerTxid !== null;
  const tx = isBump ? envelope.feeBump().tx().innerTx().v1().tx() : envelope.v1().tx();
  const payment = tx.operations().find((operation) => operation.body().switch().name === 'payment');
  if (payment) {
    const op = payment.body().paymentOp();
    op.amount(int64(op.amount().toBigInt() * 1_000n));
  } else tx.memo(xdr.Memo.memoId(uint64(7n)));
  return { ...applied, tx: { ...applied.tx, envelope, tx, base64: envelope.toXDR('base64') } };
}

/** A success that failed, or a failure that succeeded. */
function otherResult(applied: Applied): Applied {
  const { tx, isSuccessful, result } = applied;
  const name = isSuccessful ? 'paymentUnderfunded' : 'paymentSuccess';
  const results = tx.operations.map(() => opResult(name));
  const outcome = { code: isSuccessful ? 'txFailed' : 'txSuccess', results } as const;
  const changed = txResult(outcome, result.feeCharged().toBigInt(), tx.innerTxid);
  return { ...applied, isSuccessful: !isSuccessful, result: changed };
}

/** All balances after the operations are higher by 100. */
function otherMeta(applied: Applied): Applied {
  const meta = xdr.TransactionMeta.fromXDR(applied.meta.toXDR());
  for (const change of meta
    .v4()
    .operations()
    .flatMap((operation) => operation.changes())) {
    const kind = change.switch().name;
    if (kind !== 'ledgerEntryUpdated' && kind !== 'ledgerEntryCreated') continue;
    const data = (kind === 'ledgerEntryUpdated' ? change.updated() : change.created()).data();
    const name = data.switch().name;
    if (name !== 'account' && name !== 'trustline') continue;
    const holder = name === 'account' ? data.account() : data.trustLine();
    holder.balance(int64(holder.balance().toBigInt() + 1_000_000_000n));
  }
  return { ...applied, meta };
}
