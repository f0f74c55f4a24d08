import { randomUUID } from 'node:crypto';
import { ChainError, type Cursor, type PaymentIntent, type SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import { addressOf, textOf } from '../../../src/chains/ton/ton-highload.ts';
import type { TonNetwork } from '../../../src/chains/ton/ton-section.ts';
import { type TonHarness, ton, tonHarness } from '../../support/chains/ton-harness.ts';
import type { TonFaults, TransactionFault } from '../../support/chains/ton-node/faults.ts';

let chain: TonHarness;

async function begin(changes: Partial<TonNetwork> = {}): Promise<void> {
  chain = await tonHarness(changes);
}
afterEach(() => chain.stop());

function lie(faults: TonFaults, ...others: TonFaults[]): void {
  chain.nodes[0].faults = faults;
  chain.nodes[1].faults = others[0] ?? faults;
}

const hot = () => addressOf(chain.hot);

function intent(changes: Partial<PaymentIntent> = {}): PaymentIntent {
  const to = textOf(chain.chain.newUser().address);
  return { id: randomUUID(), attempt: 1, from: null, contract: null, to, tag: null, amount: ton, ...changes };
}

async function paid(): Promise<SignedTx> {
  const payment = intent();
  const tx = await chain.sign(payment, await chain.adapter.prepare(payment, new Map()));
  await chain.adapter.broadcast(tx);
  await chain.chain.settle();
  return tx;
}

const hash64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

/** A cursor, and three deposits above it. */
async function deposits(): Promise<Cursor> {
  const cursor = await chain.adapter.start((await chain.adapter.head()).height);
  for (const amount of [1n, 2n, 3n]) {
    chain.chain.pay(hot(), amount * ton, { comment: '7' });
    await chain.mine(2);
  }
  return cursor;
}

/** The amounts that a scan finds, or the code of its fault. */
async function scanned(cursor: Cursor): Promise<readonly bigint[] | string> {
  try {
    const { blocks } = await chain.adapter.scan(cursor, 50);
    return blocks.flatMap(({ transfers }) => transfers.map(({ amount }) => amount / ton));
  } catch (error) {
    if (error instanceof ChainError) return error.code;
    throw error;
  }
}

const all = [1n, 2n, 3n];

describe('deposits', () => {
  beforeEach(() => begin());

  const isDeposit = (amount: bigint) => (one: { tx: { inMessage?: unknown } }) => {
    const info = (one.tx.inMessage as { info?: { value?: { coins?: bigint } } } | undefined)?.info;
    return info?.value?.coins === amount * ton;
  };

  test.each([1n, 2n, 3n])('are never skipped when both servers leave out number %d', async (amount) => {
    const cursor = await deposits();
    lie({ lacks: isDeposit(amount) });
    expect(await scanned(cursor)).toBe('history_gap');
    lie({ lacks: isDeposit(amount) }, {});
    expect(await scanned(cursor)).toEqual(all);
    lie({});
    expect(await scanned(cursor)).toEqual(all);
  });

  test('are never skipped by a list that ends below the head', async () => {
    const cursor = await deposits();
    for (const behind of [1, 2, 3, 5]) {
      lie({ behind });
      expect(['history_gap', '1,2,3']).toContain(String(await scanned(cursor)));
    }
  });

  test.each<[string, TonFaults]>([
    ['each twice', { list: 'twice' }],
    ['in another order', { list: 'unsorted' }],
    ['with one of another account', { list: 'foreign' }],
    ['without an end', { list: 'endless' }],
    ['without a message', { transaction: 'no_in_msg' }],
    ...(['hash', 'prev', 'lt', 'account', 'future', 'destination', 'body', 'body_hash'] as const).map(
      (fault): [string, TonFaults] => [`with a false ${fault}`, { transaction: fault satisfies TransactionFault }],
    ),
  ])('in a list %s are a fault, or are left for later', async (_what, faults) => {
    const cursor = await deposits();
    lie(faults);
    const told = await scanned(cursor);
    expect(Array.isArray(told) ? told : []).toEqual([]);
    lie(faults, {});
    const again = await scanned(cursor);
    expect(typeof again === 'string' || again.length === 0 || again.length === 3).toBe(true);
    lie({});
    expect(await scanned(cursor)).toEqual(all);
  });

  test.each<[string, TonFaults]>([
    ['numbers are fractions', { numbers: 'float' }],
    ['numbers are below 0', { numbers: 'negative' }],
    ['numbers are far too large', { numbers: 'huge' }],
    ['an error comes instead', { error: 500 }],
    ['it is too busy', { error: 429 }],
    [
      'its network is another',
      { rewrite: (method, result) => (method === 'masterchainInfo' ? other(result) : result) },
    ],
    ['a block is missing', { gap: [1_004, 1_030] }],
    ['its blocks begin later', { oldest: 1_008 }],
    ['nothing is an object', { rewrite: () => [] }],
    ['all is empty', { rewrite: () => ({}) }],
  ])('are never made up or lost where %s', async (_what, faults) => {
    const cursor = await deposits();
    lie(faults);
    expect(typeof (await scanned(cursor))).toBe('string');
    lie(faults, {});
    expect(await scanned(cursor)).toEqual(all);
  });

  const other = (result: object): object => {
    const { last } = result as { last: object };
    return { ...result, last: { ...last, global_id: -3 } };
  };

  test.each<[string, TonFaults]>([
    ['texts have control characters and markup', { texts: 'odd' }],
    ['texts are a million characters long', { texts: 'long' }],
    ['numbers are texts, and texts numbers', { numbers: 'text' }],
  ])('are the same, or a fault, where %s', async (_what, faults) => {
    const cursor = await deposits();
    lie(faults);
    expect(['unsound_answer', 'no_index', all]).toContainEqual(await scanned(cursor));
    lie(faults, {});
    expect(await scanned(cursor)).toEqual(all);
  });

  test('that are shown late, in a block that was read before, are a fault', async () => {
    const cursor = await deposits();
    const { cursor: next } = await chain.adapter.scan(cursor, 50);
    chain.chain.pay(hot(), 4n * ton);
    await chain.mine(1);
    lie({ transaction: 'seqno' });
    expect(await scanned(next)).toBe('late_transaction');
    lie({});
    expect(await scanned(next)).toEqual([4n]);
  });
});

describe('a deposit that one server makes up', () => {
  test.each<[TransactionFault]>([
    ['value'],
    ['source'],
    ['bounced'],
  ])('counts above the limit of one server only when a second one tells the same: %s', async (transaction) => {
    await begin({ twoNodesAbove: new Map([['', 1n]]) });
    const cursor = await deposits();
    lie({ transaction }, {});
    const told = await scanned(cursor);
    expect(transaction === 'bounced' ? [[], 'nodes_disagree'] : ['nodes_disagree', all]).toContainEqual(told);
    lie({});
    expect(await scanned(cursor)).toEqual(all);
  });
});

describe('a payment that was made', () => {
  let tx: SignedTx;
  const until = () => (tx.expiresAt as { timeMs: number }).timeMs;
  beforeEach(async () => {
    await begin();
    tx = await paid();
  });

  async function later(): Promise<void> {
    chain.chain.setTime(until() + 120_000);
    await chain.mine(3);
  }

  const isOurs = (one: { externalHash: string | null }): boolean => one.externalHash !== null;
  const hides = (): TonFaults => ({ forgets: [hash64(tx.txid), sentHash()], lacks: isOurs as never });
  const sentHash = (): string =>
    chain.chain.blocks.flatMap(({ executed }) => executed).findLast(isOurs)?.externalHash ?? '';

  async function statusOf(): Promise<string> {
    const status = await chain.adapter.status(tx).catch((error: unknown) => {
      if (error instanceof ChainError) return { state: error.code };
      throw error;
    });
    return 'final' in status ? `${status.state}${status.final ? ', final' : ''}` : status.state;
  }

  test.each<[string, () => TonFaults]>([
    ['does not find its message', () => ({ forgets: [hash64(tx.txid), sentHash()] })],
    ['leaves it out of every list', hides],
    ['has an old head', () => ({ lag: 5 })],
    ['is stuck', () => ({ stuckAt: 1_003 })],
    ['is of another chain', () => ({ fork: true })],
    ['answers nothing', () => ({ error: 503 })],
    ['lists up to another block', () => ({ behind: 4 })],
  ])('is never dead where a server %s, nor where both do', async (_what, faults) => {
    for (const both of [false, true]) {
      lie(faults(), both ? faults() : {});
      expect(await statusOf()).not.toMatch(/^dead/);
    }
    await later();
    for (const both of [false, true]) {
      lie(faults(), both ? faults() : {});
      expect(await statusOf()).not.toMatch(/^dead/);
    }
    lie({});
    expect(await statusOf()).toBe('mined, final');
  });

  test('gets no further attempt, although servers hide it', async () => {
    const payment = intent();
    const first = await chain.adapter.prepare(payment, new Map());
    const signed = await chain.sign(payment, first);
    await chain.adapter.broadcast(signed);
    await chain.chain.settle();
    tx = signed;
    await later();
    lie(hides(), {});
    const earlier = [{ ...first, why: 'expired' as const }];
    await expect(chain.adapter.prepare({ ...payment, attempt: 2 }, new Map(), earlier)).rejects.toThrow(ChainError);
    lie(hides());
    await expect(chain.adapter.prepare({ ...payment, attempt: 2 }, new Map(), earlier)).rejects.toThrow(ChainError);
  });

  test('is not final before a second server tells the same', async () => {
    lie({}, { error: 503 });
    expect(await statusOf()).toBe('mined');
    lie({}, { forgets: [hash64(tx.txid), sentHash()] });
    expect(await statusOf()).toBe('mined');
    lie({});
    expect(await statusOf()).toBe('mined, final');
  });

  test('is not called final by a false answer to a broadcast', async () => {
    const payment = intent();
    const unsent = await chain.sign(payment, await chain.adapter.prepare(payment, new Map()));
    for (const send of [{ reaches: false }, { status: 500, error: 'exitcode=36', reaches: false }]) {
      lie({ send });
      await chain.adapter.broadcast(unsent);
      expect(await chain.adapter.status(unsent)).toMatchObject({ state: 'waiting' });
    }
  });
});

describe('a jetton wallet that a server makes up', () => {
  test('is refused when it is not made of its code, the wallet and the jetton', async () => {
    await begin();
    const cursor = await deposits();
    const thief = chain.chain.user(ton);
    await chain.chain.settle();
    chain.chain.payTokens(chain.jetton, thief.address, 5n);
    await chain.chain.settle();
    const theirs = chain.jetton.walletOf(thief.address);
    const { beginCell } = await import('@ton/core');
    const value = beginCell().storeAddress(theirs).endCell().toBoc().toString('base64');
    const faults: TonFaults = {
      rewrite: (method, result) =>
        method === 'runGetMethod' && Array.isArray(result.stack) && result.stack.length === 1
          ? { ...result, stack: [{ type: 'slice', value }] }
          : result,
    };
    // A new adapter, which has asked for no address yet.
    const { TonAdapter } = await import('../../../src/chains/ton/ton-adapter.ts');
    const { network } = chain;
    const fresh = new TonAdapter({ network, hotWallet: chain.hot, fundingTag: null, lastQuery: async () => -1 });
    lie(faults);
    await expect(fresh.scan(cursor, 10)).rejects.toMatchObject({ code: 'wrong_jetton' });
    lie({});
    expect((await fresh.scan(cursor, 10)).blocks.length).toBeGreaterThan(3);
  });
});
