import { randomUUID } from 'node:crypto';
import { xdr } from '@stellar/stellar-base';
import {
  ChainError,
  type PaymentIntent,
  type SignedTx,
  type Transfer,
} from '../../../src/chains/port/chain-adapter.ts';
import { StellarAdapter } from '../../../src/chains/stellar/stellar-adapter.ts';
import { mostBytes } from '../../../src/chains/stellar/stellar-node.ts';
import { networkIdOf } from '../../../src/chains/stellar/stellar-section.ts';
import { encodeKey } from '../../../src/chains/stellar/stellar-state.ts';
import { forging } from '../../support/chains/stellar-forger.ts';
import { fundingTag, type StellarHarness, sequenceOf, stellarHarness } from '../../support/chains/stellar-harness.ts';
import type { StellarFaults } from '../../support/chains/stellar-node/faults.ts';

let bench: StellarHarness;
beforeEach(async () => {
  bench = await stellarHarness();
});
afterEach(() => bench.stop());

const xlm = 10_000_000n;
const intentOf = (changes: Partial<PaymentIntent> = {}): PaymentIntent => ({
  ...{ id: randomUUID(), attempt: 1, from: null, contract: null, to: bench.address(), tag: null },
  amount: 5n * xlm,
  ...changes,
});

async function signed(payment = intentOf()): Promise<SignedTx> {
  return bench.sign(payment, await bench.adapter.prepare(payment, new Map()));
}

async function sent(): Promise<SignedTx> {
  const tx = await signed();
  expect((await bench.adapter.broadcast(tx)).outcome).toBe('accepted');
  return tx;
}

/** An adapter with one server, which nothing contradicts. */
const alone = (changes: Partial<StellarHarness['network']> = {}): StellarAdapter => {
  const { network, signer, nodes } = bench;
  const one = { ...network, nodes: [nodes[0].config], ...changes };
  return new StellarAdapter({ network: one, accounts: signer.accounts, fundingTag });
};

function lie(faults: StellarFaults, who: 'one' | 'both' = 'one'): void {
  const [one, other] = bench.nodes;
  one.faults = faults;
  if (who === 'both') other.faults = faults;
}

/** The code of the ChainError that a question ends with. Any other error fails the test. */
async function codeOf(question: Promise<unknown>): Promise<string> {
  const error = await question.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error === null) return 'answered';
  if (!(error instanceof ChainError)) throw error;
  expect(error.message.length).toBeLessThan(600);
  expect(error.message).toMatch(/^[\x20-\x7e]*$/);
  return error.code;
}

const late = (tx: SignedTx): void => {
  const expiry = tx.expiresAt !== null && 'timeMs' in tx.expiresAt ? tx.expiresAt.timeMs : 0;
  bench.chain.setTime(expiry + 1_000);
  bench.chain.close();
};

