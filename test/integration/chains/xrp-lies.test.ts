import { randomUUID } from 'node:crypto';
import type { PaymentIntent, SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import { XrpAdapter } from '../../../src/chains/xrp/xrp-adapter.ts';
import { fundingTag, type XrpHarness, xrpHarness, xrpNetwork } from '../../support/chains/xrp-harness.ts';
import type { XrpFaults } from '../../support/chains/xrp-node/faults.ts';
import { accountFlags } from '../../support/chains/xrp-node/state.ts';

let bench: XrpHarness;
beforeEach(async () => {
  bench = await xrpHarness();
});
afterEach(() => bench.stop());

const intentOf = (changes: Partial<PaymentIntent> = {}): PaymentIntent => ({
  ...{ id: randomUUID(), attempt: 1, from: null, contract: null, to: bench.address(), tag: null },
  amount: 5_000_000n,
  ...changes,
});

async function sent(): Promise<SignedTx> {
  const { adapter } = bench;
  const payment = intentOf();
  const tx = await bench.sign(payment, await adapter.prepare(payment, new Map()));
  expect((await adapter.broadcast(tx)).outcome).toBe('accepted');
  return tx;
}

/** An adapter with one server, which nothing contradicts. */
const alone = (): XrpAdapter =>
  new XrpAdapter({ network: xrpNetwork([bench.nodes[0].config]), hotWallet: bench.hot, fundingTag });

describe('a payment in a ledger', () => {
  let tx: SignedTx;
  beforeEach(async () => {
    tx = await sent();
    await bench.mine(80);
  });
  afterEach(async () => {
    for (const node of bench.nodes) node.faults = {};
    expect(await bench.adapter.status(tx)).toMatchObject({ state: 'mined', success: true, final: true });
  });

  it.each([0, 1])('that server %i hides is dead for no one, and not final', async (index) => {
    for (const node of bench.nodes) node.faults = {};
    const node = bench.nodes[index];
    if (node) node.faults = { forgets: [tx.txid], searchedAll: true };
    const status = await bench.adapter.status(tx);
    expect(status).toMatchObject({ final: false });
  });

  const unsure: readonly (readonly [string, XrpFaults])[] = [
    ['did not search all ledgers', { searchedAll: false }],
    ['lacks a ledger', { gap: [90_000_010, 90_000_020] }],
    ['lacks old ledgers', { prunesBelow: 90_000_040 }],
    ['states no ledgers', { completeLedgers: 'empty' }],
  ];
  it.each(unsure)('that a lone server forgot, which %s, is not dead', async (_name, fault) => {
    const [node] = bench.nodes;
    node.faults = { ...fault, forgets: [tx.txid] };
    await expect(alone().status(tx)).rejects.toMatchObject({ code: 'no_index' });
  });

  it('that a lone server hides is dead: nothing but its word tells', async () => {
    const [node] = bench.nodes;
    node.faults = { forgets: [tx.txid], searchedAll: true };
    expect(await alone().status(tx)).toMatchObject({ state: 'dead', final: true });
    // A further attempt cannot use the same ticket, which is used.
    node.faults = {};
    expect(await alone().status(tx)).toMatchObject({ state: 'mined' });
  });

  it('whose delivered amount one server tells otherwise is not final', async () => {
    const [one] = bench.nodes;
    one.faults = { delivered: 'more' };
    expect(await bench.adapter.status(tx)).toMatchObject({ state: 'mined', final: false });
  });

  it('waits for the second server while that one is away', async () => {
    const [, other] = bench.nodes;
    other.faults = { transport: 503 };
    expect(await bench.adapter.status(tx)).toMatchObject({ state: 'mined', success: true, final: false });
  });
});

describe('a payment in no ledger', () => {
  it('is dead once its last ledger is validated, and not one ledger before', async () => {
    for (const node of bench.nodes) node.faults = { submit: { result: 'tesSUCCESS', reaches: false } };
    const tx = await sent();
    const last = tx.expiresAt !== null && 'height' in tx.expiresAt ? tx.expiresAt.height : 0;
    while (bench.chain.head.header.ledger_index < last - 1) bench.chain.close();
    expect(await bench.adapter.status(tx)).toEqual({ state: 'waiting', until: { height: last } });
    bench.chain.close();
    expect(await bench.adapter.status(tx)).toEqual({ state: 'dead', why: 'expired', final: true });
  });

  it('is not dead for good while one server is behind its last ledger', async () => {
    for (const node of bench.nodes) node.faults = { submit: { result: 'tesSUCCESS', reaches: false } };
    const tx = await sent();
    await bench.mine(80);
    const [, other] = bench.nodes;
    other.faults = { lag: 10 };
    expect(await bench.adapter.status(tx)).toEqual({ state: 'dead', why: 'expired', final: false });
  });

  it('is not dead for good because one server says that its ticket is used', async () => {
    for (const node of bench.nodes) node.faults = { submit: { result: 'tesSUCCESS', reaches: false } };
    const tx = await sent();
    await bench.mine(2);
    const [one] = bench.nodes;
    one.faults = {
      rewrite: (method, result) => (method === 'account_objects' ? { ...result, account_objects: [] } : result),
    };
    expect(await bench.adapter.status(tx)).toMatchObject({ final: false });
  });

  it('that a server shows as waiting after its last ledger is dead all the same', async () => {
    const tx = await sent();
    bench.chain.hold(tx.txid);
    await bench.mine(80);
    expect(await bench.adapter.status(tx)).toEqual({ state: 'dead', why: 'expired', final: true });
  });
});

describe('scans', () => {
  const faults: readonly (readonly [string, XrpFaults])[] = [
    ['whose hash is another', { ledger: 'hash' }],
    ['whose parent is another', { ledger: 'parent' }],
    ['whose root is another', { ledger: 'root' }],
    ['whose time is another', { ledger: 'time' }],
    ['that hold a transaction twice', { ledger: 'repeat' }],
    ['that are not validated', { validated: false }],
    ['without a word about validation', { validated: 'missing' }],
    ['with amounts below 0', { delivered: 'negative' }],
    ['with amounts beyond all coins', { huge: true }],
    ['of another network', { networkId: 21_337 }],
    ['without a network', { networkId: null }],
    ['that are cut off', { transport: 'half' }],
  ];
  it.each(faults)('take nothing from ledgers %s: the next server is asked', async (_name, fault) => {
    const cursor = await bench.adapter.start(bench.chain.head.header.ledger_index);
    await bench.pay(bench.hot, '7', null, 9_000_000n);
    await bench.mine(2);
    const [one, other] = bench.nodes;
    one.faults = { ...fault };
    const found = await bench.adapter.scan(cursor, 20);
    expect(found.blocks.flatMap(({ transfers }) => transfers)).toMatchObject([
      { address: bench.hot, tag: '7', amount: 9_000_000n },
    ]);
    other.faults = { ...fault };
    await expect(bench.adapter.scan(cursor, 20)).rejects.toMatchObject({ name: 'ChainError' });
  });

  it('credit nothing for sure where the delivered amount is not that of the balance', async () => {
    const cursor = await bench.adapter.start(bench.chain.head.header.ledger_index);
    await bench.pay(bench.hot, '7', null, 9_000_000n);
    await bench.mine(1);
    for (const node of bench.nodes) node.faults = { delivered: 'more' };
    const { blocks } = await bench.adapter.scan(cursor, 20);
    expect(blocks.flatMap(({ transfers }) => transfers)).toMatchObject([
      { tag: '7', amount: 9_000_000n, doubt: 'unusual_kind' },
    ]);
  });
});

describe('a refusal that ends a payment', () => {
  const saysTagRequired: XrpFaults = {
    rewrite: (method, result) => {
      const data = result.account_data as { Account: string; Flags: number } | undefined;
      if (method !== 'account_info' || data === undefined || data.Account === bench.hot) return result;
      return { ...result, account_data: { ...data, Flags: data.Flags | accountFlags.requireDest } };
    },
  };
  const saysLargeReserve: XrpFaults = {
    rewrite: (method, result) => {
      if (method !== 'server_state') return result;
      const state = result.state as { validated_ledger: object };
      const ledger = { ...state.validated_ledger, reserve_base: 50_000_000n };
      return { ...result, state: { ...state, validated_ledger: ledger } };
    },
  };
  const away: XrpFaults = { transport: 503 };
  const lies: readonly (readonly [code: string, XrpFaults, exists: boolean])[] = [
    ['would_fail', saysTagRequired, true],
    ['below_least_amount', saysLargeReserve, false],
  ];

  it.each(lies)('%s needs the word of two servers', async (code, lie, exists) => {
    const { nodes, chain } = bench;
    const to = exists ? chain.newAccount().address : bench.address();
    const refusal = (adapter: XrpAdapter): Promise<unknown> =>
      adapter.prepare(intentOf({ to }), new Map()).then(
        () => 'prepared',
        (error: { code: string; isOfChain: boolean }) => [error.code, error.isOfChain],
      );
    const [one, other] = nodes;
    expect(await refusal(bench.adapter)).toBe('prepared');
    one.faults = lie;
    expect(await refusal(bench.adapter)).toEqual(['unconfirmed_refusal', true]);
    other.faults = away;
    expect(await refusal(bench.adapter)).toEqual(['unconfirmed_refusal', true]);
    // Nothing contradicts a lone server.
    expect(await refusal(alone())).toEqual([code, true]);
    for (const node of nodes) node.faults = lie;
    expect(await refusal(bench.adapter)).toEqual([code, true]);
    one.faults = {};
    expect(await refusal(bench.adapter)).toBe('prepared');
  });
});

describe('the preparation of payments', () => {
  it('refuses what the ledger would refuse, by its code', async () => {
    const { chain, adapter, hot } = bench;
    Object.assign(chain.fees, { reserveBase: 1_000_000n, reserveInc: 200_000n });
    const refusal = (changes: Partial<PaymentIntent>): Promise<string> =>
      adapter.prepare(intentOf(changes), new Map()).then(
        () => 'prepared',
        ({ code }: { code: string }) => code,
      );
    const tagged = chain.newAccount().address;
    chain.setAccount(tagged, { flags: accountFlags.requireDest });
    const choosy = chain.newAccount().address;
    chain.setAccount(choosy, { flags: accountFlags.depositAuth });
    const pool = chain.newAccount().address;
    chain.setAccount(pool, { isPseudo: true });
    expect(await refusal({ amount: 999_999n })).toBe('below_least_amount');
    expect(await refusal({ amount: 1_000_000n })).toBe('prepared');
    expect(await refusal({ to: tagged })).toBe('would_fail');
    expect(await refusal({ to: tagged, tag: '0' })).toBe('prepared');
    expect(await refusal({ to: choosy })).toBe('would_fail');
    chain.setAccount(choosy, { preauthorized: [hot] });
    expect(await refusal({ to: choosy })).toBe('prepared');
    expect(await refusal({ to: pool })).toBe('would_fail');
    expect(await refusal({ to: hot })).toBe('would_fail');
    expect(await refusal({ tag: '4294967296' })).toBe('would_fail');
    expect(await refusal({ contract: tagged })).toBe('no_tokens');
    expect(await refusal({ from: [tagged] })).toBe('bad_sweep');
    expect(await refusal({ amount: 10n ** 12n })).toBe('insufficient_funds');
    chain.openFee = 1_001n;
    expect(await refusal({})).toBe('fee_above_maximum');
    chain.openFee = 1_000n;
    expect(await refusal({})).toBe('prepared');
    chain.setAccount(hot, { flags: accountFlags.disableMaster });
    expect(await refusal({})).toBe('permission_changed');
  });

  it('keeps the reserve of the account and of its tickets', async () => {
    const { chain, adapter, hot } = bench;
    Object.assign(chain.fees, { reserveBase: 1_000_000n, reserveInc: 200_000n });
    const free = chain.balance(hot) - 1_000_000n - 60n * 200_000n;
    await expect(adapter.prepare(intentOf({ amount: free - 9n }), new Map())).rejects.toMatchObject({
      code: 'insufficient_funds',
    });
    const { fee } = await adapter.prepare(intentOf({ amount: free - 10n }), new Map());
    expect(fee).toBe(10n);
  });
});
