import { randomUUID } from 'node:crypto';
import { Address, beginCell } from '@ton/core';
import {
  ChainError,
  type PaymentIntent,
  type ScanResult,
  type TxStatus,
} from '../../../src/chains/port/chain-adapter.ts';
import { addressOf, textOf } from '../../../src/chains/ton/ton-highload.ts';
import type { Comment } from '../../support/chains/ton-contracts.ts';
import { opcodes } from '../../support/chains/ton-contracts.ts';
import { type TonHarness, ton, tonHarness } from '../../support/chains/ton-harness.ts';
import type { TonUser } from '../../support/chains/ton-node/users.ts';

let chain: TonHarness;
let user: TonUser;

beforeEach(async () => {
  chain = await tonHarness();
  user = chain.chain.user(1_000n * ton);
  await chain.chain.settle();
  chain.chain.payTokens(chain.jetton, user.address, 1_000_000n);
  await chain.chain.settle();
});
afterEach(() => chain.stop());

const hot = () => addressOf(chain.hot);
const balance = () => chain.chain.balance(hot());

/** What a scan finds of what happens. */
async function found(happen: () => unknown, blocks = 3): Promise<ScanResult> {
  const { height } = await chain.adapter.head();
  const cursor = await chain.adapter.start(height);
  happen();
  await chain.chain.settle();
  await chain.mine(blocks);
  return chain.adapter.scan(cursor, 200);
}

const transfers = ({ blocks }: ScanResult) =>
  blocks
    .flatMap((block) => block.transfers)
    .map(({ address, tag, contract, amount, doubt }) => {
      expect([address, doubt]).toEqual([chain.hot, undefined]);
      return [contract === null ? 'TON' : contract === chain.token ? 'USDT' : contract, tag, amount];
    });

const costs = ({ blocks }: ScanResult) => blocks.reduce((sum, { receiveCost = 0n }) => sum + receiveCost, 0n);

function intent(changes: Partial<PaymentIntent> = {}): PaymentIntent {
  const to = textOf(chain.chain.newUser().address);
  return { id: randomUUID(), attempt: 1, from: null, contract: null, to, tag: null, amount: ton, ...changes };
}

async function sent(payment: PaymentIntent) {
  const tx = await chain.sign(payment, await chain.adapter.prepare(payment, new Map()));
  expect((await chain.adapter.broadcast(tx)).outcome).toBe('accepted');
  return tx;
}

/** Has the wallet pay once, so that its contract is deployed. */
async function deploy(): Promise<void> {
  await sent(intent());
  await chain.chain.settle();
}

function mined(status: TxStatus): Extract<TxStatus, { state: 'mined' }> {
  if (status.state !== 'mined') throw new Error(`it is ${status.state}`);
  return status;
}

