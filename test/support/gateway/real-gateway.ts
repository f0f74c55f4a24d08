import type { Settlement } from '../../../src/app/open-settlement.ts';
import type { OutsideWorld } from '../../../src/app/outside-world.ts';
import { fromUnits, toUnits } from '../../../src/base/money.ts';
import { type ReconcileRow, reconcile } from '../../../src/ledger/reconcile.ts';
import { findAnvil, randomAddress, type TokenName, withoutAnvil } from '../chains/anvil.ts';
import { findLitecoind, withoutLitecoind } from '../chains/litecoind.ts';
import { RealChains, type RealChainsOptions } from '../chains/real-chains.ts';
import type { RealSolana } from '../chains/real-solana.ts';
import type { RealStellar } from '../chains/real-stellar.ts';
import type { RealTon } from '../chains/real-ton.ts';
import { type RealTron, tronFinality } from '../chains/real-tron.ts';
import type { RealXrp } from '../chains/real-xrp.ts';
import { createDatabase, query } from '../database/database.ts';
import type { Reply } from '../http/contract-client.ts';
import { TestClock } from './clock.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import { causesOf, isAtRest, type Rows } from './orders.ts';
import { TestSigner } from './test-signer.ts';

/** The currencies of the chains of a test, as tests name them. */
export type RealCoin =
  | 'ETH'
  | 'USDT'
  | 'LTC'
  | 'TRX'
  | 'USDT-TRC20'
  | 'XRP'
  | 'XLM'
  | 'USDC-XLM'
  | 'XMR'
  | SolanaCoin
  | TonCoin;
type TonCoin = 'TON' | 'USDT-TON';
type SolanaCoin = 'SOL' | 'USDC-SOL' | 'USDT-SOL';
/** Chains that each gateway of a test has. */
export type RealChain = 'ethereum' | 'litecoin';
export type AnyChain = RealChain | 'tron' | 'ripple' | 'stellar' | 'solana' | 'ton' | 'monero';

const coins = {
  ETH: { coin: 'ETH', network: 'ETH', chain: 'ethereum', decimals: 18 },
  USDT: { coin: 'USDT', network: 'ERC20', chain: 'ethereum', decimals: 6 },
  LTC: { coin: 'LTC', network: 'LTC', chain: 'litecoin', decimals: 8 },
  TRX: { coin: 'TRX', network: 'TRX', chain: 'tron', decimals: 6 },
  'USDT-TRC20': { coin: 'USDT', network: 'TRC20', chain: 'tron', decimals: 6 },
  XRP: { coin: 'XRP', network: 'XRP', chain: 'ripple', decimals: 6 },
  XLM: { coin: 'XLM', network: 'XLM', chain: 'stellar', decimals: 7 },
  'USDC-XLM': { coin: 'USDC', network: 'XLM', chain: 'stellar', decimals: 7 },
  XMR: { coin: 'XMR', network: 'XMR', chain: 'monero', decimals: 12 },
  SOL: { coin: 'SOL', network: 'SOL', chain: 'solana', decimals: 9 },
  'USDC-SOL': { coin: 'USDC', network: 'SOL', chain: 'solana', decimals: 6 },
  'USDT-SOL': { coin: 'USDT', network: 'SOL', chain: 'solana', decimals: 6 },
  TON: { coin: 'TON', network: 'TON', chain: 'ton', decimals: 9 },
  'USDT-TON': { coin: 'USDT', network: 'TON', chain: 'ton', decimals: 6 },
} as const satisfies Record<RealCoin, { coin: string; network: string; chain: AnyChain; decimals: number }>;

/**
 * Confirmations that a deposit needs; fewer than make it final, so that it can be reorganised after
 * it counted.
 */
export const minConfirmations = 2;

/**
 * Declares tests that need nodes of both kinds; where one is absent, one test that says why they do
 * not run.
 */
export function withRealChains(declare: () => void): void {
  if (findAnvil() === null)
    it.skip(`${withoutAnvil}: no order was made on real nodes`, () => {}); // CI requires it
  else if (findLitecoind() !== null) declare();
  else it.skip(`${withoutLitecoind}: no order was made on real nodes`, () => {}); // CI requires it
}

