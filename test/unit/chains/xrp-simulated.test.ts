import { readFileSync } from 'node:fs';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { accountIndex, sign as signBytes, type XrpKey } from '../../support/chains/xrp-node/crypto.ts';
import { type Header, ledgerHash } from '../../support/chains/xrp-node/header.ts';
import { transactionsRoot } from '../../support/chains/xrp-node/ledgers.ts';
import type { Submission } from '../../support/chains/xrp-node/pool.ts';
import { accountFlags } from '../../support/chains/xrp-node/state.ts';
import {
  encodeTransaction,
  hasValidSignature,
  Malformed,
  signTransaction,
} from '../../support/chains/xrp-node/transaction.ts';
import { startXrp, type XrpChain } from '../../support/chains/xrp-node.ts';

type Json = Record<string, unknown>;

interface RecordedTx {
  readonly hash: string;
  readonly tx_json: Json;
  readonly meta: { readonly AffectedNodes: readonly Json[] };
}

function recorded<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../fixtures/xrp/${name}.json`, import.meta.url), 'utf8')) as T;
}

/** Members that are signed: an interface of version 2 names the amount of a payment differently. */
function signedMembers({ DeliverMax, ...rest }: Json): Json {
  return DeliverMax === undefined ? rest : { Amount: DeliverMax, ...rest };
}

interface Changed {
  readonly FinalFields?: Json;
  readonly PreviousFields?: Json;
  readonly NewFields?: Json;
  readonly LedgerEntryType: string;
  readonly LedgerIndex: string;
}

/** What a transaction did to an account. */
function changeOf(chain: XrpChain, txid: string, address: string): [string, Changed] | null {
  const nodes = (chain.find(txid)?.applied.meta.AffectedNodes ?? []) as Record<string, Changed>[];
  for (const node of nodes) {
    for (const [kind, changed] of Object.entries(node)) {
      if (changed.LedgerEntryType === 'AccountRoot' && changed.LedgerIndex === accountIndex(address)) {
        return [kind, changed];
      }
    }
  }
  return null;
}

const metaOf = (chain: XrpChain, txid: string): Json => chain.find(txid)?.applied.meta ?? {};
const payment = (Destination: string, Amount: bigint | string, more: Json = {}): Json => ({
  TransactionType: 'Payment',
  ...{ Destination, Amount: String(Amount), ...more },
});

describe('the simulated XRP Ledger on recorded data', () => {
  it('computes the hash of every recorded ledger', () => {
    const ledgers = recorded<(Omit<Header, 'total_coins'> & { total_coins: string; ledger_hash: string })[]>('ledgers');
    expect(ledgers).toHaveLength(5);
    for (const { ledger_hash, ...header } of ledgers) {
      expect(ledgerHash({ ...header, total_coins: BigInt(header.total_coins) })).toBe(ledger_hash);
    }
  });

  it('computes the id of every recorded transaction, and checks its signature', () => {
    const all = recorded<RecordedTx[]>('transactions').filter(({ tx_json }) => 'TxnSignature' in tx_json);
    expect(all.length).toBeGreaterThan(5);
    const valid = all.filter(({ tx_json, hash }) => {
      const tx = encodeTransaction(signedMembers(tx_json));
      expect(tx.txid).toBe(hash);
      return hasValidSignature(tx);
    });
    // Three of 2013 and 2014 have an S above half of the order, which is refused since.
    const highS = all.filter(({ tx_json }) => {
      const isDer = String(tx_json.TxnSignature).startsWith('30');
      return isDer && secp256k1.Signature.fromHex(String(tx_json.TxnSignature), 'der').hasHighS();
    });
    expect([all.length, highS.length, valid.length]).toEqual([11, 3, 8]);
  });

  it('computes the place of every recorded account', () => {
    const roots = recorded<RecordedTx[]>('transactions').flatMap(({ meta }) =>
      meta.AffectedNodes.flatMap((node) => Object.values(node) as Changed[]).filter(
        ({ LedgerEntryType, FinalFields }) => LedgerEntryType === 'AccountRoot' && FinalFields,
      ),
    );
    expect(roots.length).toBeGreaterThan(10);
    for (const { LedgerIndex, FinalFields } of roots) {
      expect(accountIndex(String(FinalFields?.Account))).toBe(LedgerIndex);
    }
  });
});

describe('the simulated ledger', () => {
  it('joins ledgers by their hashes, and burns the fees', () => {
    const chain = startXrp();
    const [alice, bob] = [chain.newAccount(), chain.newAccount()];
    chain.pay(alice, bob.address, 1_000_000n);
    chain.pay(bob, alice.address, 2_000_000n, { members: { Fee: '500' } });
    const { header, state } = chain.close();
    chain.closeEmpty(3);
    const [first] = chain.ledgers;
    expect(header.total_coins).toBe((first?.header.total_coins ?? 0n) - 510n);
    expect(state.total).toBe(header.total_coins);
    for (const [i, ledger] of chain.ledgers.entries()) {
      expect(ledger.hash).toBe(ledgerHash(ledger.header));
      if (i > 0) expect(ledger.header.parent_hash).toBe(chain.ledgers[i - 1]?.hash);
    }
    expect([chain.balance(alice.address), chain.balance(bob.address)]).toEqual([100_999_990n, 98_999_500n]);
  });

  it('lists what a payment changed as recorded metadata do', () => {
    const chain = startXrp();
    const [alice, bob] = [chain.newAccount(20_000_000n), chain.newAccount(5_000_000n)];
    const { sequence } = chain.account(alice.address);
    chain.pay(bob, alice.address, 1n);
    const before = chain.close();
    const txid = chain.pay(alice, bob.address, 3_000_000n, { tag: 7 });
    chain.close();
    expect(changeOf(chain, txid, alice.address)).toEqual([
      'ModifiedNode',
      {
        FinalFields: {
          ...{ Account: alice.address, Balance: '16999991', Flags: 0, OwnerCount: 0 },
          Sequence: sequence + 1,
        },
        LedgerEntryType: 'AccountRoot',
        LedgerIndex: accountIndex(alice.address),
        PreviousFields: { Balance: '20000001', Sequence: sequence },
        PreviousTxnID: before.transactions[0]?.tx.txid,
        PreviousTxnLgrSeq: before.header.ledger_index,
      },
    ]);
    expect(changeOf(chain, txid, bob.address)?.[1].PreviousFields).toEqual({ Balance: '4999989' });
    expect(metaOf(chain, txid)).toMatchObject({
      ...{ TransactionIndex: 0, TransactionResult: 'tesSUCCESS', delivered_amount: '3000000' },
    });
    expect((metaOf(chain, txid).AffectedNodes as unknown[]).length).toBe(2);
  });

  it('makes an account whose sequence is the index of its ledger', () => {
    const chain = startXrp();
    const [alice, bob] = [chain.newAccount(), chain.newKey()];
    const txid = chain.pay(alice, bob.address, 1_000_000n);
    const { header } = chain.close();
    expect(changeOf(chain, txid, bob.address)).toEqual([
      'CreatedNode',
      {
        ...{ LedgerEntryType: 'AccountRoot', LedgerIndex: accountIndex(bob.address) },
        NewFields: { Account: bob.address, Balance: '1000000', Sequence: header.ledger_index },
      },
    ]);
  });

  it("takes the root of its transactions from the ledger's own tree, which every part changes", () => {
    const chain = startXrp();
    const alice = chain.newAccount();
    for (const drops of [1n, 2n, 3n]) chain.pay(chain.bank, alice.address, drops);
    const { transactions, header } = chain.close();
    expect(transactions).toHaveLength(3);
    expect(transactionsRoot([...transactions].reverse())).toBe(header.transaction_hash);
    expect(transactionsRoot(transactions.slice(1))).not.toBe(header.transaction_hash);
    const [first, ...rest] = transactions;
    const changed = { tx: first?.tx, meta: { ...first?.meta, TransactionResult: 'tecPATH_DRY' } };
    expect(transactionsRoot([changed as (typeof transactions)[0], ...rest])).not.toBe(header.transaction_hash);
  });
});

describe('a transaction', () => {
  const setUp = (options = {}): { chain: XrpChain; alice: XrpKey; bob: XrpKey } => {
    const chain = startXrp(options);
    return { chain, alice: chain.newAccount(), bob: chain.newAccount() };
  };

  it('is refused when its bytes or its signature are changed', () => {
    const { chain, alice, bob } = setUp();
    const { blob, json } = chain.sign(alice, payment(bob.address, 5n));
    const foreign = encodeTransaction({ ...json, TxnSignature: signBytes(Buffer.from('another'), alice) });
    const doubled = `${blob}${blob}`;
    // The amount and the fee change places: both are read, and the order is not the canonical one.
    const swapped = blob.replace(/(6140+5)(6840+A)/, '$2$1');
    expect(swapped).not.toBe(blob);
    for (const bad of [foreign.blob, doubled, swapped, blob.slice(0, -2), 'FF']) {
      expect(() => chain.pool.submit(bad, true)).toThrow(Malformed);
    }
    expect(chain.pool.submit(blob, true).result).toBe('tesSUCCESS');
  });

  it('is refused with a signature whose S is high', () => {
    const { chain, alice, bob } = setUp();
    const { json } = chain.sign(alice, payment(bob.address, 5n));
    const low = secp256k1.Signature.fromBytes(Buffer.from(String(json.TxnSignature), 'hex'), 'der');
    const high = new secp256k1.Signature(low.r, secp256k1.Point.CURVE().n - low.s);
    const changed = encodeTransaction({ ...json, TxnSignature: high.toHex('der').toUpperCase() });
    expect(() => chain.pool.submit(changed.blob, true)).toThrow('Invalid signature');
  });

  it('is named in networks above 1024, and in no other', () => {
    const [main, side] = [setUp({ networkId: 1_024 }), setUp({ networkId: 1_025 })];
    const sent = ({ chain, alice, bob }: typeof main, more: Json): string => {
      const Sequence = chain.account(alice.address).sequence;
      const members = { Account: alice.address, Fee: '10', Sequence, ...payment(bob.address, 1n), ...more };
      return chain.pool.submit(signTransaction(members, alice).blob, true).result;
    };
    expect(sent(main, { NetworkID: 1_024 })).toBe('telNETWORK_ID_MAKES_TX_NON_CANONICAL');
    expect(sent(main, {})).toBe('tesSUCCESS');
    expect(sent(side, {})).toBe('telREQUIRES_NETWORK_ID');
    expect(sent(side, { NetworkID: 1_026 })).toBe('telWRONG_NETWORK');
    expect(sent(side, { NetworkID: 1_025 })).toBe('tesSUCCESS');
  });

  it('needs the next sequence of an account that exists, and its key', () => {
    const { chain, alice, bob } = setUp();
    const { sequence } = chain.account(alice.address);
    const sent = (more: Json, key = alice): string =>
      chain.submit(key, { ...payment(bob.address, 1n), Account: alice.address, ...more }, true).result;
    expect(sent({ Sequence: sequence - 1 })).toBe('tefPAST_SEQ');
    expect(sent({ Sequence: sequence + 1 })).toBe('terPRE_SEQ');
    expect(sent({ Sequence: sequence }, bob)).toBe('tefBAD_AUTH_MASTER');
    const stranger = chain.newKey();
    expect(chain.submit(stranger, payment(bob.address, 1n), true).result).toBe('terNO_ACCOUNT');
    chain.setAccount(alice.address, { regularKey: bob.address });
    expect(sent({ Sequence: sequence }, stranger)).toBe('tefBAD_AUTH');
    chain.setAccount(alice.address, { flags: accountFlags.disableMaster });
    expect(sent({ Sequence: sequence })).toBe('tefMASTER_DISABLED');
    expect(sent({ Sequence: sequence }, bob)).toBe('tesSUCCESS');
  });

  it('comes into a ledger up to LastLedgerSequence, and into none above', () => {
    const { chain, alice, bob } = setUp();
    const sent = (last: number): string =>
      chain.submit(alice, { ...payment(bob.address, 1n), LastLedgerSequence: last }, true).result;
    expect(sent(chain.head.header.ledger_index)).toBe('tefMAX_LEDGER');
    expect(sent(chain.openIndex)).toBe('tesSUCCESS');
    expect(chain.close().transactions).toHaveLength(1);
    const late = chain.pay(alice, bob.address, 1n, { members: { LastLedgerSequence: chain.openIndex } });
    chain.closeEmpty();
    expect(chain.pool.has(late)).toBe(false);
    const last = chain.pay(alice, bob.address, 1n, { members: { LastLedgerSequence: chain.openIndex + 1 } });
    chain.closeEmpty();
    chain.close();
    expect(chain.find(last)?.ledger.header.ledger_index).toBe(chain.head.header.ledger_index);
  });

  it('is answered once when it waits, and is past when a ledger holds it', () => {
    const { chain, alice, bob } = setUp();
    const { blob } = chain.sign(alice, payment(bob.address, 1n));
    expect(chain.pool.submit(blob, true).result).toBe('tesSUCCESS');
    expect(chain.pool.submit(blob, true).result).toBe('tefALREADY');
    chain.close();
    expect(chain.pool.submit(blob, true).result).toBe('tefPAST_SEQ');
    expect(chain.close().transactions).toHaveLength(0);
  });

  it('needs the base fee, and waits below the open fee unless it must not', () => {
    const { chain, alice, bob } = setUp();
    const sent = (Fee: string, failHard: boolean, more: Json = {}): Submission =>
      chain.submit(alice, { ...payment(bob.address, 1n), Fee, ...more }, failHard);
    expect(sent('9', false).result).toBe('telINSUF_FEE_P');
    chain.openFee = 1_000n;
    expect(sent('999', true).result).toBe('telCAN_NOT_QUEUE');
    expect(sent('999', false, { LastLedgerSequence: chain.openIndex + 1 }).result).toBe('telCAN_NOT_QUEUE');
    const queued = sent('999', false);
    expect(queued).toMatchObject({ result: 'terQUEUED', isQueued: true, isKept: true, isApplied: false });
    expect(chain.close().transactions).toHaveLength(0);
    chain.openFee = 10n;
    expect(chain.close().transactions.map(({ tx }) => tx.txid)).toEqual([queued.tx.txid]);
    expect(sent('200000000', true).result).toBe('terINSUF_FEE_B');
  });

  it('is held back, dropped, let in later, or comes from a server that was not asked', () => {
    const { chain, alice, bob } = setUp();
    const txid = chain.pay(alice, bob.address, 1n);
    chain.hold(txid);
    expect(chain.close().transactions).toHaveLength(0);
    expect(chain.pool.remembered(txid)?.txid).toBe(txid);
    chain.release(txid);
    expect(chain.close().transactions).toHaveLength(1);
    const dropped = chain.sign(alice, payment(bob.address, 2n));
    chain.pool.submit(dropped.blob, true);
    chain.drop(dropped.txid);
    expect([chain.close().transactions.length, chain.pool.remembered(dropped.txid)]).toEqual([0, null]);
    chain.plant(dropped.blob);
    const rival = chain.pay(alice, bob.address, 3n);
    expect(chain.close().transactions.map(({ tx }) => tx.txid)).toEqual([dropped.txid]);
    expect([chain.find(rival), chain.pool.has(rival)]).toEqual([null, false]);
  });

  it('is forgotten half an hour after it was last asked for', () => {
    const { chain, alice, bob } = setUp();
    const txid = chain.pay(alice, bob.address, 1n, { members: { LastLedgerSequence: chain.openIndex } });
    chain.closeEmpty(2);
    const half = (): void => chain.setTime((chain.head.header.close_time + 946_684_800 + 1_700) * 1_000);
    for (const _ of [1, 2]) {
      half();
      chain.closeEmpty();
      expect(chain.pool.remembered(txid)?.txid).toBe(txid);
    }
    for (const _ of [1, 2]) {
      half();
      chain.closeEmpty();
    }
    expect(chain.pool.remembered(txid)).toBeNull();
  });
});
