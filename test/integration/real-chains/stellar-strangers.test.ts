import { encodeKey } from '../../../src/chains/stellar/stellar-state.ts';
import { operations } from '../../support/chains/stellar-node/operations.ts';
import {
  type RealGateway,
  type RealOrder,
  startRealGateway,
  withRealChains,
} from '../../support/gateway/real-gateway.ts';

let gateway: RealGateway;
const xlm = 10_000_000n;

interface Setup {
  readonly setup: string;
  readonly state: string;
}

withRealChains(() => {
  beforeAll(async () => {
    gateway = await startRealGateway({ stellar: true });
  });
  afterAll(() => gateway?.stop());
  afterEach(async () => {
    gateway.chains.stellar.heal();
    await gateway.mine('stellar');
    await gateway.tick();
    expect(await gateway.differences()).toEqual([]);
  });

  const chain = () => gateway.chains.stellar.chain;
  const hot = () => gateway.hot.stellar;
  const status = async (order: RealOrder): Promise<string> => (await gateway.show(order)).status;

  async function round(): Promise<void> {
    await gateway.wait(31);
    await gateway.mine('stellar');
    await gateway.tick();
  }

  async function channels(): Promise<string[]> {
    const [row] = await gateway.query<{ value: string }>(
      `select value from setting where name = 'hot_wallet_channels:stellar'`,
    );
    return (row?.value ?? '').split(' ');
  }

  const isTopUp = ({ setup, state }: Setup): boolean => setup.startsWith('top_up:') && state === 'confirmed';

  const setups = () => gateway.query<Setup>(`select setup, state from payment where kind = 'setup' order by number`);

  describe('a stranger who makes a channel of ours first', () => {
    it('before it was decided saves its coins: it gets what it lacks', async () => {
      const [, second = ''] = await channels();
      chain().submit(chain().bank, { operations: [operations.createAccount(second, 10_000_000n)] });
      await gateway.mine('stellar');
      for (let count = 0; count < 8; count += 1) await round();
      const names = (await setups()).map(({ setup }) => setup);
      expect(names).toContain('channel:1:2');
      expect(names).toContain('channel:3:2');
      expect(names).not.toContain('channel:2:2');
    });

    it('after it was sent costs a fee, and the next ones follow an hour later', async () => {
      let made: Setup | undefined;
      for (let count = 0; count < 10 && made?.state !== 'sent'; count += 1) {
        await gateway.wait(31);
        made = (await setups()).at(-1);
        if (made?.state !== 'sent') await gateway.mine('stellar');
      }
      const number = Number(/^channel:(\d+):2$/.exec(made?.setup ?? '')?.[1]);
      const address = (await channels())[number - 1] ?? '';
      chain().plant(
        chain().sign(chain().bank, { operations: [operations.createAccount(address, 10_000_000n)] }).base64,
      );
      await gateway.mine('stellar', 2);
      await gateway.tick();
      expect((await setups()).at(-1)).toEqual({ setup: `channel:${number}:2`, state: 'dead' });
      expect(await gateway.differences()).toEqual([]);
      await gateway.wait(3_700);
      let last = await setups();
      for (let count = 0; count < 40 && !last.some(isTopUp); count += 1) {
        await round();
        last = await setups();
      }
      expect(last.find(isTopUp)).toMatchObject({ setup: 'top_up:2:1', state: 'confirmed' });
      expect(last.filter(({ setup }) => setup === 'channel:10:2')).toHaveLength(1);
      expect(await status(await gateway.order('LTC', 'XLM', 2))).toBe('waiting_deposit');
    });
  });

  it('memos that only look like the tag of an order pay no order', async () => {
    const order = await gateway.order('XLM', 'LTC', 1_000);
    const tag = order.depositTag ?? '';
    const digits = (zero: number): string => [...tag].map((each) => String.fromCodePoint(zero + Number(each))).join('');
    const others = [
      `0${tag}`,
      `${tag} `,
      ` ${tag}`,
      `${tag}\0`,
      `${tag}\u200b`,
      `+${tag}`,
      `${tag}.0`,
      digits(0xff10).slice(0, 9),
      digits(0x0966).slice(0, 9),
      `text:${Buffer.from(tag).toString('hex').slice(0, 20)}`,
      '\u{1f600}'.repeat(7),
      '00000000000000000000',
      '99999999999999999999',
      'hash:00',
      `${tag} and 7`,
      "'; select 1; --",
    ].filter((text) => Buffer.from(text).length <= 28);
    expect(others).toHaveLength(16);
    for (const text of others) chain().pay(chain().bank, order.depositAddress, 1_000n * xlm, { memo: { text } });
    const padded = Buffer.from(tag.padStart(64, '0'), 'hex');
    chain().pay(chain().bank, order.depositAddress, 1_000n * xlm, { memo: { hash: padded } });
    chain().pay(chain().bank, order.depositAddress, 1_000n * xlm, { memo: { return: padded } });
    chain().pay(chain().bank, order.depositAddress, 1_000n * xlm, { memo: { text: `${tag}` }, muxedId: 8n });
    await gateway.mine('stellar', 2);
    await gateway.tick();
    expect(await status(order)).toBe('waiting_deposit');
    const rows = await gateway.query<{ count: string }>(
      `select count(*)::text as count from deposit where chain = 'stellar' and problem = 'unknown_tag' and amount = 1000`,
    );
    expect(rows).toEqual([{ count: '19' }]);
  });

  it('a transaction of a hundred payments brings each order one deposit', async () => {
    const [one, other] = [await gateway.order('XLM', 'LTC', 1_000), await gateway.order('XLM', 'LTC', 1_000)];
    const idOf = (index: number): bigint => {
      if (index < 40) return BigInt(one.depositTag ?? '');
      return index < 80 ? BigInt(other.depositTag ?? '') : 5n;
    };
    chain().payInMany(
      Array.from({ length: 100 }, (_, index) => ({ to: hot(), amount: 25n * xlm, muxedId: idOf(index) })),
    );
    await gateway.mine('stellar', 2);
    await gateway.tick();
    const rows = await gateway.query<{ order_id: string | null; amount: string }>(
      `select order_id, trim_scale(amount)::text as amount from deposit
        where chain = 'stellar' and height > $1 and problem is distinct from 'unusual_kind'`,
      [chain().head.seq - 3],
    );
    expect(rows.filter(({ order_id }) => order_id === one.id)).toEqual([{ order_id: one.id, amount: '1000' }]);
    expect(rows.filter(({ order_id }) => order_id === other.id)).toEqual([{ order_id: other.id, amount: '1000' }]);
    expect(rows.filter(({ order_id }) => order_id === null).length).toBeLessThanOrEqual(20);
    await gateway.settle(one);
    await gateway.settle(other);
  });

  it('coins that strangers give to channels, or merge into one, are booked', async () => {
    const [channel = ''] = await channels();
    chain().pay(chain().bank, channel, 1n, { memo: { text: 'dust' } });
    chain().credit('account_merge', channel, 1_000_000n * xlm);
    chain().credit('contract', channel, 3n);
    await gateway.mine('stellar', 2);
    await gateway.tick();
    expect(await gateway.differences()).toEqual([]);
  });

  it('a payout of a token waits while the issuer has frozen the wallet, and is then made once', async () => {
    const { asset } = gateway.chains.stellar;
    const order = await gateway.order('ETH', 'USDC-XLM', 0.1);
    if (chain().head.state.trustLine(hot(), asset) === null) chain().trust(hot(), asset);
    const { tag } = (await gateway.settlement.adapters.get('stellar')?.hotWallet()) ?? {};
    gateway.chains.stellar.fund(hot(), tag ?? '');
    await gateway.mine('stellar', 2);
    await gateway.tick();
    chain().trust(hot(), asset, { flags: 0 });
    await gateway.confirm(order);
    for (let count = 0; count < 3; count += 1) await round();
    expect(await gateway.payments(order)).toMatchObject([{ kind: 'payout', problem: 'permission_changed' }]);
    chain().trust(hot(), asset, { flags: 1 });
    await gateway.wait(700);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
    expect(await gateway.payments(order)).toHaveLength(1);
  });

  it('a payout to a recipient that one server hides waits for days, and is then made', async () => {
    const there = chain().newAccount(5n * xlm);
    const order = await gateway.order('ETH', 'XLM', 0.1, { recipient_address: there.address });
    const [node] = gateway.chains.stellar.nodes;
    const hidden = encodeKey({ account: there.address });
    node.faults = {
      rewrite: (method, result) =>
        method === 'getLedgerEntries'
          ? { ...result, entries: (result.entries as { key: string }[]).filter(({ key }) => key !== hidden) }
          : result,
    };
    await gateway.confirm(order);
    for (let count = 0; count < 4; count += 1) {
      await gateway.wait(86_400);
      await gateway.mine('stellar');
      await gateway.tick();
    }
    const waiting = await gateway.payments(order);
    expect(waiting).toMatchObject([{ state: 'ready' }]);
    // Without channels, a set-up that is under way uses the wallet's own number.
    expect(['nodes_disagree', 'no_channel']).toContain(waiting[0]?.problem);
    gateway.chains.stellar.heal();
    await gateway.wait(700);
    await gateway.settle(order);
    expect(await gateway.payments(order)).toMatchObject([{ kind: 'payout', state: 'confirmed' }]);
  });

  it('a recipient that leaves before the ledger gets nothing, and the book agrees', async () => {
    const leaver = chain().newAccount(5n * xlm);
    const order = await gateway.order('ETH', 'XLM', 0.1, { recipient_address: leaver.address });
    await gateway.confirm(order);
    await gateway.wait(5);
    expect(await gateway.payments(order)).toMatchObject([{ state: 'sent' }]);
    chain().plant(chain().sign(leaver, { operations: [operations.accountMerge(chain().bank.address)] }).base64);
    await gateway.mine('stellar', 2);
    await gateway.tick();
    const [payout] = await gateway.payments(order);
    expect(payout).toMatchObject({ kind: 'payout', state: 'dead', problem: 'failed_on_chain' });
    expect(await gateway.differences()).toEqual([]);
  });
});
