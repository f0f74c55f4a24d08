import { readFileSync } from 'node:fs';
import { Networks, xdr } from '@stellar/stellar-base';
import { byEnvelopeHash, headerHash, resultsHash, setHash } from '../../support/chains/stellar-node/close-meta.ts';
import { accountFromXdr, newAccount, type StellarAccount } from '../../support/chains/stellar-node/entries.ts';
import { execute } from '../../support/chains/stellar-node/execution.ts';
import { metaOf } from '../../support/chains/stellar-node/ledgers.ts';
import { operations } from '../../support/chains/stellar-node/operations.ts';
import type { OpOutcome } from '../../support/chains/stellar-node/payments.ts';
import { codeOf, failed, opResult, txResult } from '../../support/chains/stellar-node/results.ts';
import { chargedFee } from '../../support/chains/stellar-node/rules.ts';
import { State } from '../../support/chains/stellar-node/state.ts';
import {
  decodeTransaction,
  isBumpSigned,
  signedBy,
  signersNeeded,
} from '../../support/chains/stellar-node/transaction.ts';
import { startStellar } from '../../support/chains/stellar-node.ts';

interface RecordedLedger {
  readonly hash: string;
  readonly sequence: number;
  readonly headerXdr: string;
  readonly metadataXdr?: string;
}

interface RecordedTx {
  readonly status: 'SUCCESS' | 'FAILED';
  readonly txHash: string;
  readonly feeBump: boolean;
  readonly envelopeXdr: string;
  readonly resultXdr: string;
  readonly resultMetaXdr: string;
  readonly ledger: number;
  readonly createdAt: number | string;
}

interface Recorded {
  readonly ledgers: readonly RecordedLedger[];
  readonly transactions: readonly RecordedTx[];
  readonly submissions: readonly { readonly transaction: string; readonly answer: Record<string, unknown> }[];
}

function recorded<K extends keyof Recorded>(name: K): Recorded[K] {
  const text = readFileSync(new URL(`../../fixtures/stellar/${name}.json`, import.meta.url), 'utf8');
  return JSON.parse(text) as Recorded[K];
}

function envelopesOf(set: xdr.GeneralizedTransactionSet): xdr.TransactionEnvelope[] {
  const phases = set.v1TxSet().phases();
  return phases.flatMap((phase) =>
    phase.switch() === 0
      ? phase.v0Components().flatMap((component) => component.txsMaybeDiscountedFee().txes())
      : phase.parallelTxsComponent().executionStages().flat(2),
  );
}

/** All accounts as they were before a recorded transaction, its fee taken. */
function accountsBefore(meta: xdr.TransactionMetaV4): Map<string, StellarAccount> {
  const found = new Map<string, StellarAccount>();
  const changes = [...meta.txChangesBefore(), ...meta.operations().flatMap((operation) => operation.changes())];
  for (const change of changes) {
    if (change.switch().name !== 'ledgerEntryState') continue;
    if (change.state().data().switch().name !== 'account') continue;
    const account = accountFromXdr(change.state());
    if (!found.has(account.address)) found.set(account.address, account);
  }
  return found;
}

