import { randomBytes } from 'node:crypto';
import { evmTraits } from '../../../src/chains/evm/evm-traits.ts';
import { type ChainAdapter, ChainError } from '../../../src/chains/port/chain-adapter.ts';
import { utxoTraits } from '../../../src/chains/utxo/utxo-traits.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import { showDeadPayment } from '../../../src/settlement/pay/dead-payments.ts';
import { Sweeper } from '../../../src/settlement/pay/sweeper.ts';
import { Payment } from '../../../src/settlement/rows/payment.entity.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

let gateway: SettledGateway;

beforeEach(async () => {
  gateway = await startSettledGateway();
});

afterEach(() => gateway.stop());

/**
 * Credited deposits on addresses of ours, each a separate output, worth this many smallest units.
 */
async function depositOutputs(count: number, units = 100_000_000): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, index) => `${randomBytes(32).toString('hex')}:${index}`);
  await gateway.query(
    `insert into own_output (chain, key, address, amount, index, height, block_hash)
     select 'litecoin', key, 'an address', $2, 1, 1, 'a block' from unnest($1::text[]) as key`,
    [keys, units],
  );
  await depositCoins('litecoin', 'LTC', units / 1e8, keys);
  return keys;
}

/** Credited deposits of a coin, on an address each, which is named as the deposit is. */
async function depositCoins(chain: string, coin: string, amount: number, keys: readonly string[]): Promise<void> {
  await gateway.query(
    `insert into deposit (id, chain, key, txid, address, coin, network, amount, state, height, block_hash,
                          confirmations_required, seen_at, arrived_by, mined_at, credited_at, credits)
     select gen_random_uuid(), $2, key, split_part(key, ':', 1), key, $3, $3, $4, 'credited', 1,
            'a block', 1, now(), now(), now(), now(), 1 from unnest($1::text[]) as key`,
    [keys, chain, coin, amount],
  );
}

/** A credited deposit of this many outputs of one transaction, a coin each. Returns their keys. */
async function depositOfOutputs(count: number): Promise<string[]> {
  const txid = randomBytes(32).toString('hex');
  const keys = Array.from({ length: count }, (_, index) => `${txid}:${index}`);
  await depositCoins('litecoin', 'LTC', count, keys.slice(0, 1));
  await gateway.query(
    `with output as (select unnest($1::text[]) as key), stored as (
       insert into own_output (chain, key, address, amount, index, height, block_hash)
       select 'litecoin', key, 'an address', 100000000, 1, 1, 'a block' from output)
     insert into deposit_part (chain, key, address, amount, height, deposit_id)
     select 'litecoin', key, 'an address', 1, 1, (select id from deposit where key = $2) from output`,
    [keys, keys[0]],
  );
  return keys;
}

interface Turns {
  readonly chain: string;
  readonly coin: string;
  readonly least: string;
  /** What the chain says. */
  readonly says: Partial<ChainAdapter>;
}

/** Turns of a sweeper of a chain that says what the test says. */
async function turnsOf({
  chain,
  coin,
  least,
  says,
}: Turns): Promise<(hasTime?: () => boolean) => Promise<'more' | undefined>> {
  await gateway.tick();
  const [lease] = await gateway.query<{ chain: string; fence: string }>(
    'select chain, fence::text as fence from chain_state where chain = $1',
    [chain],
  );
  if (!lease) throw new Error(`no worker holds ${chain}`);
  const hot = await gateway.settlement.adapters.get(chain)?.hotWallet();
  const adapter = { chain, finalityDepth: 1, hotWallet: async () => hot, ...says } as ChainAdapter;
  const { orm, catalogue } = gateway.app;
  const sweepFrom = new Map([[chain, new Map([[coin, least]])]]);
  const transfers = { compare: async () => false };
  const sweeper = new Sweeper({ orm, catalogue, clock: gateway.clock, transfers, sweepFrom });
  return (hasTime = () => true) => sweeper.run(adapter, lease, hasTime);
}