/** What a test knows of an order it made. */
export interface RealOrder {
  readonly id: string;
  readonly from: RealCoin;
  readonly to: RealCoin;
  readonly depositAddress: string;
  /** Null where each order has a separate address. */
  readonly depositTag: string | null;
  readonly recipient: string;
  readonly refundTo: string;
  /** Decimal text. */
  readonly amountFrom: string;
}

export interface PaymentRow {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly coin: string;
  readonly amount: string;
  readonly address: string;
  readonly problem: string | null;
}

export interface AttemptRow {
  readonly attempt: number;
  readonly txid: string | null;
  readonly fee: string;
  readonly mined_height: number | null;
  readonly dead_why: string | null;
}

export interface RealGatewayOptions {
  /** Changes of the settings of the networks, once their nodes are there. */
  readonly networks?: (chains: RealChains) => RealChainsOptions | Promise<RealChainsOptions>;
  /** The contract that plays USDT; one with 6 decimals. */
  readonly token?: TokenName;
  /** Whether there is a Tron too. Its blocks, the gateway and the signer share one clock. */
  readonly tron?: boolean;
  /** Whether there is an XRP Ledger too, on the same clock. */
  readonly xrp?: boolean;
  /** Whether there is a Stellar too, on the same clock. Its wallet has no channels yet. */
  readonly stellar?: boolean;
  /** Whether there is a Solana too, on the same clock. */
  readonly solana?: boolean;
  /** Whether there is a TON too, on the same clock. Its wallet is not deployed yet. */
  readonly ton?: boolean;
  /** Whether there is a Monero too, on a real node. */
  readonly monero?: boolean;
  /** Whether the hot wallets have coins; true unless given. */
  readonly isFunded?: boolean;
  readonly outside?: OutsideWorld;
  /** One that stands still unless given. */
  readonly clock?: TestClock;
  readonly settings?: Readonly<Record<string, string>>;
}

/** A gateway on real chains, which moves only when the test says so, on a separate clock. */
export interface RealGateway extends TestGateway {
  readonly chains: RealChains;
  readonly clock: TestClock;
  readonly settlement: Settlement;
  readonly signer: Pick<TestSigner, 'keys' | 'start' | 'stop'>;
  /** The wallets that pay. */
  readonly hot: Readonly<Record<AnyChain, string>>;
  order(
    from: RealCoin,
    to: RealCoin,
    amount: number,
    changes?: Record<string, unknown>,
    by?: string,
  ): Promise<RealOrder>;
  /** Sends coins to the order's deposit address, which no block holds yet; the txid. */
  pay(order: RealOrder, changes?: { readonly amount?: string; readonly coin?: RealCoin }): Promise<string>;
  /** Blocks on a chain. */
  mine(chain: AnyChain, blocks?: number): Promise<void>;
  /** Pays, and gives the deposit its confirmations. */
  confirm(order: RealOrder, changes?: { readonly amount?: string; readonly coin?: RealCoin }): Promise<string>;
  /** Everything that is due. */
  tick(): Promise<void>;
  /** Lets time pass, and then everything that is due. */
  wait(seconds: number): Promise<void>;
  /** Ticks and makes blocks on both chains until the order rests. */
  settle(order: RealOrder): Promise<void>;
  /** Ticks and makes blocks until no payment is under way. */
  settleAll(): Promise<void>;
  show(order: RealOrder): Promise<Reply['json']>;
  /** Causes of the order's moves, in order. */
  history(order: RealOrder): Promise<string[]>;
  payments(order: RealOrder | null): Promise<PaymentRow[]>;
  attempts(paymentId: string): Promise<AttemptRow[]>;
  /** What an address has by its chain, as decimal text. */
  balance(coin: RealCoin, address: string): Promise<string>;
  /** What an account of the book has, as decimal text. */
  booked(account: string, coin: RealCoin): Promise<string>;
  /** What of book and chains differs. */
  differences(): Promise<readonly ReconcileRow[]>;
  readonly query: Rows;
}