describe('the simulated Stellar on recorded data', () => {
  it.each(
    recorded('ledgers').map((ledger) => [ledger.sequence, ledger]),
  )('computes the hash of ledger %i', (_, one) => {
    const entry = xdr.LedgerHeaderHistoryEntry.fromXDR(one.headerXdr, 'base64');
    expect(headerHash(entry.header())).toBe(one.hash);
    const changed = entry.header();
    changed.baseFee(changed.baseFee() + 1);
    expect(headerHash(changed)).not.toBe(one.hash);
  });

  it('computes the hashes of sets and results, and the order of a set', () => {
    const metas = recorded('ledgers').flatMap(({ metadataXdr }) => (metadataXdr === undefined ? [] : [metadataXdr]));
    expect(metas).toHaveLength(2);
    for (const text of metas) {
      const meta = xdr.LedgerCloseMeta.fromXDR(text, 'base64').v1();
      const header = meta.ledgerHeader().header();
      expect(setHash(meta.txSet())).toEqual(header.scpValue().txSetHash());
      expect(resultsHash(meta.txProcessing().map((one) => one.result()))).toEqual(header.txSetResultHash());
      const envelopes = envelopesOf(meta.txSet());
      expect(envelopes.toSorted(byEnvelopeHash)).toEqual(envelopes);
      const ids = envelopes.map((one) => decodeTransaction(one.toXDR('base64'), Networks.TESTNET).txid);
      const applied = meta.txProcessing().map((one) => one.result().transactionHash().toString('hex'));
      expect(ids.toSorted()).toEqual(applied.toSorted());
    }
  });

  it('computes ids and signatures of transactions', () => {
    for (const one of recorded('transactions')) {
      const tx = decodeTransaction(one.envelopeXdr, Networks.TESTNET);
      expect(tx.txid).toBe(one.txHash);
      expect(tx.innerTxid !== null).toBe(one.feeBump);
      const meta = xdr.TransactionMeta.fromXDR(one.resultMetaXdr, 'base64').v4();
      const others = [...accountsBefore(meta).values()].flatMap(({ signers }) => signers.map(({ address }) => address));
      const signed = signedBy(tx, [...signersNeeded(tx), ...others]);
      const count = tx.innerTxid === null ? tx.envelope.v1().signatures().length : 3;
      expect(signed.size).toBe(count);
      if (one.feeBump) expect(isBumpSigned(tx)).toBe(true);
      const elsewhere = decodeTransaction(one.envelopeXdr, Networks.PUBLIC);
      expect(elsewhere.txid).not.toBe(one.txHash);
      expect(signedBy(elsewhere, [...signersNeeded(tx), ...others]).size).toBe(0);
    }
  });

  it('computes the metadata of a new account, and of a payment that failed, to the last byte', () => {
    const replayed = recorded('transactions').filter((one) => {
      const tx = decodeTransaction(one.envelopeXdr, Networks.TESTNET);
      return tx.innerTxid === null && tx.resourceFee === 0n;
    });
    expect(replayed.map(({ status }) => status)).toEqual(['FAILED', 'SUCCESS']);
    for (const one of replayed) {
      const tx = decodeTransaction(one.envelopeXdr, Networks.TESTNET);
      const meta = xdr.TransactionMeta.fromXDR(one.resultMetaXdr, 'base64').v4();
      const state = new State();
      // A failure records only the account that pays the fee; the others are made up.
      for (const address of signersNeeded(tx)) state.put(newAccount(address, 100_000_000n, 1));
      for (const account of accountsBefore(meta).values()) state.put(account);
      state.changes();
      const site = { ...startStellar().siteOfNext(state), passphrase: Networks.TESTNET };
      const fees = { baseFee: 100n, baseReserve: 5_000_000n };
      const applied = execute({ tx }, 100n, { ...site, fees, seq: one.ledger, closeTime: Number(one.createdAt) });
      expect(applied.result.toXDR('base64')).toBe(one.resultXdr);
      expect(applied.meta.toXDR('base64')).toBe(one.resultMetaXdr);
    }
  });

  it('computes the metadata of a fee bump, when it is told what its operations did', () => {
    const [one] = recorded('transactions').filter(({ feeBump }) => feeBump);
    const tx = decodeTransaction(one?.envelopeXdr, Networks.TESTNET);
    const result = xdr.TransactionResult.fromXDR(one?.resultXdr ?? '', 'base64');
    const fee = result.feeCharged().toBigInt();
    const meta = xdr.TransactionMeta.fromXDR(one?.resultMetaXdr ?? '', 'base64').v4();
    const state = new State();
    for (const account of accountsBefore(meta).values()) state.put(account);
    state.changes();
    const results = [...result.result().innerResultPair().result().result().results()].reverse();
    const act = (): OpOutcome => ({ result: results.pop() ?? opResult('opNotSupported'), movements: [] });
    const site = { ...startStellar().siteOfNext(state), passphrase: Networks.TESTNET };
    const [seq, closeTime] = [one?.ledger ?? 0, Number(one?.createdAt)];
    expect(chargedFee(tx, { baseFee: 100n, baseReserve: 5_000_000n })).toBe(fee);
    const applied = execute({ tx, act }, fee, { ...site, seq, closeTime });
    expect(applied.result.toXDR('base64')).toBe(one?.resultXdr);
    expect(applied.meta.toXDR('base64')).toBe(one?.resultMetaXdr);
  });

  it('computes ids and results of what was sent', () => {
    const [taken, refused] = recorded('submissions');
    const ids = [taken, refused].map((one) => decodeTransaction(one?.transaction, Networks.TESTNET).txid);
    expect(ids).toEqual([taken?.answer.hash, refused?.answer.hash]);
    expect(txResult(failed('txBadSeq'), 100n, null).toXDR('base64')).toBe(refused?.answer.errorResultXdr);
  });
});