/** The sources of the sweeps that were decided, in their order. */
async function swept(): Promise<string[][]> {
  const rows = await gateway.query<{ sources: string[] }>(
    `select sources from payment where kind = 'sweep' order by number`,
  );
  return rows.map(({ sources }) => sources);
}

/** As the payment worker ends a sweep that its chain refuses, or that died on its chain. */
async function endSweeps(problem: 'stale_outputs' | 'conflict'): Promise<void> {
  const now = gateway.clock.now();
  await gateway.app.orm.em.fork().transactional(async (em) => {
    for (const payment of await em.find(Payment, { kind: 'sweep', state: 'ready' })) {
      Object.assign(payment, { state: 'dead', problem, problemSince: now, endedAt: now, nextActionAt: null });
      await showDeadPayment(em, payment, null);
    }
  });
}

/** The sources that cannot be swept, with their tries and the seconds until the next one. */
function refusals(): Promise<{ source: string; problem: string; tries: number; pause: number }[]> {
  return gateway.query(
    `select source, problem, tries, round(extract(epoch from again_at - $1))::int as pause
       from sweep_refusal order by source, contract`,
    [gateway.clock.now()],
  );
}

/** What staff see of coins that cannot be swept. */
async function sweepItems(): Promise<string[]> {
  const items = await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now());
  return items.filter(({ kind }) => kind === 'sweep_refused').map(({ detail }) => detail);
}

