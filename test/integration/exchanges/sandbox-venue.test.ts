import { systemClock } from '../../../src/base/clock.ts';
import { createLog } from '../../../src/base/log.ts';
import { Big } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import type { Movement, MovementKind } from '../../../src/exchanges/exchange.ts';
import { ExchangeProcess } from '../../../src/exchanges/exchange-process.ts';
import { FundingAccount } from '../../../src/exchanges/funding-account.ts';
import { takeIn, withdraw } from '../../../src/exchanges/sandbox/account.ts';
import { venueNetwork } from '../../../src/exchanges/sandbox/network-names.ts';
import { setFault } from '../../../src/exchanges/sandbox/strikes.ts';
import { type VenueFault, venueFaults } from '../../../src/exchanges/sandbox/venue-faults.ts';
import { SandboxVenue } from '../../../src/settlement/sandbox/sandbox-venue.ts';
import { VenueStore } from '../../../src/settlement/sandbox/venue-store.ts';
import { commandLine } from '../../support/gateway/built-process.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { LogSink } from '../../support/gateway/log-sink.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

const fee = '0.0002';

describe.each([
  { name: 'kraken', cash: 'USD' },
  { name: 'binance', cash: 'USDT' },
] as const)('the imitated exchange of SANDBOX_VENUE, as $name', ({ name, cash }) => {
  const settings = { SANDBOX_VENUE: 'on', VENUE: name, VENUE_CASH: cash };
  let gateway: SettledGateway;
  let store: VenueStore;
  let hot: string;
  /** The imitation of the gateway's own worker, and that of another worker. */
  let own: SandboxVenue;
  let other: SandboxVenue;
  let process: ExchangeProcess;
  /** Reads the account at the other worker's. */
  let account: FundingAccount;

  beforeAll(async () => {
    gateway = await startSettledGateway({ settings, outside: { clock: systemClock, background: false } });
    const { app, settlement } = gateway;
    if (!settlement.sandboxVenue) throw new Error('there is no imitated exchange');
    own = settlement.sandboxVenue;
    store = new VenueStore(app.orm, name);
    const { orm, catalogue, prices } = app;
    const chain = settlement.sandbox;
    other = new SandboxVenue({ orm, clock: systemClock, catalogue, prices, chain, name, cash, pageSize: 2 });
    const { origin, trading, reading } = await other.start();
    process = new ExchangeProcess({
      exchanges: [{ name, origin, ...trading, funding: reading }],
      log: createLog('info', new LogSink()),
      paceMs: 0,
      restartMs: 1,
    });
    account = new FundingAccount(name, process);
    hot = (await settlement.adapters.get('bitcoin')?.hotWallet())?.address ?? '';
  });
  afterAll(async () => {
    await process?.close();
    await other?.stop();
    await gateway?.stop();
  });
  /** Movements of earlier tests. */
  let earlier: ReadonlySet<string>;
  beforeEach(async () => {
    earlier = await store.change((state) => {
      state.strikes = {};
      for (const row of state.movements) row.state = 'done';
      return new Set(state.movements.map(({ reference }) => reference));
    });
  });

  /** The command line, on the gateway's database. */
  const cli = (...args: string[]) => commandLine(gateway.databaseUrl, ['sandbox', 'venue', ...args], settings);

  // biome-ignore lint/suspicious/noExplicitAny: what a command prints is read member by member
  async function json(...args: string[]): Promise<any> {
    const { code, output, errors } = await cli(...args, '--json');
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    return JSON.parse(output);
  }

  const set = (fault: VenueFault, times = 1) => store.change((state) => setFault(state, fault, times));
  const list = async (kind: MovementKind) =>
    (await account.movements(kind, Date.now() - 3_600_000)).filter(({ reference }) => !earlier.has(reference));
  const step = () => own.step();

  /** The only movement of a kind, as the child reads it. */
  async function only(kind: MovementKind): Promise<Movement> {
    const [first, ...more] = await list(kind);
    expect(more).toEqual([]);
    if (!first) throw new Error(`there is no ${kind}`);
    return first;
  }

  async function balance(coin = 'BTC'): Promise<string> {
    return (await account.holdings()).find((held) => held.coin === coin)?.total ?? '0';
  }

  async function changed(before: string, coin = 'BTC'): Promise<string> {
    return new Big(await balance(coin)).minus(before).toFixed();
  }

  /** A person withdraws 1.5 BTC to the hot wallet. */
  const withdrawal = (gross = '1.5') =>
    store.change((state) =>
      withdraw(state, {
        ...{ coin: 'BTC', networkId: 'BTC', network: venueNetwork(name, 'BTC') ?? '' },
        ...{ gross, fee, address: hot, tag: null, atMs: Date.now() },
      }),
    );

  /** A person sends 0.25 BTC of the hot wallet to the exchange. */
  async function send(): Promise<string> {
    const to = (await store.read())?.addresses.BTC?.address ?? '';
    const amounts = { amount: 25_000_000n, fee: 1_000n, busyBlocks: 10 };
    return gateway.settlement.sandbox.spend('bitcoin', { from: hot, to, tag: null, contract: null, ...amounts });
  }

  const credit = () =>
    store.change((state) =>
      takeIn(state, {
        ...{ coin: 'BTC', network: venueNetwork(name, 'BTC') ?? '', address: 'a', tag: null, amount: '2' },
        ...{ atMs: Date.now(), txid: 'ab'.repeat(32), state: 'done' },
      }),
    );

  /** What transactions on the sandbox's Bitcoin pay to the hot wallet from outside, by txid. */
  async function paid(txid: string | null): Promise<string[]> {
    const rows = await gateway.query<{ amount: string }>(
      `select (amount / 1e8)::text as amount from sandbox_tx
        where chain = 'bitcoin' and recipient = $1 and split_part(txid, ':', 1) = $2 order by seq`,
      [hot, txid],
    );
    return rows.map(({ amount }) => new Big(amount).toFixed());
  }

  it('opens an account with every coin of the catalogue, and addresses', async () => {
    const coins = new Set((await account.holdings()).map(({ coin }) => coin));
    expect([...new Set([cash, ...gateway.app.catalogue.coins()])].filter((coin) => !coins.has(coin))).toEqual([]);
    const { balances, addresses, faults } = await json('show');
    expect(balances).toContainEqual({ coin: cash, amount: expect.stringMatching(/^\d+(\.\d+)?$/) });
    expect(addresses.map(({ network }: { network: string }) => network)).toContain('TRC20');
    expect(faults).toEqual([]);
  });

  it('trades for an order, on an account that all workers share', async () => {
    const [ltc, btc] = [await balance('LTC'), await balance('BTC')];
    const order = await gateway.order({
      coin_from: 'LTC',
      network_from: 'LTC',
      coin_to: 'BTC',
      network_to: 'BTC',
      amount_from: 8,
      recipient_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    });
    await gateway.deposit(order);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
    const [trade] = await gateway.query<{ venue: string; bought: string }>(
      'select venue, trim_scale(bought)::text as bought from trade where order_id = $1',
      [order.id],
    );
    expect(trade?.venue).toBe(name);
    expect(await changed(ltc, 'LTC')).toBe('-8');
    const bought = new Big(await changed(btc));
    // Binance takes its fee from the coin that is bought, and Kraken from the cash.
    expect(bought.gte(trade?.bought ?? '1') && bought.lt('0.02')).toBe(true);
  });

  it('runs in workers only, and limits of pairs need none', async () => {
    const api = await startGateway({ settings: { ...settings, ROLE: 'api' } });
    try {
      expect(await new VenueStore(api.app.orm, name).read()).toBeNull();
      const pair = 'coin_from=LTC&network_from=LTC&coin_to=BTC&network_to=BTC&amount=8&rate_type=float';
      const limits = await Promise.all(
        [api, gateway].map(async ({ app }) => {
          const answer = await fetch(`${app.restUrl}/api/v1/partner/rates?${pair}`);
          const { max_amount } = (await answer.json()) as { max_amount: number };
          return { status: answer.status, most: max_amount };
        }),
      );
      expect(limits).toEqual([
        { status: 200, most: expect.any(Number) },
        { status: 200, most: limits[0]?.most },
      ]);
    } finally {
      await api.stop();
    }
  });

  it('pays a withdrawal that a command asks for, less the fee', async () => {
    const before = await balance();
    const asked = await json('withdraw', '--coin', 'BTC', '--network', 'BTC', '--amount', '1.5');
    expect(asked).toMatchObject({ kind: 'withdrawal', amount: '1.5', state: 'pending', address: hot, txid: null });
    expect(await only('withdrawal')).toMatchObject({ reference: asked.reference, amount: '1.5', state: 'pending' });
    await step();
    await gateway.mine('BTC');
    await step();
    const done = await only('withdrawal');
    expect(done).toMatchObject({ state: 'done', fee: asked.fee, network: venueNetwork(name, 'BTC') });
    expect(await paid(done.txid)).toEqual([new Big('1.5').minus(asked.fee).toFixed()]);
    expect(await changed(before)).toBe('-1.5');
  });

  it('pays a withdrawal again whose transaction was dropped', async () => {
    await withdrawal();
    await step();
    const { txid: first } = await only('withdrawal');
    expect(await gateway.settlement.sandbox.drop('bitcoin', first ?? '')).toBe(true);
    await step();
    await gateway.mine('BTC');
    await step();
    const { txid, state } = await only('withdrawal');
    expect(state).toBe('done');
    expect(txid).not.toBe(first);
    expect(await paid(txid)).toEqual(['1.4998']);
  });

  it('credits what a person sends out of the hot wallet, and nothing before its blocks', async () => {
    const before = await balance();
    const txid = await send();
    await step();
    expect(await only('deposit')).toMatchObject({ txid, amount: '0.25', state: 'pending' });
    await gateway.mine('BTC', 2);
    await step();
    expect((await only('deposit')).state).toBe('pending');
    expect(await changed(before)).toBe('0');
    await gateway.mine('BTC');
    await step();
    await other.step();
    expect((await only('deposit')).state).toBe('done');
    expect(await changed(before)).toBe('0.25');
    const spent = await gateway.settlement.adapters.get('bitcoin')?.spent?.(txid);
    expect(spent?.amounts).toEqual([{ contract: null, amount: 25_000_000n }]);
  });

  it('forgets a deposit whose transaction was dropped before its blocks', async () => {
    const txid = await send();
    await step();
    expect(await list('deposit')).toHaveLength(1);
    await gateway.settlement.sandbox.drop('bitcoin', txid);
    await step();
    expect(await list('deposit')).toEqual([]);
  });

  it('sends to the address of a network with its memo', async () => {
    const before = await balance('XRP');
    const { tag } = await json('send', '--coin', 'XRP', '--network', 'XRP', '--amount', '20');
    expect(tag).toMatch(/^\d+$/);
    await gateway.mine('XRP', 3);
    await step();
    expect(await changed(before, 'XRP')).toBe('20');
  });

  it('takes coins from outside by command, with a row in the list or without one', async () => {
    const before = await balance();
    expect(await json('credit', '--coin', 'BTC', '--amount', '2')).toMatchObject({ listed: true });
    expect(await only('deposit')).toMatchObject({ coin: 'BTC', amount: '2', state: 'done' });
    await json('credit', '--coin', 'BTC', '--amount', '3', '--silent');
    expect(await json('credit', '--coin', 'BTC', '--amount', '-1')).toMatchObject({ listed: false });
    expect(await list('deposit')).toHaveLength(1);
    expect(await changed(before)).toBe('4');
  });

  it('refuses what the account does not allow', async () => {
    const refused = async (...args: string[]) => {
      const { code, errors } = await cli(...args);
      expect(code).not.toBe(0);
      return errors;
    };
    const withdrawing = (network: string, amount: string) =>
      refused('withdraw', '--coin', 'BTC', '--network', network, '--amount', amount);
    const [tooMuch, tooLittle, elsewhere, gone, unknown] = await Promise.all([
      withdrawing('BTC', '1000000'),
      withdrawing('BTC', '0.00000001'),
      withdrawing('LTC', '1'),
      refused('credit', '--coin', 'BTC', '--amount', '-1000000'),
      refused('fault', 'earthquake'),
    ]);
    expect(tooMuch).toContain('BTC only');
    expect(tooLittle).toContain('the fee');
    expect(elsewhere).toContain('no BTC on LTC');
    expect(gone).toContain('BTC only');
    for (const known of Object.keys(venueFaults)) expect(unknown).toContain(known);
  });

  it('sets and lifts a fault by command', async () => {
    expect(await json('fault', 'short', '--times', '3')).toEqual({ fault: 'short', times: 3 });
    expect((await json('show')).faults).toEqual([{ fault: 'short', times: 3 }]);
    await json('fault', 'short', '--times', '0');
    expect((await json('show')).faults).toEqual([]);
  });

  describe('when a fault was set', () => {
    it.each([
      ['reject_late', '0'],
      ['return_without_fee', '-0.0002'],
    ] as const)('%s ends a withdrawal after it was listed', async (fault, lost) => {
      const before = await balance();
      await set(fault);
      await withdrawal();
      await step();
      expect(await only('withdrawal')).toMatchObject({ state: 'pending', txid: null });
      expect(await changed(before)).toBe('-1.5');
      await step();
      expect(await only('withdrawal')).toMatchObject({ state: 'returned', txid: null });
      expect(await changed(before)).toBe(lost);
    });

    it('short pays less than it tells', async () => {
      await set('short');
      await withdrawal();
      await step();
      const { txid, amount, fee: told } = await only('withdrawal');
      expect({ amount, told }).toEqual({ amount: '1.5', told: fee });
      expect(await paid(txid)).toEqual(['1.484802']);
    });

    it('txid_late tells the txid by the fourth list', async () => {
      await set('txid_late');
      await withdrawal();
      await step();
      for (let read = 0; read < 3; read += 1) expect((await only('withdrawal')).txid).toBeNull();
      expect(await paid((await only('withdrawal')).txid)).toEqual(['1.4998']);
    });

    it('two_in_one pays two withdrawals with one transaction', async () => {
      await set('two_in_one', 2);
      await withdrawal('1.5');
      await step();
      expect((await only('withdrawal')).txid).toBeNull();
      await withdrawal('2.5');
      await step();
      const txids = (await list('withdrawal')).map(({ txid }) => txid);
      expect(txids).toHaveLength(2);
      expect(new Set(txids).size).toBe(1);
      expect((await paid(txids[0] ?? null)).sort()).toEqual(['1.4998', '2.4998']);
    });

    it.each([
      ['replace', ['1.4998']],
      ['replace_untold', []],
    ] as const)('%s tells a txid that no chain has', async (fault, last) => {
      await set(fault);
      await withdrawal();
      await step();
      for (let read = 0; read < 3; read += 1) {
        const { txid } = await only('withdrawal');
        expect(txid).toMatch(/^[0-9a-f]{64}$/);
        expect(await paid(txid)).toEqual([]);
      }
      expect(await paid((await only('withdrawal')).txid)).toEqual(last);
    });

    it('internal moves nothing on a chain', async () => {
      await set('internal');
      await withdrawal();
      await step();
      // Kraken has no such word: there the txid is missing.
      expect(await only('withdrawal')).toMatchObject({ state: 'done', txid: null, isInternal: name === 'binance' });
    });

    it.each([
      ['credit_late', 'pending', '0'],
      ['credit_locked', 'locked', '2'],
    ] as const)('%s holds a deposit until it is lifted', async (fault, held, added) => {
      const before = await balance();
      await set(fault);
      await credit();
      for (let read = 0; read < 2; read += 1) {
        await step();
        expect((await only('deposit')).state).toBe(held);
        expect(await changed(before)).toBe(added);
      }
      await set(fault, 0);
      await step();
      expect((await only('deposit')).state).toBe('done');
      expect(await changed(before)).toBe('2');
    });

    it('foreign_withdrawal takes a part of a coin to an address of someone else', async () => {
      await set('foreign_withdrawal');
      await step();
      await step();
      const { coin, address, amount } = await only('withdrawal');
      const networks = gateway.app.catalogue.rows.filter((row) => row.coin === coin).map(({ network }) => network);
      expect(networks.map(addressExample)).toContain(address);
      expect(new Big(amount).gt('0')).toBe(true);
    });

    it('list_incomplete leaves out the newest row', async () => {
      await withdrawal('1');
      await set('list_incomplete');
      expect(await list('withdrawal')).toEqual([]);
      expect(await list('withdrawal')).toHaveLength(1);
    });

    it('list_broken refuses a page after the first', async () => {
      for (const gross of ['0.1', '0.2', '0.3']) await withdrawal(gross);
      expect(await list('withdrawal')).toHaveLength(3);
      await set('list_broken');
      await expect(list('withdrawal')).rejects.toMatchObject({ name: 'ExchangeUnavailable' });
      expect(await list('withdrawal')).toHaveLength(3);
    });

    it.each(['freeze', 'key_refused'] as const)('%s refuses to read', async (fault) => {
      await set(fault);
      await expect(account.holdings()).rejects.toThrow();
      expect(await account.holdings()).not.toEqual([]);
    });

    it('lost_answer gives no answer', async () => {
      await set('lost_answer');
      await expect(account.holdings()).rejects.toMatchObject({ name: 'ExchangeUnavailable' });
      expect(await account.holdings()).not.toEqual([]);
    });
  });
});