describe('what comes to the wallet', () => {
  const [long, odd] = ['x'.repeat(600), 'Ärger 7'];
  test.each<[string, Comment, string | null]>([
    ['a comment', '4000000007', '4000000007'],
    ['a comment of another language', odd, odd],
    ['a comment with a space at its end', '4000000007 ', `text:${Buffer.from('4000000007 ').toString('hex')}`],
    ['a comment with a line break', '4000000007\n', `text:${Buffer.from('4000000007\n').toString('hex')}`],
    ['no comment', null, null],
    ['an empty comment', '', null],
    ['bytes that are no text', { binary: Uint8Array.of(0xff, 0xfe) }, 'text:fffe'],
    ['bytes that only the receiver can read', { encrypted: new Uint8Array(40) }, null],
    ['a comment over several cells', long, long.slice(0, 96)],
    ['another operation', { cell: beginCell().storeUint(7, 32).storeStringTail('4000000007').endCell() }, null],
    ['half a byte', { cell: beginCell().storeUint(0, 32).storeUint(1, 4).endCell() }, null],
  ])('with %s has that tag, for coins and for tokens', async (_what, comment, tag) => {
    const result = await found(() => {
      user.pay(hot(), 5n * ton, { comment });
      for (const isInline of typeof comment === 'string' && comment.length > 60 ? [false] : [false, true]) {
        user.payTokens(chain.jetton, hot(), isInline ? 70n : 50n, { comment, forward: 0n, isInline });
      }
    });
    const tokens = transfers(result).filter(([asset]) => asset === 'USDT');
    expect(transfers(result).filter(([asset]) => asset === 'TON')).toEqual([['TON', tag, 5n * ton]]);
    expect(tokens.map(([, told]) => told)).toEqual(tokens.map(() => tag));
    expect(tokens.map(([, , amount]) => amount).sort()).toEqual([50n, 70n].slice(0, tokens.length));
    expect(tokens.length).toBeGreaterThan(0);
  });

  test('costs what the chain takes, to the last unit, also when it is less than that', async () => {
    await deploy();
    const before = balance();
    const result = await found(() => {
      user.pay(hot(), 5n * ton, { comment: '7' });
      user.pay(hot(), 1n, { comment: '8' });
    });
    expect(transfers(result)).toEqual([
      ['TON', '7', 5n * ton],
      ['TON', '8', 1n],
    ]);
    expect(costs(result)).toBeGreaterThan(1n);
    expect(balance()).toBe(before + 5n * ton + 1n - costs(result));
  });

  test('counts before the wallet is deployed, although the chain shows it as aborted', async () => {
    const result = await found(() => user.pay(hot(), 5n * ton, { comment: '7' }));
    expect(chain.chain.head.executed).toEqual([]);
    expect(transfers(result)).toEqual([['TON', '7', 5n * ton]]);
  });

  test('is only coins without a tag when a stranger tells of tokens', async () => {
    const result = await found(() => {
      chain.chain.forgeNotification(hot(), 1_000_000n, '4000000007');
    });
    expect(transfers(result)).toEqual([['TON', null, 50_000_000n]]);
    expect(await chain.adapter.balances([{ address: chain.hot, tag: null }], chain.token)).toEqual([10n ** 15n]);
  });

  test('is coins without a tag when a stranger sends what looks like the rest of a payment', async () => {
    const body = beginCell().storeUint(opcodes.excesses, 32).storeUint(0, 64).endCell();
    expect(transfers(await found(() => user.pay(hot(), ton, { body })))).toEqual([['TON', null, ton]]);
  });

  test('is tokens once and the coins that were passed on, when the sender has the wallet told', async () => {
    const result = await found(() => user.payTokens(chain.jetton, hot(), 50n, { comment: '7', forward: 3n }));
    expect(transfers(result).sort()).toEqual([
      ['TON', null, 3n],
      ['USDT', '7', 50n],
    ]);
  });

  test('is coins without a tag when a stranger has the rest of a transfer sent to the wallet', async () => {
    await deploy();
    const before = balance();
    const result = await found(() =>
      user.payTokens(chain.jetton, hot(), 50n, { comment: '7', forward: 0n, response: hot(), value: ton }),
    );
    const [coins, tokens] = transfers(result).sort();
    expect(tokens).toEqual(['USDT', '7', 50n]);
    expect(coins?.slice(0, 2)).toEqual(['TON', null]);
    expect(coins?.[2]).toBeGreaterThan(900_000_000n);
    expect(balance()).toBe(before + (coins?.[2] as bigint) - costs(result));
  });

  test('is nothing for tokens that no file names', async () => {
    const other = await chain.chain.jetton('SCAM');
    const result = await found(() => chain.chain.payTokens(other, hot(), 50n, { comment: '7', forward: 0n }));
    expect(transfers(result)).toEqual([]);
  });

  test('is found once over all pages of a list', async () => {
    const { height } = await chain.adapter.head();
    let cursor = await chain.adapter.start(height);
    const amounts: bigint[] = [];
    for (let block = 0; block < 100; block += 1) {
      for (let one = 0; one < 6; one += 1) {
        amounts.push(BigInt(amounts.length + 1));
        chain.chain.pay(hot(), BigInt(amounts.length), { comment: '7' });
      }
      await chain.mine(1);
    }
    const told: unknown[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      const result = await chain.adapter.scan(cursor, 40);
      told.push(...transfers(result).map(([, , amount]) => amount));
      cursor = result.cursor;
    }
    expect(told).toEqual(amounts);
  });
});