describe('sweeps of a chain of outputs', () => {
  const litecoin = { chain: 'litecoin', coin: 'LTC', least: '1' };

  it('sweep many deposits completely, some at a time', async () => {
    await depositOutputs(150);
    const turn = await turnsOf({ ...litecoin, says: { traits: utxoTraits } });
    for (let turns = 0; turns < 10; turns += 1) await turn();
    const [all] = await gateway.query<{ amount: string; outputs: number; deposits: number }>(
      `select trim_scale(sum(amount))::text as amount, sum(cardinality(sources))::int as outputs,
              (select count(*)::int from deposit where swept_by is not null) as deposits
         from payment where kind = 'sweep'`,
    );
    expect(all).toEqual({ amount: '150', outputs: 150, deposits: 150 });
  });

  it('sweep a deposit of many outputs completely, some at a time', async () => {
    const keys = await depositOfOutputs(70);
    const turn = await turnsOf({ ...litecoin, says: { traits: utxoTraits } });
    const swept: (number | undefined)[] = [];
    for (let turns = 0; turns < 5; turns += 1) {
      await turn();
      const [row] = await gateway.query<{ count: number }>(
        'select count(*)::int as count from deposit where swept_by is not null',
      );
      swept.push(row?.count);
    }
    const sources = await gateway.query<{ key: string }>(
      `select unnest(sources) as key from payment where kind = 'sweep' order by key`,
    );
    expect(sources.map(({ key }) => key)).toEqual([...keys].sort());
    // The deposit is swept with the last of its outputs.
    expect(swept).toEqual([0, 0, 1, 1, 1]);
  });

  it('take what a dead sweep left of a deposit whose last outputs another one took', async () => {
    const keys = await depositOfOutputs(40);
    const turn = await turnsOf({ ...litecoin, says: { traits: utxoTraits } });
    await turn();
    await turn();
    const em = gateway.app.orm.em.fork();
    const first = await em.findOneOrFail(Payment, { kind: 'sweep' }, { orderBy: { number: 'asc' } });
    await gateway.query(
      `update payment set state = 'dead', problem = 'conflict', problem_since = now(), ended_at = now(),
              next_action_at = null where id = $1`,
      [first.id],
    );
    await showDeadPayment(em, first, null);
    await turn();
    const sources = await swept();
    expect(sources.map(({ length }) => length)).toEqual([32, 8, 32]);
    expect(sources.slice(1).flat().sort()).toEqual([...keys].sort());
  });

  it('leave outputs where they are that are not worth twice what they add to the fee', async () => {
    const kept = [...(await depositOutputs(2)), ...(await depositOutputs(1, 2_000))];
    await depositOutputs(3, 1_999);
    const turn = await turnsOf({
      ...litecoin,
      says: { traits: utxoTraits, sweepCost: async () => ({ fee: 6_000n, perSource: 1_000n, lacking: 0n }) },
    });
    for (let turns = 0; turns < 3; turns += 1) await turn();
    expect(await swept()).toEqual([kept.sort()]);
  });

  it('wait while they bring less than they cost, or fees are above the maximum', async () => {
    await depositOutputs(2);
    let fee = 100_000_001n;
    let isRefused = false;
    const turn = await turnsOf({
      ...litecoin,
      says: {
        traits: utxoTraits,
        sweepCost: async () => {
          if (isRefused) throw new ChainError('fee_above_maximum', 'too dear', { isOfChain: true });
          return { fee, perSource: 1n, lacking: 0n };
        },
      },
    });
    await turn();
    isRefused = true;
    await turn();
    expect(await swept()).toEqual([]);
    expect(await refusals()).toMatchObject([
      { problem: 'fee_above_maximum', tries: 1, pause: 60 },
      { problem: 'fee_above_maximum', tries: 1, pause: 60 },
    ]);
    [fee, isRefused] = [100_000_000n, false];
    await turn();
    expect(await swept()).toEqual([]);
    gateway.clock.advance(60_000);
    await turn();
    expect(await swept()).toHaveLength(1);
  });

  it('that are refused keep no other outputs waiting, and are forgotten once they are spent', async () => {
    const refused = await depositOutputs(32, 200_000_000);
    const turn = await turnsOf({
      ...litecoin,
      says: {
        traits: utxoTraits,
        sweepCost: async ({ from }) => {
          if (from?.some((key) => refused.includes(key))) {
            throw new ChainError('unknown_output', 'no such output', { isOfChain: true });
          }
          return { fee: 1n, perSource: 1n, lacking: 0n };
        },
      },
    });
    const others = await depositOutputs(2);
    await turn();
    await turn();
    expect(await swept()).toEqual([others.sort()]);
    expect(await refusals()).toHaveLength(32);
    gateway.clock.advance(601_000);
    const [item] = await sweepItems();
    expect(item).toMatch(/^unknown_output: LTC on LTC stays on \w{64}:\d+, \w{64}:\d+, \w{64}:\d+ and 29 more$/);
    await gateway.query(
      `update own_output set spent_txid = 'another', spent_height = 2, spent_hash = 'a block' where key = any($1)`,
      [refused.slice(1)],
    );
    await turn();
    expect((await refusals()).map(({ source }) => source)).toEqual(refused.slice(0, 1));
  });

  it('that are not swept any more are no refusals', async () => {
    await depositOutputs(2);
    const turn = await turnsOf({
      ...litecoin,
      says: {
        traits: utxoTraits,
        sweepCost: async () => {
          throw new ChainError('fee_above_maximum', 'too dear', { isOfChain: true });
        },
      },
    });
    await turn();
    expect(await refusals()).toHaveLength(2);
    const later = await turnsOf({ ...litecoin, coin: 'ETH', says: { traits: utxoTraits } });
    await later();
    expect(await refusals()).toEqual([]);
  });

  it('that the chain refused are decided again after an hour, and keep no others waiting', async () => {
    const refused = await depositOutputs(32, 200_000_000);
    const turn = await turnsOf({ ...litecoin, says: { traits: utxoTraits } });
    await turn();
    await endSweeps('stale_outputs');
    const others = await depositOutputs(2);
    for (let turns = 0; turns < 3; turns += 1) await turn();
    expect(await swept()).toEqual([refused.sort(), others.sort()]);
    gateway.clock.advance(3_601_000);
    await turn();
    expect(await swept()).toEqual([refused, others, refused]);
  });
});