export async function startRealGateway(options: RealGatewayOptions = {}): Promise<RealGateway> {
  const { clock = new TestClock(), token, tron, xrp, stellar, solana, ton, monero } = options;
  const clockOf = (isWanted: boolean | undefined): TestClock | undefined => (isWanted ? clock : undefined);
  const toStart = {
    ...{ tron: clockOf(tron), xrp: clockOf(xrp), stellar: clockOf(stellar) },
    ...{ solana: clockOf(solana), ton: clockOf(ton) },
  };
  const chains = await RealChains.start({}, { token, monero, ...toStart });
  if (options.networks) await chains.writeNetworks(await options.networks(chains));
  const settings = { ...chains.environment, DATA_DIR: chains.folder, KEY_PEPPER: 'p'.repeat(32) };
  const signer = new TestSigner(settings, clockOf(tron || xrp || stellar || solana || ton));
  const database = await createDatabase('empty');
  const closing = [() => chains.stop(), () => database.drop(), () => signer.stop()];
  const close = async (): Promise<void> => {
    for (const each of closing.reverse()) await each();
  };
  try {
    await signer.start();
    const gateway = await startGateway({
      databaseUrl: database.url,
      settings: {
        ...settings,
        PRICE_MAX_AGE_SEC: '86400',
        ...options.settings,
        ...(options.outside?.logStream ? { LOG_LEVEL: 'warn' } : {}),
      },
      outside: { ...options.outside, clock, background: false },
    });
    closing.push(() => gateway.stop());
    const { settlement } = gateway.app;
    if (!settlement) throw new Error('this gateway does not settle');
    await query(database.url, 'update currency set min_confirmations = $1', [minConfirmations]);
    await gateway.app.catalogue.refresh();
    const hotOf = async (chain: AnyChain): Promise<string> =>
      (await settlement.adapters.get(chain)?.hotWallet())?.address ?? '';
    const hot = {
      ethereum: await hotOf('ethereum'),
      litecoin: await hotOf('litecoin'),
      tron: await hotOf('tron'),
      ripple: await hotOf('ripple'),
      stellar: await hotOf('stellar'),
      solana: await hotOf('solana'),
      ton: await hotOf('ton'),
      monero: await hotOf('monero'),
    };
    const { key } = await gateway.partner();
    const real = handle({ gateway, chains, clock, settlement, hot, key, databaseUrl: database.url });
    // The scanner stands where its chain is before anything happens there.
    await real.tick();
    if (options.isFunded ?? true) {
      await chains.fund(hot);
      await real.mine('ethereum', minConfirmations);
      await real.mine('litecoin', minConfirmations);
      if (chains.hasTron) await real.mine('tron', tronFinality);
      if (chains.hasXrp) {
        chains.xrp.fund(hot.ripple, (await settlement.adapters.get('ripple')?.hotWallet())?.tag ?? '');
        await real.mine('ripple');
      }
      if (chains.hasStellar) {
        chains.stellar.open(hot.stellar, (await settlement.adapters.get('stellar')?.hotWallet())?.tag ?? '');
        await real.mine('stellar');
      }
      if (chains.hasTon) {
        chains.ton.fund(hot.ton, (await settlement.adapters.get('ton')?.hotWallet())?.tag ?? '');
        await real.mine('ton', 2);
      }
      if (chains.hasSolana) {
        chains.solana.fund(hot.solana);
        await real.mine('solana');
      }
      if (chains.hasMonero) {
        await chains.monero.fund(hot.monero);
        await real.mine('monero', 10);
      }
      await real.tick();
    }
    return { ...real, signer, stop: close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Parts {
  readonly gateway: TestGateway;
  readonly chains: RealChains;
  readonly clock: TestClock;
  readonly settlement: Settlement;
  readonly hot: RealGateway['hot'];
  readonly key: string;
  readonly databaseUrl: string;
}

function handle(parts: Parts): Omit<RealGateway, 'signer'> {
  const { gateway, chains, clock, settlement, key, databaseUrl } = parts;
  const rows: Rows = (sql, values) => query(databaseUrl, sql, values);
  const tick = (): Promise<void> => settlement.worker.tick();
  const mine = async (chain: AnyChain, blocks = 1): Promise<void> => {
    if (chain === 'ethereum') await chains.anvil.mine(blocks);
    else if (chain === 'litecoin') await chains.litecoind.mine(blocks);
    else if (chain === 'tron') await mineTron(chains.tron, clock, blocks);
    else if (chain === 'monero') await chains.monero.mine(blocks);
    else if (chain === 'solana') await mineLedgers(chains.solana, clock, blocks);
    else if (chain === 'ton') await mineLedgers(chains.ton, clock, blocks);
    else await mineLedgers(chain === 'ripple' ? chains.xrp : chains.stellar, clock, blocks);
  };
  const newAddress = (coin: RealCoin): Promise<string> | string => {
    if (coins[coin].chain === 'tron') return chains.tron.chain.address();
    if (coin === 'XMR') return chains.monero.address();
    if (coin === 'XRP') return chains.xrp.chain.newKey().address;
    if (coins[coin].chain === 'solana') return chains.solana.chain.newKey().address;
    if (coins[coin].chain === 'ton') return chains.ton.newAddress();
    if (coin === 'XLM') return chains.stellar.chain.newKey().address;
    if (coin === 'USDC-XLM') return chains.stellar.holder();
    return coin === 'LTC' ? chains.litecoind.newAddress() : randomAddress();
  };

  const pay: RealGateway['pay'] = (order, { amount = order.amountFrom, coin = order.from } = {}) => {
    const units = toUnits(amount, coins[coin].decimals);
    if (coin === 'LTC') return chains.litecoind.pay(order.depositAddress, units);
    if (coin === 'ETH') return chains.anvil.send(order.depositAddress, units);
    if (coin === 'XMR') return chains.monero.pay([[order.depositAddress, units]]);
    if (coin === 'XRP') {
      const { chain } = chains.xrp;
      return Promise.resolve(chain.pay(chain.bank, order.depositAddress, units, tagOf(order)));
    }
    if (coins[coin].chain === 'stellar') {
      const { chain, asset } = chains.stellar;
      const memo = order.depositTag === null ? null : BigInt(order.depositTag);
      const paid = { memo, ...(coin === 'USDC-XLM' && { asset }) };
      return Promise.resolve(chain.pay(chain.bank, order.depositAddress, units, paid));
    }
    if (coins[coin].chain === 'solana') {
      const { chain } = chains.solana;
      const mint = mintOf(chains.solana, coin);
      return Promise.resolve(chain.pay(chain.bank, order.depositAddress, units, mint === null ? {} : { mint }));
    }
    if (coins[coin].chain === 'ton') {
      return Promise.resolve(chains.ton.pay(order.depositAddress, order.depositTag, units, coin === 'USDT-TON'));
    }
    if (coin === 'TRX') return chains.tron.chain.pay(order.depositAddress, null, units);
    if (coin === 'USDT-TRC20') return chains.tron.chain.pay(order.depositAddress, chains.tron.token, units);
    return chains.anvil.sendToken(chains.token, order.depositAddress, units);
  };

  const goOn = async (isOver: () => Promise<boolean>): Promise<void> => {
    for (let round = 0; round < 60; round += 1) {
      await tick();
      if (await isOver()) return;
      await chains.mine();
      clock.advance(3_000);
    }
    throw new Error('it does not come to rest');
  };

  return {
    ...gateway,
    chains,
    clock,
    settlement,
    hot: parts.hot,
    query: rows,
    tick,
    mine,
    pay,
    order: async (from, to, amount, changes = {}, by = key) => {
      const recipient = await newAddress(to);
      const refundTo = await newAddress(from);
      const body = {
        coin_from: coins[from].coin,
        network_from: coins[from].network,
        coin_to: coins[to].coin,
        network_to: coins[to].network,
        amount_from: amount,
        rate_type: 'float',
        recipient_address: recipient,
        refund_address: refundTo,
        ...changes,
      };
      // A test may have moved the clock by days since the last prices.
      await gateway.app.prices.refresh(gateway.app.catalogue.coins());
      const { status, text, json } = await gateway.call('POST', '/partner/orders', { key: by, body });
      if (status !== 201) throw new Error(text);
      // Fewer than any gateway asks for: a deposit can count while its block can still be undone.
      await rows('update exchange_order set deposit_confirmations_required = $2 where id = $1', [
        json.id,
        minConfirmations,
      ]);
      return {
        id: json.id,
        from,
        to,
        depositAddress: json.deposit_address,
        depositTag: json.deposit_address_tag,
        recipient,
        refundTo,
        amountFrom: `${amount}`,
      };
    },
    confirm: async (order, changes) => {
      const txid = await pay(order, changes);
      const { chain } = coins[order.from];
      // A deposit on Tron counts once its block is final.
      await mine(chain, chain === 'tron' ? tronFinality + 1 : minConfirmations);
      await tick();
      return txid;
    },
    wait: async (seconds) => {
      clock.advance(seconds * 1_000);
      await tick();
    },
    settle: ({ id }) => goOn(() => isAtRest(rows, id)),
    settleAll: () =>
      goOn(async () => (await rows(`select 1 from payment where state not in ('confirmed', 'dead')`)).length === 0),
    show: async ({ id }) => (await gateway.call('GET', `/partner/orders/${id}`, { key })).json,
    history: ({ id }) => causesOf(rows, id),
    payments: (order) =>
      rows<PaymentRow>(
        `select id, kind, state, coin, trim_scale(amount)::text as amount, address, problem
           from payment where order_id is not distinct from $1 order by number`,
        [order?.id ?? null],
      ),
    attempts: (paymentId) =>
      rows<AttemptRow>(
        `select attempt, txid, trim_scale(fee)::text as fee, mined_height::int as mined_height, dead_why
           from payment_attempt where payment_id = $1 order by attempt`,
        [paymentId],
      ),
    balance: async (coin, address) => {
      return fromUnits(await unitsOf(chains, coin, address), coins[coin].decimals);
    },
    booked: async (account, coin) => {
      const [row] = await rows<{ amount: string }>(
        `select trim_scale(coalesce(sum(amount), 0))::text as amount from ledger_line
          where account = $1 and coin = $2 and network = $3`,
        [account, coins[coin].coin, coins[coin].network],
      );
      return row?.amount ?? '';
    },
    differences: async () => {
      const report = await reconcile({ orm: gateway.app.orm, adapters: settlement.adapters, clock });
      return report.rows.filter(({ difference }) => difference !== '0');
    },
  };
}

/** What an address has by its chain, in the smallest unit. */
function unitsOf(chains: RealChains, coin: RealCoin, address: string): Promise<bigint> {
  switch (coin) {
    case 'LTC':
      return chains.litecoind.balance(address);
    case 'ETH':
      return chains.anvil.balance(address);
    case 'USDT':
      return chains.anvil.balance(address, chains.token);
    case 'XRP':
      return Promise.resolve(chains.xrp.chain.balance(address));
    case 'XLM':
      return Promise.resolve(chains.stellar.chain.balance(address));
    case 'USDC-XLM':
      return Promise.resolve(chains.stellar.chain.balance(address, chains.stellar.asset));
    case 'XMR':
      return chains.monero.balance(address);
    case 'SOL':
      return Promise.resolve(chains.solana.chain.balance(address));
    case 'USDC-SOL':
    case 'USDT-SOL':
      return Promise.resolve(chains.solana.chain.tokens(address, mintOf(chains.solana, coin) ?? ''));
    case 'TON':
      return Promise.resolve(chains.ton.received(address));
    case 'USDT-TON':
      return Promise.resolve(chains.ton.tokens(address));
    case 'TRX':
      return chains.tron.chain.balance(address);
    case 'USDT-TRC20':
      return chains.tron.chain.balance(address, chains.tron.token);
  }
}

/** Blocks of Tron. The clock is never behind them. */
async function mineTron(tron: RealTron, clock: TestClock, blocks: number): Promise<void> {
  await tron.mine(blocks);
  const aheadMs = tron.chain.head.header.timestamp - clock.now().getTime();
  if (aheadMs > 0) clock.advance(aheadMs);
}

/** The token of a coin on Solana; null for its own coin. */
function mintOf({ usdc, usdt }: RealSolana, coin: RealCoin): RealSolana['usdc'] | null {
  if (coin === 'SOL') return null;
  return coin === 'USDC-SOL' ? usdc : usdt;
}

/** Ledgers of a simulated network. The clock is never behind them. */
async function mineLedgers(
  network: RealXrp | RealStellar | RealSolana | RealTon,
  clock: TestClock,
  ledgers: number,
): Promise<void> {
  await network.mine(ledgers);
  const { aheadMs } = network;
  if (aheadMs > 0) clock.advance(aheadMs);
}

function tagOf({ depositTag }: RealOrder): { readonly tag?: number } {
  return depositTag === null ? {} : { tag: Number(depositTag) };
}