describe('a payment', () => {
  test('of tokens books the rest that comes back as less fee, and as no deposit', async () => {
    await deploy();
    for (const to of [textOf(chain.chain.newUser().address), textOf(user.address)]) {
      const before = balance();
      let tx = null as Awaited<ReturnType<typeof sent>> | null;
      const { height } = await chain.adapter.head();
      tx = await sent(intent({ contract: chain.token, to, amount: 77n, tag: 'Anna' }));
      await chain.chain.settle();
      const status = mined(await chain.adapter.status(tx));
      expect(status).toMatchObject({ success: true, final: true });
      expect(status.fee).toBeLessThan(50_000_000n);
      expect(balance()).toBe(before - status.fee);
      expect(transfers(await chain.adapter.scan(await chain.adapter.start(height), 100))).toEqual([]);
    }
    expect(chain.jetton.balance(user.address)).toBe(1_000_077n);
  });

  test('of tokens that its recipient refuses fails, and everything is back', async () => {
    await deploy();
    chain.jetton.refuse(user.address);
    const [before, tokens] = [balance(), chain.jetton.balance(hot())];
    const { height } = await chain.adapter.head();
    const tx = await sent(intent({ contract: chain.token, to: textOf(user.address), amount: 77n }));
    await chain.chain.settle();
    const status = mined(await chain.adapter.status(tx));
    expect(status).toMatchObject({ success: false, final: true });
    expect([balance(), chain.jetton.balance(hot())]).toEqual([before - status.fee, tokens]);
    expect(await chain.adapter.spent(tx.txid)).toMatchObject({ amounts: [], fee: status.fee, final: true });
    expect(transfers(await chain.adapter.scan(await chain.adapter.start(height), 100))).toEqual([]);
  });

  test('of tokens that carries too little fails in our own jetton wallet, and the coins come back', async () => {
    await chain.stop();
    chain = await tonHarness({ jettonValue: 5_000_000n });
    await deploy();
    const [before, tokens] = [balance(), chain.jetton.balance(hot())];
    const { height } = await chain.adapter.head();
    const tx = await sent(intent({ contract: chain.token, amount: 77n }));
    await chain.chain.settle();
    const status = mined(await chain.adapter.status(tx));
    expect(status).toMatchObject({ success: false, final: true });
    expect([balance(), chain.jetton.balance(hot())]).toEqual([before - status.fee, tokens]);
    expect(transfers(await chain.adapter.scan(await chain.adapter.start(height), 100))).toEqual([]);
  });

  test('whose query id was used without a message that left has failed', async () => {
    await deploy();
    const most = balance() - 100_000_000n;
    const [one, other] = [intent({ amount: most }), intent({ amount: most })];
    const prepared = await Promise.all([one, other].map((each) => chain.adapter.prepare(each, new Map())));
    const first = await chain.sign(one, prepared[0] as (typeof prepared)[0]);
    await chain.adapter.broadcast(first);
    await chain.chain.settle();
    // The gateway would not build it now. Its bytes take the next query id.
    chain.signed.clear();
    for (const reserved of first.reserves) chain.signed.add(reserved);
    chain.chain.pay(hot(), most);
    await chain.chain.settle();
    const late = await chain.sign(other, await chain.adapter.prepare(other, new Map()));
    const drain = intent({ amount: most });
    const held = new Map(late.reserves.map((reserved) => [reserved, { contract: null, amount: 0n, fee: 0n }] as const));
    const drained = await chain.sign(drain, await chain.adapter.prepare(drain, held));
    await chain.adapter.broadcast(drained);
    await chain.chain.settle();
    const before = balance();
    expect((await chain.adapter.broadcast(late)).outcome).toBe('accepted');
    await chain.chain.settle();
    const status = mined(await chain.adapter.status(late));
    expect(status).toMatchObject({ success: false, final: true });
    expect(balance()).toBe(before - status.fee);
    expect(await chain.adapter.spent(late.txid)).toMatchObject({ amounts: [], fee: status.fee });
  });

  test('is final only once all that it sent has arrived', async () => {
    await deploy();
    chain.chain.hops = 'next';
    const before = balance();
    const tx = await sent(intent({ contract: chain.token, to: textOf(user.address), amount: 77n }));
    const finals: boolean[] = [];
    for (let block = 0; block < 6; block += 1) {
      await chain.mine(1);
      const status = mined(await chain.adapter.status(tx));
      finals.push(status.final);
      if (status.final) expect(balance()).toBe(before - status.fee);
    }
    expect(finals.slice(0, 3)).toEqual([false, false, false]);
    expect(finals.at(-1)).toBe(true);
  });

  test('that a server accepts and loses waits, and the same bytes pay', async () => {
    const payment = intent();
    const tx = await chain.sign(payment, await chain.adapter.prepare(payment, new Map()));
    for (const node of chain.nodes) node.faults = { send: { reaches: false } };
    expect((await chain.adapter.broadcast(tx)).outcome).toBe('accepted');
    await chain.mine(5);
    expect(await chain.adapter.status(tx)).toEqual({ state: 'waiting', until: tx.expiresAt });
    for (const node of chain.nodes) node.faults = {};
    await chain.adapter.broadcast(tx);
    await chain.mine(1);
    expect(mined(await chain.adapter.status(tx))).toMatchObject({ success: true, final: true });
  });

  test('in another envelope is found by its order in the history of the wallet', async () => {
    await deploy();
    const tx = await sent(intent());
    await chain.chain.settle();
    const { timeMs } = tx.expiresAt as { timeMs: number };
    for (const node of chain.nodes) node.faults = { forgets: [Buffer.from(tx.txid, 'hex').toString('base64')] };
    chain.chain.setTime(timeMs + 120_000);
    await chain.mine(1);
    expect(mined(await chain.adapter.status(tx))).toMatchObject({ success: true, final: true });
  });

  test('dies when its time is over, by one server alone a minute later', async () => {
    await chain.stop();
    chain = await tonHarness();
    const { network, nodes } = chain;
    const { TonAdapter } = await import('../../../src/chains/ton/ton-adapter.ts');
    const lone = new TonAdapter({
      network: { ...network, nodes: [nodes[0].config] },
      ...{ hotWallet: chain.hot, fundingTag: null, lastQuery: async () => -1 },
    });
    const payment = intent();
    const tx = await chain.sign(payment, await lone.prepare(payment, new Map()));
    const { timeMs } = tx.expiresAt as { timeMs: number };
    const at = async (ms: number): Promise<TxStatus> => {
      chain.chain.setTime(ms);
      await chain.mine(1);
      return lone.status(tx);
    };
    expect(await at(timeMs - 1_000)).toEqual({ state: 'waiting', until: { timeMs } });
    expect(await at(timeMs)).toEqual({ state: 'dead', why: 'expired', final: false });
    expect(await at(timeMs + 59_000)).toEqual({ state: 'dead', why: 'expired', final: false });
    expect(await at(timeMs + 60_000)).toEqual({ state: 'dead', why: 'expired', final: true });
  });

  const codeOf = async (payment: PaymentIntent): Promise<string> =>
    chain.adapter.prepare(payment, new Map()).then(
      () => 'built',
      (error: unknown) => {
        if (error instanceof ChainError) return error.code;
        throw error;
      },
    );

  test('is refused before it is signed where it cannot arrive', async () => {
    expect(await codeOf(intent({ to: chain.hot }))).toBe('would_fail');
    expect(await codeOf(intent({ to: chain.token ?? '' }))).toBe('would_fail');
    expect(await codeOf(intent({ to: textOf(chain.jetton.walletOf(hot())) }))).toBe('would_fail');
    expect(await codeOf(intent({ contract: textOf(user.address) }))).toBe('token_not_listed');
    expect(await codeOf(intent({ tag: 'x'.repeat(121) }))).toBe('would_fail');
    const onMasterchain = textOf(Address.parse(`-1:${'ab'.repeat(32)}`));
    expect(await codeOf(intent({ to: onMasterchain, contract: chain.token, amount: 7n }))).toBe('would_fail');
    expect(await codeOf(intent({ to: onMasterchain, tag: 'x'.repeat(120) }))).toBe('built');
    expect(await codeOf(intent({ amount: balance() }))).toBe('insufficient_funds');
    expect(await codeOf(intent({ contract: chain.token, amount: 10n ** 15n + 1n }))).toBe('insufficient_funds');
    expect(await codeOf(intent({ from: [chain.hot] }))).toBe('bad_sweep');
    expect(await codeOf(intent({ setup: 'tickets:1' }))).toBe('bad_setup');
    expect(await codeOf(intent())).toBe('built');
  });

  test('takes a query id that the chain does not know, after a database was restored', async () => {
    await deploy();
    await deploy();
    chain.signed.clear();
    const { reserves } = await chain.adapter.prepare(intent(), new Map());
    expect(reserves).toEqual(['query:2']);
  });
});