describe('sweeps of a chain of accounts', () => {
  const ethereum = { chain: 'ethereum', coin: 'ETH', least: '0.5' };
  const block = { height: 10, hash: 'a hash', parent: 'another' };
  const ether = 10n ** 18n;
  const names = (kind: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${kind}${`${index}`.padStart(3, '0')}`);

  it('go past addresses that cannot be swept, however many there are', async () => {
    const empty = names('a', 120);
    const full = names('b', 3);
    await depositCoins('ethereum', 'ETH', 1, empty);
    await depositCoins('ethereum', 'ETH', 1, full);
    const turn = await turnsOf({
      ...ethereum,
      says: {
        traits: evmTraits,
        finalBalances: async ([address = '']) => ({ block, amounts: [full.includes(address) ? ether : 0n] }),
      },
    });
    for (let turns = 0; turns < 3; turns += 1) await turn();
    expect((await swept()).flat()).toEqual(full);
    // And come back to the first ones.
    empty.forEach((address) => {
      full.push(address);
    });
    for (let turns = 0; turns < 3; turns += 1) await turn();
    expect((await swept()).flat().sort()).toEqual([...full].sort());
  });

  it('stop when their time is over, and go on behind the last address until all were taken', async () => {
    const full = names('a', 120);
    await depositCoins('ethereum', 'ETH', 1, full);
    const turn = await turnsOf({
      ...ethereum,
      says: { traits: evmTraits, finalBalances: async () => ({ block, amounts: [ether] }) },
    });
    let left = 0;
    const some = (addresses: number): Promise<'more' | undefined> => {
      left = addresses;
      return turn(() => {
        left -= 1;
        return left > 0;
      });
    };
    // One address is taken in any case.
    expect([await some(0), (await swept()).length]).toEqual(['more', 1]);
    expect([await some(30), (await swept()).length]).toEqual(['more', 31]);
    expect([await some(100), (await swept()).length]).toEqual([undefined, 81]);
    expect([await some(100), (await swept()).flat()]).toEqual([undefined, full]);
  });

  it('of the own coin wait while they cost more than half of what they bring', async () => {
    await depositCoins('ethereum', 'ETH', 1, ['a']);
    let fee = ether / 2n + 1n;
    const turn = await turnsOf({
      ...ethereum,
      says: {
        traits: evmTraits,
        finalBalances: async () => ({ block, amounts: [ether] }),
        sweepCost: async () => ({ fee, perSource: fee, lacking: 0n }),
      },
    });
    await turn();
    expect(await swept()).toEqual([]);
    fee = ether / 2n;
    await turn();
    expect(await swept()).toEqual([['a']]);
  });

  it('that the chain refused are decided again after an hour', async () => {
    await depositCoins('ethereum', 'ETH', 1, ['a']);
    const turn = await turnsOf({
      ...ethereum,
      says: { traits: evmTraits, finalBalances: async () => ({ block, amounts: [ether] }) },
    });
    await turn();
    await endSweeps('stale_outputs');
    for (let turns = 0; turns < 3; turns += 1) await turn();
    expect(await swept()).toEqual([['a']]);
    gateway.clock.advance(3_601_000);
    await turn();
    expect(await swept()).toEqual([['a'], ['a']]);
    await endSweeps('conflict');
    await turn();
    expect(await swept()).toEqual([['a'], ['a'], ['a']]);
  });

  describe('that the chain refuses before they are signed', () => {
    const usdt = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
    /** Why the chain refuses the sweep of an address now. */
    let refusal: { code: string; isOfChain: boolean } | null;
    let tried: string[];
    let fee: bigint;

    async function refusing(addresses: readonly string[]): Promise<(hasTime?: () => boolean) => Promise<unknown>> {
      [refusal, tried, fee] = [{ code: 'would_fail', isOfChain: true }, [], 1n];
      await depositCoins('ethereum', 'ETH', 1, addresses);
      return turnsOf({
        ...ethereum,
        says: {
          traits: evmTraits,
          finalBalances: async () => ({ block, amounts: [ether] }),
          sweepCost: async ({ from }) => {
            tried.push(...(from ?? []));
            if (refusal) throw new ChainError(refusal.code, 'no', refusal);
            return { fee, perSource: fee, lacking: 0n };
          },
        },
      });
    }

    it('are tried after pauses that grow up to an hour, and staff see them', async () => {
      const turn = await refusing(['a']);
      const pauses = [60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600];
      for (const [index, pause] of pauses.entries()) {
        await turn();
        await turn();
        expect(await refusals()).toEqual([{ source: 'a', problem: 'would_fail', tries: index + 1, pause }]);
        // Ten minutes after the first refusal.
        expect(await sweepItems()).toHaveLength(index < 4 ? 0 : 1);
        gateway.clock.advance(pause * 1_000);
      }
      expect(tried).toHaveLength(pauses.length);
      expect(await sweepItems()).toEqual(['would_fail: ETH on ETH stays on a']);
      refusal = null;
      await turn();
      expect(await swept()).toEqual([['a']]);
      // It ends with the confirmed sweep.
      expect(await sweepItems()).toEqual(['would_fail: ETH on ETH stays on a']);
      await gateway.query(
        `update payment set state = 'confirmed', ended_at = $1, next_action_at = null where kind = 'sweep'`,
        [gateway.clock.now()],
      );
      await turn();
      expect([await refusals(), await sweepItems()]).toEqual([[], []]);
    });

    it('are one item for each asset, however many addresses there are', async () => {
      const turn = await refusing(names('a', 120));
      for (let turns = 0; turns < 6; turns += 1) await turn();
      expect(tried).toHaveLength(120);
      gateway.clock.advance(601_000);
      expect(await sweepItems()).toEqual(['would_fail: ETH on ETH stays on a000, a001, a002 and 117 more']);
      // They are tried again a run's number at a time.
      await turn();
      expect(tried).toHaveLength(170);
    });

    it('hold neither other addresses nor other coins of theirs', async () => {
      const turn = await refusing(['a', 'b']);
      await gateway.query(
        `insert into sweep_refusal (chain, source, contract, coin, network, problem, since, tries, again_at)
         values ('ethereum', 'a', $1, 'USDT', 'ERC20', 'would_fail', $2, 1, $3)`,
        [usdt, gateway.clock.now(), new Date(gateway.clock.now().getTime() + 60_000)],
      );
      refusal = null;
      await turn();
      expect(await swept()).toEqual([['a'], ['b']]);
    });

    it('by a fault of a node are tried in the next run, and are no item', async () => {
      const turn = await refusing(['a']);
      refusal = { code: 'unsound_answer', isOfChain: false };
      await turn();
      await turn();
      expect([tried, await refusals()]).toEqual([['a', 'a'], []]);
    });

    it('are no item once they are possible and not worth their fee', async () => {
      const turn = await refusing(['a']);
      await turn();
      expect(await refusals()).toHaveLength(1);
      [refusal, fee] = [null, ether];
      gateway.clock.advance(60_000);
      await turn();
      expect([await swept(), await refusals()]).toEqual([[], []]);
    });

    it('are no item once their deposit is gone', async () => {
      const turn = await refusing(['a']);
      await turn();
      await gateway.query(
        `update deposit set state = 'orphaned', height = null, block_hash = null where address = 'a'`,
      );
      await turn();
      expect(await refusals()).toEqual([]);
    });

    it('after they were decided keep their record, and wait an hour', async () => {
      const turn = await refusing(['a']);
      await turn();
      refusal = null;
      gateway.clock.advance(60_000);
      await turn();
      await endSweeps('stale_outputs');
      expect(await refusals()).toEqual([{ source: 'a', problem: 'stale_outputs', tries: 2, pause: 3600 }]);
    });
  });
});