describe('a payment in a ledger', () => {
  let tx: SignedTx;
  beforeEach(async () => {
    tx = await sent();
    await bench.mine(1);
    late(tx);
  });
  afterEach(async () => {
    for (const node of bench.nodes) node.faults = {};
    expect(await bench.adapter.status(tx)).toMatchObject({ state: 'mined', success: true, final: true });
  });

  it.each([0, 1])('that server %i hides is dead for no one, and not final', async (index) => {
    const node = bench.nodes[index];
    if (node) node.faults = { forgets: [tx.txid] };
    expect(await bench.adapter.status(tx)).toMatchObject({ final: false });
  });

  it.each([0, 1])('that server %i tells as failed is not final', async (index) => {
    const node = bench.nodes[index];
    if (node) node.faults = { ledger: 'result' };
    expect(await bench.adapter.status(tx)).toMatchObject({ state: 'mined', final: false });
  });

  it('whose status one server contradicts by its result is taken from the other one', async () => {
    lie({ status: 'FAILED' });
    expect(await bench.adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
    lie({ ledger: 'envelope' });
    expect(await bench.adapter.status(tx)).toMatchObject({ state: 'mined', success: true });
  });

  it('that a lone server hides, which lacks ledgers that may hold it, is not dead', async () => {
    lie({ forgets: [tx.txid], oldest: bench.chain.head.seq });
    expect(await codeOf(alone().status(tx))).toBe('no_index');
  });

  it('that an older server behind the same address does not have yet is not dead', async () => {
    const older = bench.chain.head.seq - 2;
    lie({
      rewrite: (method, result) =>
        method === 'getTransaction' ? { ...result, status: 'NOT_FOUND', latestLedger: older } : result,
    });
    expect(await codeOf(alone().status(tx))).toBe('node_behind');
  });

  it('that a lone server hides is dead: nothing but its word tells', async () => {
    lie({ forgets: [tx.txid] });
    expect(await alone().status(tx)).toEqual({ state: 'dead', why: 'conflict', final: true });
  });

  it('waits for the second server while that one is away', async () => {
    const [, other] = bench.nodes;
    other.faults = { transport: 503 };
    expect(await bench.adapter.status(tx)).toMatchObject({ state: 'mined', success: true, final: false });
  });

  it('is told by no server that tells of another transaction', async () => {
    const other = await sent();
    await bench.mine(1);
    const [one] = bench.nodes;
    const told = await bench.adapter.status(other);
    expect(told).toMatchObject({ state: 'mined' });
    lie({
      rewrite: (method, result) =>
        method === 'getTransaction' ? { ...result, envelopeXdr: other.raw, status: 'SUCCESS' } : result,
    });
    expect(await codeOf(alone().status(tx))).toBe('unsound_answer');
    one.faults = {};
  });
});

describe('a payment in no ledger', () => {
  let tx: SignedTx;
  beforeEach(async () => {
    tx = await signed();
  });

  it('is not dead for good because one server says that its time is over', async () => {
    const later = bench.chain.head.closeTime + 900;
    lie({
      rewrite: (method, result) =>
        method === 'getTransaction' ? { ...result, latestLedgerCloseTime: String(later) } : result,
    });
    expect(await bench.adapter.status(tx)).toEqual({ state: 'dead', why: 'expired', final: false });
  });

  it('is not dead for good because one server says that its number is used', async () => {
    lie({ entries: 'huge' });
    const status = await bench.adapter.status(tx);
    expect(status).not.toMatchObject({ final: true });
  });

  it('is never mined by a status alone', async () => {
    for (const status of ['SUCCESS', 'FAILED'] as const) {
      lie({ status });
      expect(await codeOf(alone().status(tx))).toBe('unsound_answer');
      expect(await bench.adapter.status(tx)).toMatchObject({ state: 'waiting' });
    }
  });

  it('is not dead for good while one server is behind its last second', async () => {
    late(tx);
    const [, other] = bench.nodes;
    other.faults = { lag: 1 };
    expect(await bench.adapter.status(tx)).toEqual({ state: 'dead', why: 'expired', final: false });
  });

  it('gets no further attempt from a number that an earlier one may have used', async () => {
    const payment = intentOf();
    const first = await bench.adapter.prepare(payment, new Map());
    const { payload, reserves, expiresAt } = first;
    const next = { ...payment, attempt: 2 };
    const earlier = [{ payload, reserves, expiresAt, why: 'expired' as const }];
    await bench.adapter.broadcast(await bench.sign(payment, first));
    await bench.mine(1);
    expect(await codeOf(bench.adapter.prepare(next, new Map(), earlier))).toBe('earlier_may_confirm');
    // One server denies the ledger that used it.
    lie({ lag: 1 });
    expect(await codeOf(bench.adapter.prepare(next, new Map(), earlier))).toBe('nodes_disagree');
  });
});

describe('the bytes of a payment', () => {
  it.each<[string, StellarFaults]>([
    ['refuses them', { send: { status: 'ERROR', code: 'txMalformed', reaches: false } }],
    ['says that their number is used', { send: { status: 'ERROR', code: 'txBadSeq', reaches: false } }],
    ['knows no answer', { rewrite: () => ({ status: 'perhaps' }) }],
    ['refuses them with bytes that are no result', { rewrite: () => ({ status: 'ERROR', errorResultXdr: 'AAAA' }) }],
    ['answers a megabyte', { texts: 'long' }],
    ['throttles', { transport: 429 }],
  ])('reach the network although one server %s', async (_name, faults) => {
    const tx = await signed();
    lie(faults);
    expect(['accepted', 'known']).toContain((await bench.adapter.broadcast(tx)).outcome);
    lie({});
    await bench.mine(1);
    expect(await bench.adapter.status(tx)).toMatchObject({ state: 'mined', final: true });
  });

  it('are uncertain for two servers that lie', async () => {
    const tx = await signed();
    lie({ texts: 'odd' }, 'both');
    expect(await bench.adapter.broadcast(tx)).toEqual({ outcome: 'uncertain', code: 'unsound_answer' });
  });
});

describe('scans', () => {
  const arrived = async (adapter = bench.adapter): Promise<Transfer[]> => {
    const { blocks } = await adapter.scan(cursor, 20);
    return blocks.flatMap(({ transfers }) => [...transfers]);
  };
  const honest = { tag: '7', amount: 9_000_000n };
  let cursor: Awaited<ReturnType<StellarAdapter['start']>>;
  beforeEach(async () => {
    cursor = await bench.adapter.start(bench.chain.head.seq);
    await bench.pay(bench.hot, '7', null, honest.amount);
    bench.chain.close();
  });

  const faults: readonly (readonly [string, StellarFaults])[] = [
    ['whose hash is another', { ledger: 'hash' }],
    ['whose parent is another', { ledger: 'parent' }],
    ['whose time is another', { ledger: 'time' }],
    ['that lack a transaction', { ledger: 'lack' }],
    ['that hold a transaction twice', { ledger: 'repeat' }],
    ['whose results lack one', { ledger: 'unlisted' }],
    ['whose amount is another', { ledger: 'envelope' }],
    ['whose result is another', { ledger: 'result' }],
    ['whose change of balance is another', { ledger: 'meta' }],
    ['with numbers as text', { numbers: 'text' }],
    ['with numbers that are not whole', { numbers: 'float' }],
    ['with numbers below 0', { numbers: 'negative' }],
    ['with numbers beyond all', { numbers: 'huge' }],
    ['that are cut off', { transport: 'half' }],
    ['that are empty', { transport: 'empty' }],
    ['that are refused', { error: 'internal' }],
    ['that are no bytes', { rewrite: (_, result) => ({ ...result, headerXdr: '!', ledgers: [{ metadataXdr: '!' }] }) }],
    ['that are a megabyte of zeros', { rewrite: () => zeros }],
  ];
  const zeros = ((bytes) => ({ sequence: 7, headerXdr: bytes, ledgers: [{ metadataXdr: bytes, headerXdr: bytes }] }))(
    Buffer.alloc(1_000_000).toString('base64'),
  );
  it.each(faults)('take nothing from ledgers %s: the next server is asked', async (_name, fault) => {
    lie(fault);
    expect(await arrived()).toMatchObject([honest]);
    lie(fault, 'both');
    expect(await codeOf(bench.adapter.scan(cursor, 20))).not.toBe('answered');
  });

  it('credit nothing above the limit of one server of a ledger that it invented', async () => {
    const twoNodesAbove = new Map([['', honest.amount]]);
    const forged = forging(bench.chain.head.seq, networkIdOf(bench.network));
    const { signer, nodes } = bench;
    const both = new StellarAdapter({
      network: { ...bench.network, twoNodesAbove },
      ...{ accounts: signer.accounts, fundingTag },
    });
    lie(forged);
    expect(await arrived(alone({ twoNodesAbove }))).toMatchObject([{ tag: '7', amount: 1_000n * honest.amount }]);
    expect(await codeOf(both.scan(cursor, 20))).toBe('nodes_disagree');
    // Before the other one has a ledger of this height.
    nodes[1].faults = { lag: 1 };
    expect(await arrived(both)).toEqual([]);
    for (const node of nodes) node.faults = {};
    expect(await arrived(both)).toMatchObject([honest]);
  });

  it('take nothing from a server of another network', async () => {
    lie({ passphrase: 'Another network ; 2026' });
    expect(await arrived()).toMatchObject([honest]);
    expect(await codeOf(alone().scan(cursor, 20))).toBe('wrong_chain');
  });

  it('take nothing from a lone server that contradicts what was seen before', async () => {
    lie({ ledger: 'fork' });
    expect(await arrived()).toMatchObject([honest]);
    expect(await codeOf(alone().scan(cursor, 20))).toBe('inconsistent_chain');
  });

  it('go on with one server while the other one is away', async () => {
    for (const [index, node] of bench.nodes.entries()) {
      for (const each of bench.nodes) each.faults = {};
      node.faults = { transport: 503 };
      expect([index, await arrived()]).toMatchObject([index, [honest]]);
    }
  });

  it('carry a doubt for what rests on the word of a server', async () => {
    bench.chain.credit('account_merge', bench.hot, 5n * xlm);
    bench.chain.close();
    expect(await arrived()).toMatchObject([honest, { tag: null, doubt: 'unusual_kind' }]);
  });
});

describe('balances', () => {
  it.each<[string, StellarFaults]>([
    ['another entry', { entries: 'other' }],
    ['an entry under the key of another', { entries: 'swapped' }],
    ['an entry that was not asked for', { entries: 'more' }],
    ['numbers as text', { numbers: 'text' }],
    ['half an answer', { transport: 'half' }],
  ])('are not taken from %s', async (_name, fault) => {
    const holdings = [{ address: bench.hot, tag: null }];
    const honest = await bench.adapter.balances(holdings, null);
    lie(fault);
    expect(await bench.adapter.balances(holdings, null)).toEqual(honest);
    lie(fault, 'both');
    expect(await codeOf(bench.adapter.balances(holdings, null))).toBe('unsound_answer');
  });
});

describe('the preparation of payments', () => {
  const prepared = (changes: Partial<PaymentIntent> = {}, adapter = bench.adapter) =>
    codeOf(adapter.prepare(intentOf(changes), new Map()));

  it('believes no single server that a recipient is missing, or is there', async () => {
    const to = bench.address();
    const gone = bench.chain.newKey().address;
    lie({
      rewrite: (method, result) => {
        if (method !== 'getLedgerEntries') return result;
        const entries = result.entries as { key: string }[];
        return { ...result, entries: entries.filter(({ key }) => key !== encodeKey({ account: to })) };
      },
    });
    expect(await prepared({ to, amount: xlm })).toBe('nodes_disagree');
    expect(await prepared({ to, amount: xlm, contract: bench.token })).toBe('unconfirmed_refusal');
    lie({});
    expect(await prepared({ to: gone, amount: xlm })).toBe('answered');
  });

  it('believes no single server a sequence number', async () => {
    lie({ entries: 'huge' });
    expect(await prepared()).toBe('answered');
    lie({ entries: 'huge' }, 'both');
    expect(await prepared()).toBe('unsound_answer');
    for (const node of bench.nodes) node.faults = {};
    const [channel = ''] = bench.signer.accounts.channels;
    lie(lagging(channel));
    expect(await prepared({}, new StellarAdapter({ ...bench, accounts: bench.signer.accounts, fundingTag }))).toBe(
      'nodes_disagree',
    );
  });

  /** A server that tells an earlier sequence number of an account. */
  const lagging = (account: string): StellarFaults => ({
    rewrite: (method, result) => {
      if (method !== 'getLedgerEntries') return result;
      const entries = (result.entries as { key: string; xdr: string }[]).map((entry) => {
        if (entry.key !== encodeKey({ account })) return entry;
        const data = xdr.LedgerEntryData.fromXDR(entry.xdr, 'base64');
        data.account().seqNum(new xdr.Int64('5'));
        return { ...entry, xdr: data.toXDR('base64') };
      });
      return { ...result, entries };
    },
  });

  it('builds nothing on a head from the future, which would never expire', async () => {
    bench.chain.setTime(Date.now() + 3_600_000);
    bench.chain.close();
    expect(await prepared({}, alone({ stalledAfterSec: 60 }))).toBe('chain_ahead');
    expect(await prepared({}, alone())).toBe('answered');
  });

  it('waits while the fee that a server names is above the ceiling, and takes no less than the base fee', async () => {
    const named = (p90: unknown): StellarFaults => ({
      rewrite: (method, result) => (method === 'getFeeStats' ? { ...result, inclusionFee: { p90 } } : result),
    });
    lie(named('1000001'), 'both');
    expect(await prepared()).toBe('fee_above_maximum');
    lie(named('9'.repeat(18)), 'both');
    expect(await prepared()).toBe('fee_above_maximum');
    for (const odd of ['-1', '1e9', '9'.repeat(1_000_000), 7, null]) {
      lie(named(odd), 'both');
      expect(await prepared()).toBe('unsound_answer');
    }
    lie(named('0'), 'both');
    expect((await bench.adapter.prepare(intentOf(), new Map())).fee).toBe(100n);
  });

  it('uses a number once, with any number of payments held', async () => {
    const held = new Map();
    const numbers = new Set<string>();
    for (let count = 0; count < 7; count += 1) {
      const { payload, reserves, fee } = await bench.adapter.prepare(intentOf(), held);
      numbers.add(`${reserves[0]} ${sequenceOf(payload)}`);
      for (const each of reserves) held.set(each, { contract: null, amount: 5n * xlm, fee });
    }
    expect(numbers.size).toBe(7);
    expect(await codeOf(bench.adapter.prepare(intentOf(), held))).toBe('no_channel');
  });
});

describe('a token whose issuer does not exist', () => {
  it('keeps the wallet from no other set-up, and the check names it', async () => {
    const { chain, hot, network } = bench;
    chain.setData(hot, 'config.memo_required', Buffer.from('1'));
    const adapter = alone({ tokens: new Map([['GONE', chain.newKey().address], ...network.tokens]) });
    expect(await adapter.neededSetup()).toMatch(/^top_up:1:/);
    const problems = (await adapter.check()).flatMap((node) => node.problems);
    expect(problems).toContainEqual(expect.stringMatching(/^the issuer of GONE does not exist: is G[A-Z2-7]{55} /));
    expect(problems).not.toContainEqual(expect.stringContaining('does not trust GONE'));
  });
});

describe('questions', () => {
  const faults: readonly StellarFaults[] = [
    ...(['text', 'float', 'negative', 'huge'] as const).map((numbers): StellarFaults => ({ numbers })),
    ...(['odd', 'long'] as const).map((texts): StellarFaults => ({ texts })),
    ...(['odd', 'long'] as const).map((texts): StellarFaults => ({ texts, error: 'internal' })),
    ...(['huge', 'other', 'swapped', 'more', 'none'] as const).map((entries): StellarFaults => ({ entries })),
    ...(['half', 'empty', 'html', 429, 500, 503] as const).map((transport): StellarFaults => ({ transport })),
    { error: 'internal' },
    { rewrite: () => null },
    { rewrite: () => [] },
    { rewrite: () => ({}) },
    { rewrite: () => 'text' },
    { rewrite: (_, result) => Object.fromEntries(Object.keys(result).map((name) => [name, null])) },
    { rewrite: (_, result) => Object.fromEntries(Object.keys(result).map((name) => [name, nested()])) },
  ];
  const nested = (): unknown => JSON.parse('['.repeat(5_000) + ']'.repeat(5_000));

  it('are answered in 64 megabytes at most: what they hold would take 25 times as much memory', async () => {
    const long = 'A'.repeat(mostBytes);
    lie({ rewrite: (_, result) => ({ ...result, headerXdr: long }) });
    await expect(alone().head()).rejects.toThrow(`answered more than ${mostBytes} bytes`);
    expect(await bench.adapter.head()).toMatchObject({ height: bench.chain.head.seq });
  });

  it.each(faults)('are answered, or end as a ChainError that people can read: %p', async (fault) => {
    const tx = await sent();
    await bench.mine(1);
    const cursor = await bench.adapter.start(bench.chain.head.seq - 1);
    lie(fault, 'both');
    const { adapter } = bench;
    const asked: Promise<unknown>[] = [
      adapter.head(),
      adapter.start(5),
      adapter.scan(cursor, 5),
      adapter.balances([{ address: bench.hot, tag: null }], null),
      adapter.balances([{ address: bench.hot, tag: null }], bench.token),
      adapter.prepare(intentOf(), new Map()),
      adapter.prepare(intentOf({ contract: bench.token }), new Map()),
      adapter.neededSetup(),
      adapter.status(tx),
      adapter.spent(tx.txid),
    ];
    await Promise.all(asked.map(codeOf));
    expect(typeof (await adapter.broadcast(tx)).outcome).toBe('string');
    for (const { problems } of await adapter.check()) {
      for (const problem of problems) {
        expect(problem.length).toBeLessThan(600);
        expect(problem).toMatch(/^[\x20-\x7e]*$/);
      }
    }
  });
});