describe('the ledgers of the simulated Stellar', () => {
  it('are a chain of hashes, five seconds apart, with the hashes of set and results', () => {
    const chain = startStellar({ startTime: 1_790_000_000_000 });
    const alice = chain.newAccount();
    chain.pay(chain.bank, alice.address, 5n);
    chain.close();
    chain.closeEmpty(60);
    expect(chain.ledgers).toHaveLength(63);
    for (const [i, ledger] of chain.ledgers.entries()) {
      const { header, hash, closeTime, transactions, txSet } = ledger;
      expect(headerHash(header)).toBe(hash);
      expect(header.ledgerSeq()).toBe(chain.firstSeq + i);
      expect(closeTime).toBe(1_790_000_000 + 5 * i);
      expect(header.scpValue().closeTime().toString()).toBe(String(closeTime));
      if (i > 0) expect(header.previousLedgerHash().toString('hex')).toBe(chain.ledgers[i - 1]?.hash);
      const meta = metaOf(ledger).v2();
      expect(resultsHash(meta.txProcessing().map((one) => one.result()))).toEqual(header.txSetResultHash());
      expect(setHash(txSet)).toEqual(header.scpValue().txSetHash());
      expect(envelopesOf(meta.txSet())).toHaveLength(transactions.length);
      expect(xdr.LedgerCloseMeta.fromXDR(metaOf(ledger).toXDR()).switch()).toBe(2);
    }
  });

  it('list their sets by the hashes of envelopes, in any order of application', () => {
    const chain = startStellar();
    const alice = chain.newAccount();
    const sent = [1n, 2n, 3n, 4n, 5n, 6n].map((amount) => chain.pay(chain.bank, alice.address, amount));
    const { transactions, txSet } = chain.close();
    expect(transactions.map(({ tx }) => tx.txid)).toEqual(sent);
    const envelopes = envelopesOf(txSet);
    expect(envelopes).toHaveLength(6);
    expect(envelopes.toSorted(byEnvelopeHash)).toEqual(envelopes);
  });

  it('lose no coin, in all that a test can do', () => {
    const chain = startStellar();
    const [alice, bob] = [chain.newAccount(), chain.newAccount()];
    const usd = chain.asset('USD');
    chain.trust(alice.address, usd);
    const sent = [
      chain.pay(alice, bob.address, 1_000n, { memo: 7n, muxedId: 8n }),
      chain.pay(chain.bank, alice.address, 5n, { asset: usd, memo: { text: 'order' } }),
      chain.pay(bob, alice.address, 2n ** 60n),
      chain.pay(bob, alice.address, 4n, { result: 'paymentLineFull' }),
      chain.payInMany([
        { to: alice.address, amount: 1n, muxedId: 1n },
        { to: bob.address, amount: 2n },
        { to: alice.address, amount: 3n, asset: usd },
      ]),
      chain.credit('account_merge', bob.address, 12_000_000n),
      chain.credit('claimable_balance', bob.address, 13n),
      chain.credit('create_account', chain.newKey().address, 14_000_000n),
      chain.credit('contract', bob.address, 15n, 3n),
      chain.credit('contract', alice.address, 16n, null, usd),
      chain.pathPayment(alice.address, { sent: 100n, arrived: 17n }),
      chain.pathPayment(alice.address, { sent: 100n, arrived: 18n, asset: usd, strict: 'receive' }),
    ];
    const inner = chain.sign(alice, { operations: [operations.payment(bob.address, 9n)] });
    sent.push(chain.feeBump(inner.base64, bob));
    const { transactions } = chain.close();
    expect(transactions.map(({ tx }) => tx.txid)).toEqual(sent);
    expect(transactions.filter(({ isSuccessful }) => !isSuccessful).map(({ tx }) => tx.txid)).toEqual(sent.slice(2, 4));
    expect(chain.find(inner.txid)?.applied.tx.txid).toBe(sent.at(-1));
    for (const { state, header } of chain.ledgers) {
      expect(state.total + header.feePool().toBigInt()).toBe(header.totalCoins().toBigInt());
    }
    expect(chain.balance(alice.address, usd)).toBe(5n + 3n + 16n + 18n);
  });

  it('have metadata whose every state is what the ledger knew before', () => {
    const chain = startStellar();
    const alice = chain.newAccount();
    chain.pay(alice, chain.bank.address, 1n);
    chain.pay(chain.bank, alice.address, 2n);
    const before = chain.head.state;
    const ledger = chain.close();
    const known = new Map<string, string>(
      [alice, chain.bank].map(({ address }) => [address, String(before.existing(address).balance)]),
    );
    const process = metaOf(ledger).v2().txProcessing();
    const changes = [
      ...process.flatMap((one) => one.feeProcessing()),
      ...process.flatMap((one) => {
        const meta = one.txApplyProcessing().v4();
        return [...meta.txChangesBefore(), ...meta.operations().flatMap((operation) => operation.changes())];
      }),
    ];
    expect(changes.length).toBe(2 * 2 + 2 * (2 + 4));
    for (const change of changes) {
      const isState = change.switch().name === 'ledgerEntryState';
      const account = accountFromXdr(isState ? change.state() : change.updated());
      if (isState) expect(String(account.balance)).toBe(known.get(account.address));
      else known.set(account.address, String(account.balance));
    }
    expect(known.get(alice.address)).toBe(String(chain.balance(alice.address)));
  });

  it('begin sequence numbers with the ledger that made the account', () => {
    const chain = startStellar();
    const alice = chain.newAccount();
    expect(chain.account(alice.address).seqNum).toBe(BigInt(chain.head.seq) << 32n);
    const results = chain.find(chain.pay(alice, chain.bank.address, 1n));
    expect(results).toBeNull();
    const { transactions } = chain.close();
    expect(transactions.map(({ result }) => result.result().results().map(codeOf))).toEqual([['paymentSuccess']]);
    expect(chain.account(alice.address)).toMatchObject({ seqLedger: chain.head.seq, seqTime: chain.head.closeTime });
  });
});
