import type { ChainAdapter, SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import { sandboxVariants } from '../../../src/chains/sandbox/sandbox-rules.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// Orders from end to end on sandbox chains of each kind.

describe.each(Object.keys(sandboxVariants))('on chains of the rules %s', (SANDBOX_RULES) => {
  let gateway: SettledGateway;

  beforeAll(async () => {
    gateway = await startSettledGateway({ settings: { SANDBOX_RULES } });
  });
  afterAll(() => gateway?.stop());

  it('an order is paid once, and no problem is noted meanwhile', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.mine('BTC', 3);
    for (let turn = 0; turn < 5; turn += 1) {
      // The second turn reads what the first one stored, while a payment waits for its block.
      await gateway.tick();
      gateway.clock.advance(1_000);
      await gateway.tick();
      const problems = await gateway.query('select problem from payment where problem is not null');
      expect(problems).toEqual([]);
      gateway.clock.advance(1_000);
      await gateway.mine('TRC20');
    }
    await gateway.tick();
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    const paid = await gateway.query(
      `select from sandbox_tx t join payment_attempt a on a.chain = t.chain and a.txid = t.txid
        where t.state = 'mined' and t.success`,
    );
    expect(paid).toHaveLength(1);
    expect(await gateway.differences()).toEqual([]);
  });
});

describe('a payment whose attempts do not exclude each other', () => {
  let gateway: SettledGateway;
  let isLosing = true;

  /** The node of one chain answers broadcasts, and takes none while `isLosing`. */
  function losing(adapter: ChainAdapter): ChainAdapter {
    if (adapter.chain !== 'tron') return adapter;
    const { broadcastAll } = adapter;
    return Object.assign(adapter, {
      broadcastAll: async (txs: readonly SignedTx[]) =>
        isLosing ? txs.map(() => ({ outcome: 'accepted', code: null })) : broadcastAll?.call(adapter, txs),
    });
  }

  beforeAll(async () => {
    gateway = await startSettledGateway({
      settings: { SANDBOX_RULES: 'not-exclusive' },
      outside: { chain: losing },
    });
  });
  afterAll(() => gateway?.stop());

  interface Row {
    readonly attempt: number;
    readonly why: string | null;
    readonly problem: string | null;
    /** Seconds from the expiry of the attempt to the payment's next turn. */
    readonly wait: number | null;
  }
  const attempts = (): Promise<Row[]> =>
    gateway.query<Row>(
      `select a.attempt, a.dead_why as why, p.problem,
              extract(epoch from p.next_action_at - a.expires_at)::float8 as wait
         from payment p join payment_attempt a on a.payment_id = p.id order by a.attempt`,
    );

  async function mine(blocks: number): Promise<void> {
    for (let block = 0; block < blocks; block += 1) {
      gateway.clock.advance(5_000);
      await gateway.mine('TRC20');
      await gateway.tick();
    }
  }

  it('gets its next one when the signer signs it, and is never refused', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.mine('BTC', 3);
    // The first block has the time of the machine, and this one the time of the test.
    await gateway.mine('TRC20');
    await gateway.tick();
    await mine(5);
    expect(await attempts()).toMatchObject([{ attempt: 1, why: 'expired', problem: 'expired', wait: 120 }]);
    isLosing = false;
    for (let turn = 0; turn < 60 && (await attempts()).length === 1; turn += 1) {
      expect(await attempts()).toMatchObject([{ problem: 'expired' }]);
      await mine(1);
    }
    expect(await attempts()).toMatchObject([
      { why: 'expired', problem: null },
      { attempt: 2, why: null },
    ]);
    await mine(4);
    expect(await gateway.show(order)).toMatchObject({ status: 'completed' });
    expect(await gateway.differences()).toEqual([]);
  });
});
