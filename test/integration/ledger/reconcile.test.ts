import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import type { MikroORM } from '@mikro-orm/postgresql';
import { Command } from 'commander';
import { Client } from 'pg';
import {
  type BlockRef,
  type ChainAdapter,
  ChainError,
  type Cursor,
  type Holding,
  type Pending,
  type ScanResult,
  type SignedTx,
  type Transfer,
  type TxStatus,
} from '../../../src/chains/chain-adapter.ts';
import { ledgerCommands } from '../../../src/cli/ledger-commands.ts';
import { createOrm } from '../../../src/db/orm.ts';
import { ledgerBalances, type ReconcileReport, reconcile, renderReport } from '../../../src/ledger/reconcile.ts';
import { Big, toUnits } from '../../../src/money.ts';
import { createDatabase } from '../../support/database.ts';

const usdtContract = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const t0 = '2027-01-01T00:00:00Z';

interface Block {
  readonly ref: BlockRef;
  readonly transfers: Transfer[];
}

/** A chain in memory: blocks of transfers, and what the hot wallet holds. */
class FakeChain implements ChainAdapter {
  readonly finalityDepth = 3;
  readonly blockToleranceSec = 0;
  readonly reorgWindow = 10;
  readonly startHeight = 0;
  readonly model = 'accounts';
  readonly chain: string;
  readonly hot = new Map<string | null, bigint>();
  readonly statuses = new Map<string, TxStatus>();
  blocks: Block[] = [];
  isAway = false;
  /** Called before each answer about balances. */
  onBalances: () => void = () => {};

  constructor(chain: string) {
    this.chain = chain;
    this.mine();
  }

  mine(transfers: Transfer[] = [], fork = ''): BlockRef {
    const height = this.blocks.length;
    const ref = { height, hash: `${this.chain}-${height}${fork}`, parent: this.blocks.at(-1)?.ref.hash ?? '' };
    this.blocks.push({ ref, transfers });
    return ref;
  }

  /** The cursor of a scanner that stands at a height. */
  cursor(height: number): BlockRef[] {
    return this.blocks.slice(Math.max(0, height - 9), height + 1).map(({ ref }) => ref);
  }

  async head(): Promise<BlockRef> {
    if (this.isAway) throw new ChainError('no_node', 'the node does not answer');
    return this.blocks.at(-1)?.ref ?? { height: 0, hash: '', parent: '' };
  }

  async start(height: number): Promise<Cursor> {
    return { window: this.cursor(height) };
  }

  async scan({ window }: Cursor, maxBlocks: number): Promise<ScanResult> {
    const { height: head } = await this.head();
    const kept = window.filter(({ height, hash }) => this.blocks[height]?.ref.hash === hash);
    const orphaned = window.filter((ref) => !kept.includes(ref)).reverse();
    const from = (kept.at(-1)?.height ?? 0) + 1;
    const blocks = this.blocks.slice(from, from + maxBlocks);
    return { orphaned, blocks, cursor: { window: [...kept, ...blocks.map(({ ref }) => ref)] }, head };
  }

  async pending(): Promise<Pending> {
    return { transfers: [], left: new Set() };
  }

  async balances(holdings: readonly Holding[], contract: string | null): Promise<readonly bigint[]> {
    this.onBalances();
    return holdings.map(({ address, tag }) =>
      address === `${this.chain}-hot`
        ? (this.hot.get(contract) ?? 0n)
        : this.blocks
            .flatMap(({ transfers }) => transfers)
            .filter((one) => one.address === address && one.contract === contract && (tag === null || one.tag === tag))
            .reduce((sum, { amount }) => sum + amount, 0n),
    );
  }

  async hotWallet(): Promise<Holding> {
    return { address: `${this.chain}-hot`, tag: null };
  }

  async status({ txid }: SignedTx): Promise<TxStatus> {
    return this.statuses.get(txid) ?? { state: 'unknown' };
  }

  prepare(): Promise<never> {
    throw new Error('reconciliation prepares nothing');
  }

  broadcast(): Promise<never> {
    throw new Error('reconciliation sends nothing');
  }
}

interface OrderRow {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly tag: string | null;
}

type Asset = readonly [coin: string, network: 'BTC' | 'TRC20' | 'TRX' | 'XRP'];

const btc: Asset = ['BTC', 'BTC'];
const usdt: Asset = ['USDT', 'TRC20'];
const trx: Asset = ['TRX', 'TRX'];
const xrp: Asset = ['XRP', 'XRP'];

interface Place {
  readonly chain: 'bitcoin' | 'tron' | 'ripple';
  readonly contract: string | null;
  readonly decimals: number;
  /** What a payment there costs us. */
  readonly native: Asset;
  readonly cost: string;
}

const places: Readonly<Record<Asset[1], Place>> = {
  BTC: { chain: 'bitcoin', contract: null, decimals: 8, native: btc, cost: '0.0001' },
  TRC20: { chain: 'tron', contract: usdtContract, decimals: 6, native: trx, cost: '5' },
  TRX: { chain: 'tron', contract: null, decimals: 6, native: trx, cost: '1' },
  XRP: { chain: 'ripple', contract: null, decimals: 6, native: xrp, cost: '0.00001' },
};

/** A database with orders at every stage, and the chains that agree with it. */
class World {
  readonly bitcoin = new FakeChain('bitcoin');
  readonly tron = new FakeChain('tron');
  readonly ripple = new FakeChain('ripple');
  readonly adapters = new Map<string, ChainAdapter>(
    [this.bitcoin, this.tron, this.ripple].map((chain) => [chain.chain, chain]),
  );
  readonly orders = new Map<string, OrderRow>();
  readonly #db: Client;
  readonly #partner = randomUUID();
  #index = 0;

  constructor(db: Client) {
    this.#db = db;
  }

  async sql(text: string, values: unknown[] = []): Promise<void> {
    await this.#db.query(text, values);
  }

  async insert(table: string, row: Record<string, unknown>): Promise<void> {
    const columns = Object.keys(row).join(', ');
    await this.sql(
      `insert into ${table} (${columns}) select ${columns} from json_populate_record(null::${table}, $1::json)`,
      [JSON.stringify(row)],
    );
  }

  /** A change that the database's own rules refuse. */
  async corrupt(text: string, values: unknown[] = []): Promise<void> {
    await this.#db.query('set session_replication_role = replica');
    await this.#db.query(text, values);
    await this.#db.query('set session_replication_role = origin');
  }

  order(name: string): OrderRow {
    const order = this.orders.get(name);
    if (!order) throw new Error(`there is no order ${name}`);
    return order;
  }

  async depositOf(name: string): Promise<string> {
    const { rows } = await this.#db.query('select deposit_id from exchange_order where id = $1', [this.order(name).id]);
    return rows[0].deposit_id;
  }

  async build(): Promise<void> {
    // A seeded database has sandbox chains with a book of their own.
    await this.corrupt(
      'truncate ledger_line, ledger_transaction, chain_state, sandbox_fill, deposit_address, exchange_order cascade',
    );
    const isSigned = { require_signature: false, created_at: t0, updated_at: t0 };
    await this.insert('partner', { id: this.#partner, name: 'Partner', status: 'active', ...isSigned });
    await this.sql(
      `insert into deposit_account (keychain, signer, shared_address, created_at) values
         ('bitcoin', 's', null, $1), ('tron', 's', null, $1), ('ripple', 's', 'r-shared', $1)
       on conflict (keychain) do update set shared_address = excluded.shared_address, xpub = null`,
      [t0],
    );
    await this.#opening('bitcoin', btc, '2');
    await this.#opening('tron', usdt, '10000');
    await this.#opening('tron', trx, '500');
    this.bitcoin.hot.set(null, 200_000_000n);
    this.tron.hot.set(usdtContract, 10_000_000_000n);
    this.tron.hot.set(null, 500_000_000n);

    await this.#completed();
    await this.#refunded();
    await this.#withRemainder();
    await this.#stranger();
    await this.#ripening();
    await this.#beingPaid();
    await this.#beingExchanged();
    await this.#withExtra();
    await this.#reversed();
    await this.place('waiting', btc, usdt);
    for (const chain of [this.bitcoin, this.tron, this.ripple]) await this.scanned(chain);
    // The scanner has not seen this one.
    this.bitcoin.mine([this.transfer('ahead', this.order('waiting'), null, 3_000_000n)]);
  }

  /** Notes that the scanner stands at the head. */
  async scanned(chain: FakeChain): Promise<void> {
    const height = chain.blocks.length - 1;
    await this.sql(
      `insert into chain_state (chain, cursor_blocks, height, head, version) values ($1, $2, $3, $3, 1)
       on conflict (chain) do update
         set cursor_blocks = excluded.cursor_blocks, height = excluded.height, version = chain_state.version + 1`,
      [chain.chain, JSON.stringify(chain.cursor(height)), height],
    );
  }

  transfer(
    txid: string,
    { address, tag }: Pick<OrderRow, 'address' | 'tag'>,
    contract: string | null,
    amount: bigint,
  ): Transfer {
    return { key: `${txid}:0`, txid, address, tag, contract, amount };
  }

  async place(name: string, from: Asset, to: Asset, path: readonly string[] = []): Promise<OrderRow> {
    const index = ++this.#index;
    const keychain = places[from[1]].chain;
    const target =
      keychain === 'ripple'
        ? { address: 'r-shared', tag: String(index) }
        : { address: `${keychain}-${index}`, tag: null };
    const id = randomUUID();
    const order = { id, name: `${from[0]}-${name.toUpperCase().padEnd(6, 'X').slice(0, 6)}`, ...target };
    this.orders.set(name, order);
    const address = randomUUID();
    await this.sql('begin');
    await this.insert('deposit_address', {
      id: address,
      keychain,
      index,
      ...target,
      created_at: t0,
      leased_at: t0,
    });
    await this.insert('exchange_order', {
      id,
      short_id: order.name,
      partner_id: this.#partner,
      status: 'waiting_deposit',
      created_at: t0,
      expires_at: '2027-01-01T01:00:00Z',
      updated_at: t0,
      coin_from: from[0],
      network_from: from[1],
      coin_to: to[0],
      network_to: to[1],
      amount_from_expected: 1,
      amount_to_expected: 1,
      rate_type: 'fixed',
      rate_quoted: 1,
      fee_rate: 0.01,
      service_fee_quoted: 0,
      network_fee_quoted: 0,
      deposit_address_id: address,
      recipient_address: 'user',
      deposit_confirmations_required: 2,
    });
    const statuses = ['waiting_deposit', ...path];
    for (const [step, status] of statuses.entries()) {
      const seq = step + 1;
      const from_status = statuses[step - 1] ?? null;
      await this.insert('order_event', {
        order_id: id,
        seq,
        at: t0,
        from_status,
        to_status: status,
        cause: 'test',
        actor: 'system',
      });
      await this.sql('update exchange_order set status = $2, event_seq = $3 where id = $1', [id, status, seq]);
    }
    await this.sql('commit');
    return order;
  }

  /** A deposit in a new block of its chain; credited and booked unless it still ripens. */
  async deposit(
    order: OrderRow | null,
    asset: Asset,
    amount: string,
    state: 'credited' | 'mined' = 'credited',
  ): Promise<string> {
    const { chain, contract, decimals } = places[asset[1]];
    const id = randomUUID();
    const target = order ?? { address: 'r-shared', tag: '999' };
    const transfer = this.transfer(id, target, contract, toUnits(amount, decimals));
    const { height, hash } = this[chain].mine([transfer]);
    const isCredited = state === 'credited';
    await this.insert('deposit', {
      id,
      chain,
      key: transfer.key,
      order_id: order?.id ?? null,
      txid: id,
      address: target.address,
      tag: target.tag,
      contract,
      coin: asset[0],
      network: asset[1],
      amount,
      state,
      height,
      block_hash: hash,
      confirmations_required: 2,
      credits: isCredited ? 1 : 0,
      seen_at: t0,
      mined_at: t0,
      arrived_by: t0,
      credited_at: isCredited ? t0 : null,
    });
    if (order) {
      await this.sql('update exchange_order set deposit_id = coalesce(deposit_id, $2) where id = $1', [order.id, id]);
    }
    if (isCredited) {
      this[chain].mine();
      await this.book('deposit', `${chain}:${transfer.key}:${hash}`, order, [
        ['deposits', asset, amount],
        [order ? 'client' : 'suspense', asset, `-${amount}`],
      ]);
    }
    return id;
  }

  /** Amounts of the second asset: for the user, service fee, network fee, and what the venue gave. */
  async trade(
    order: OrderRow,
    [from, amountFrom]: readonly [Asset, string],
    [to, amountTo, fee, networkFee, bought]: readonly [Asset, string, string, string, string],
    state: 'intended' | 'filled' = 'filled',
  ): Promise<void> {
    await this.insert('trade', {
      order_id: order.id,
      venue: 'sandbox',
      state,
      coin_from: from[0],
      network_from: from[1],
      coin_to: to[0],
      network_to: to[1],
      amount_from: amountFrom,
      amount_to: amountTo,
      service_fee: fee,
      network_fee: networkFee,
      min_bought: 1,
      bought: state === 'filled' ? bought : null,
      created_at: t0,
    });
    await this.insert('sandbox_fill', {
      client_id: order.id,
      sell_coin: from[0],
      sell_amount: amountFrom,
      buy_coin: to[0],
      bought,
      at: t0,
    });
    if (state === 'intended') return;
    const agreed = new Big(amountTo).plus(fee).plus(networkFee);
    await this.book('trade', order.id, order, [
      ['client', from, amountFrom],
      ['venue', from, `-${amountFrom}`],
      ['venue', to, bought],
      ['client', to, `-${amountTo}`],
      ['service_fee', to, `-${fee}`],
      ['network_fee', to, `-${networkFee}`],
      ['trading', to, agreed.minus(bought).toFixed()],
    ]);
  }

  /** A payment; one that is confirmed is booked and has left the hot wallet, together with the chain's fee. */
  async payment(
    order: OrderRow,
    depositId: string,
    kind: 'payout' | 'refund',
    asset: Asset,
    amount: string,
    { state = 'confirmed', fee = '0' }: { state?: 'confirmed' | 'sent'; fee?: string } = {},
  ): Promise<string> {
    const { chain, contract, decimals, native, cost } = places[asset[1]];
    const id = randomUUID();
    const isOver = state === 'confirmed';
    await this.insert('payment', {
      id,
      kind,
      order_id: order.id,
      deposit_id: depositId,
      leg: 'main',
      chain,
      coin: asset[0],
      network: asset[1],
      contract,
      address: 'user',
      amount,
      fee_charged: fee,
      state,
      attempt: 1,
      next_action_at: isOver ? null : t0,
      created_at: t0,
      ended_at: isOver ? t0 : null,
    });
    await this.attempt(id, chain, 1, isOver ? 1 : null);
    if (!isOver) return id;
    await this.book('payment', id, order, [
      ['client', asset, new Big(amount).plus(fee).toFixed()],
      ['hot', asset, `-${amount}`],
      ['network_fee', asset, `-${fee}`],
      ['network_cost', native, cost],
      ['hot', native, `-${cost}`],
    ]);
    spend(this[chain], contract, toUnits(amount, decimals));
    spend(this[chain], null, toUnits(cost, decimals));
    return id;
  }

  /** A signed transaction of a payment. Attempts after the first are dead here: only one may live. */
  async attempt(payment: string, chain: string, number: number, minedHeight: number | null): Promise<string> {
    const txid = `${payment}-${number}`;
    await this.insert('payment_attempt', {
      payment_id: payment,
      attempt: number,
      chain,
      payload: 'payload',
      reserves: ['nonce:1'],
      fee: 0,
      txid,
      raw: 'raw',
      mined_height: minedHeight,
      prepared_at: t0,
      dead_at: number > 1 ? t0 : null,
      dead_why: number > 1 ? 'conflict' : null,
    });
    return txid;
  }

  async book(
    kind: string,
    reference: string,
    order: OrderRow | null,
    lines: readonly (readonly [account: string, asset: Asset, amount: string])[],
  ): Promise<void> {
    const id = randomUUID();
    await this.sql('begin');
    await this.insert('ledger_transaction', { id, kind, reference, order_id: order?.id ?? null, at: t0 });
    const kept = lines.filter(([, , amount]) => !new Big(amount).eq('0'));
    for (const [index, [account, [coin, network], amount]] of kept.entries()) {
      await this.insert('ledger_line', { transaction_id: id, line: index + 1, account, coin, network, amount });
    }
    await this.sql('commit');
  }

  #opening(chain: string, asset: Asset, amount: string): Promise<void> {
    return this.book('opening', `${chain}:${asset[0]}:1`, null, [
      ['hot', asset, amount],
      ['opening', asset, `-${amount}`],
    ]);
  }

  async #completed(): Promise<void> {
    const order = await this.place('done', btc, usdt, ['confirming', 'exchanging', 'sending', 'completed']);
    const id = await this.deposit(order, btc, '0.01');
    await this.trade(order, [btc, '0.01'], [usdt, '590', '6', '1.5', '598']);
    await this.payment(order, id, 'payout', usdt, '590');
  }

  async #refunded(): Promise<void> {
    const order = await this.place('back', usdt, btc, ['confirming', 'refunding', 'refunded']);
    const id = await this.deposit(order, usdt, '50');
    await this.payment(order, id, 'refund', usdt, '48.5', { fee: '1.5' });
  }

  async #withRemainder(): Promise<void> {
    const order = await this.place('remain', xrp, usdt, ['confirming', 'exchanging', 'sending', 'completed']);
    const id = await this.deposit(order, xrp, '100.1');
    await this.trade(order, [xrp, '100'], [usdt, '190', '2', '1.5', '193']);
    await this.payment(order, id, 'payout', usdt, '190');
    await this.book('unclaimed', id, order, [
      ['client', xrp, '0.1'],
      ['unclaimed', xrp, '-0.1'],
    ]);
  }

  async #stranger(): Promise<void> {
    await this.deposit(null, xrp, '7');
  }

  async #ripening(): Promise<void> {
    const order = await this.place('ripens', xrp, btc, ['confirming']);
    await this.deposit(order, xrp, '42', 'mined');
  }

  /** Mined and not final: 20 USDT and 5 TRX have left and are not booked. */
  async #beingPaid(): Promise<void> {
    const order = await this.place('paying', btc, usdt, ['confirming', 'exchanging', 'sending']);
    const id = await this.deposit(order, btc, '0.001');
    await this.trade(order, [btc, '0.001'], [usdt, '20', '1', '1.5', '22.4']);
    const payment = await this.payment(order, id, 'payout', usdt, '20', { state: 'sent' });
    const mined = {
      state: 'mined',
      height: 1,
      confirmations: 1,
      success: true,
      fee: 5_000_000n,
      final: false,
    } as const;
    this.tron.statuses.set(`${payment}-1`, mined);
    spend(this.tron, usdtContract, 20_000_000n);
    spend(this.tron, null, 5_000_000n);
  }

  /** The venue has filled the trade, and the answer is not recorded. */
  async #beingExchanged(): Promise<void> {
    const order = await this.place('trades', btc, usdt, ['confirming', 'exchanging']);
    await this.deposit(order, btc, '0.002');
    await this.trade(order, [btc, '0.002'], [usdt, '110', '1', '1.5', '113'], 'intended');
  }

  /** A completed order with a second deposit that nobody has sent back yet. */
  async #withExtra(): Promise<void> {
    const order = await this.place('extra', btc, usdt, ['confirming', 'exchanging', 'sending', 'completed']);
    const id = await this.deposit(order, btc, '0.003');
    await this.deposit(order, btc, '0.004');
    await this.trade(order, [btc, '0.003'], [usdt, '170', '2', '1.5', '173.5']);
    await this.payment(order, id, 'payout', usdt, '170');
  }

  /** A deposit that was credited, and whose block is gone. */
  async #reversed(): Promise<void> {
    const order = await this.place('lost', btc, usdt, ['confirming']);
    const id = await this.deposit(order, btc, '0.5');
    const block = this.bitcoin.blocks.at(-2);
    block?.transfers.splice(0);
    await this.sql(`update deposit set state = 'orphaned', height = null, block_hash = null where id = $1`, [id]);
    await this.book('deposit_reversal', `bitcoin:${id}:0:${block?.ref.hash}`, order, [
      ['deposits', btc, '-0.5'],
      ['client', btc, '0.5'],
    ]);
  }
}

function spend(chain: FakeChain, contract: string | null, units: bigint): void {
  chain.hot.set(contract, (chain.hot.get(contract) ?? 0n) - units);
}

describe('reconcile', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let orm: MikroORM;
  let db: Client;
  let world: World;

  beforeEach(async () => {
    database = await createDatabase();
    orm = await createOrm({ url: database.url, poolSize: 2 });
    db = new Client({ connectionString: database.url });
    await db.connect();
    world = new World(db);
    await world.build();
  });
  afterEach(async () => {
    await db?.end();
    await orm?.close(true);
    await database?.drop();
  });

  const run = () => reconcile({ orm, adapters: world.adapters });

  /** The differing rows as 'check subject difference'. */
  async function found(): Promise<string[]> {
    return differing(await run());
  }

  function differing({ rows, differences }: ReconcileReport): string[] {
    const shown = rows.filter(({ difference }) => difference !== '0');
    expect(differences).toBe(shown.length);
    return shown.map(({ check, subject, difference }) => `${check}: ${subject}: ${difference}`);
  }

  it('finds nothing in a clean book, whatever is under way', async () => {
    const report = await run();
    expect(differing(report)).toEqual([]);
    const row = (check: string, subject: string) =>
      report.rows.find((one) => one.check === check && one.subject === subject);
    expect(row('deposits', 'BTC on BTC')).toMatchObject({ expected: '0.05', actual: '0.02', in_flight: '0.03' });
    expect(row('deposits', 'XRP on XRP')).toMatchObject({ expected: '149.1', actual: '107.1', in_flight: '42' });
    expect(row('hot', 'USDT on TRC20')).toMatchObject({ expected: '8981.5', actual: '9001.5', in_flight: '-20' });
    expect(row('hot', 'TRX on TRX')).toMatchObject({ expected: '475', actual: '480', in_flight: '-5' });
    expect(row('venue', 'BTC')).toMatchObject({ expected: '-0.016', actual: '-0.014', in_flight: '-0.002' });
    expect(row('accounts', 'unclaimed, XRP on XRP')).toMatchObject({ expected: '-0.1', actual: '-0.1' });
    expect(report.checked).toMatchObject({ histories: 9, addresses: 9, payments: 5, rest: 4, trades: 4, chain: 3 });
  });

  it('counts what an unseen reorganisation took away as in flight', async () => {
    const { bitcoin } = world;
    const lost = bitcoin.blocks.findLast(({ transfers }) => transfers.some(({ amount }) => amount === 400_000n));
    const at = lost?.ref.height ?? 0;
    const again = bitcoin.blocks.slice(at);
    bitcoin.blocks = bitcoin.blocks.slice(0, at);
    for (const _ of again) bitcoin.mine([], '-other');
    expect(await found()).toEqual([]);
    bitcoin.mine(lost?.transfers);
    expect(await found()).toEqual([]);
  });

  it('reads a chain again that moved on under the reading', async () => {
    const { tron } = world;
    let calls = 0;
    tron.onBalances = () => {
      if (++calls === 2) tron.mine([world.transfer('late', world.order('back'), usdtContract, 5_000_000n)]);
    };
    expect(await found()).toEqual([]);
  });

  it('begins where the scanner would when it has not begun', async () => {
    await world.sql(`update chain_state set cursor_blocks = '[]', height = 0 where chain = 'tron'`);
    expect(await found()).toEqual([]);
  });

  const findings: [what: string, corrupt: (world: World) => Promise<void> | void, differences: string[]][] = [
    [
      'a deposit that the scanner missed',
      (w) => w.bitcoin.blocks[1]?.transfers.push(w.transfer('missed', w.order('waiting'), null, 1_000_000n)) as never,
      ['deposits: BTC on BTC: 0.01'],
    ],
    [
      'a ripe deposit that nobody credited',
      async (w) => {
        w.ripple.mine();
        await w.scanned(w.ripple);
      },
      ['deposits: XRP on XRP: 42'],
    ],
    [
      'a deposit that is not on its chain',
      async (w) => {
        const order = w.order('waiting');
        await w.deposit(order, usdt, '9');
        w.tron.blocks.at(-2)?.transfers.splice(0);
        await w.scanned(w.tron);
      },
      ['deposits: USDT on TRC20: -9'],
    ],
    ['an outflow that nobody booked', (w) => spend(w.tron, usdtContract, 33_000_000n), ['hot: USDT on TRC20: -33']],
    [
      'a payment that succeeded twice',
      async (w) => {
        const [first] = [...w.tron.statuses.entries()];
        const payment = first?.[0].slice(0, -2) ?? '';
        const txid = await w.attempt(payment, 'tron', 2, null);
        if (first) w.tron.statuses.set(txid, first[1]);
        spend(w.tron, usdtContract, 20_000_000n);
        spend(w.tron, null, 5_000_000n);
      },
      ['hot: TRX on TRX: -5', 'hot: USDT on TRC20: -20', 'payments: payment * on tron: 1'],
    ],
    [
      'a chain that does not answer',
      (w) => {
        w.ripple.isAway = true;
      },
      ['chain: ripple: 1'],
    ],
    [
      'balances of a chain that nobody was asked about',
      (w) => void w.adapters.delete('ripple'),
      ['deposits: XRP on XRP, which no chain was asked about: -107.1'],
    ],
    [
      "a client's balance that is off",
      (w) =>
        w.book('deposit', 'tron:nothing', w.order('paying'), [
          ['client', usdt, '-1'],
          ['trading', usdt, '1'],
        ]),
      ['clients: USDT on TRC20: 1', 'clients: BTC-PAYING, USDT on TRC20: 1', 'accounts: trading, USDT on TRC20: -1'],
    ],
    [
      'balances of two clients that are off by the same',
      async (w) => {
        await w.book('deposit', 'a', w.order('paying'), [
          ['client', usdt, '-1'],
          ['opening', usdt, '1'],
        ]);
        await w.book('deposit', 'b', w.order('back'), [
          ['client', usdt, '1'],
          ['opening', usdt, '-1'],
        ]);
      },
      [
        'clients: BTC-PAYING, USDT on TRC20: 1',
        'clients: USDT-BACKXX, USDT on TRC20: -1',
        'debits: USDT-BACKXX, USDT on TRC20: -1',
        'rest: USDT-BACKXX, USDT on TRC20: -1',
      ],
    ],
    [
      'a trade without lines in the book',
      (w) =>
        w.corrupt(
          `with gone as (delete from ledger_transaction where kind = 'trade' and reference = $1 returning id)
           delete from ledger_line where transaction_id in (select id from gone)`,
          [w.order('paying').id],
        ),
      [
        'clients: BTC on BTC: 0.001',
        'clients: USDT on TRC20: -20',
        'clients: BTC-PAYING, BTC on BTC: 0.001',
        'clients: BTC-PAYING, USDT on TRC20: -20',
        'accounts: network_fee, USDT on TRC20: -1.5',
        'accounts: service_fee, USDT on TRC20: -1',
        'accounts: trading, USDT on TRC20: 0.1',
        'venue: BTC: -0.001',
        'venue: USDT: 22.4',
      ],
    ],
    [
      'a completed order whose payout was never made',
      (w) =>
        w.corrupt(
          `with gone as (delete from payment where order_id = $1 returning id),
                booked as (delete from ledger_transaction where reference in (select id::text from gone) returning id)
           delete from ledger_line where transaction_id in (select id from booked)`,
          [w.order('done').id],
        ),
      ['hot: TRX on TRX: -5', 'hot: USDT on TRC20: -590', 'rest: BTC-DONEXX, USDT on TRC20: 590'],
    ],
    [
      'a fill that is not what the rows say',
      (w) => w.sql(`update sandbox_fill set bought = 597 where client_id = $1`, [w.order('done').id]),
      ['venue: USDT: -1', 'trades: BTC-DONEXX, USDT: -1'],
    ],
    [
      'a fill that no trade asked for',
      (w) => w.sql(`insert into sandbox_fill values ('nobody', 'BTC', 1, 'USDT', 60000, now())`),
      ['venue: BTC: -1', 'venue: USDT: 60000', 'trades: nobody, BTC: -1', 'trades: nobody, USDT: 60000'],
    ],
    [
      'a fill of a trade that was given up',
      (w) => w.sql(`update trade set state = 'abandoned' where order_id = $1`, [w.order('trades').id]),
      ['venue: BTC: -0.002', 'venue: USDT: 113', 'trades: BTC-TRADES, BTC: -0.002', 'trades: BTC-TRADES, USDT: 113'],
    ],
    [
      'a fee that was changed',
      (w) => w.sql('update trade set service_fee = service_fee + 1 where order_id = $1', [w.order('done').id]),
      ['accounts: service_fee, USDT on TRC20: -1', 'accounts: trading, USDT on TRC20: 1'],
    ],
    [
      "a stranger's deposit that is not in suspense",
      (w) =>
        w.book('deposit', 'gone', null, [
          ['suspense', xrp, '7'],
          ['opening', xrp, '-7'],
        ]),
      ['accounts: suspense, XRP on XRP: -7'],
    ],
    [
      'a transaction that does not sum to zero',
      (w) =>
        w.corrupt(
          `insert into ledger_line select id, 9, 'opening', 'BTC', 'BTC', 1 from ledger_transaction where kind = 'trade' and reference = $1`,
          [w.order('done').id],
        ),
      ['book: BTC on BTC: -1', 'book: trade *, BTC on BTC: -1'],
    ],
    [
      'an event that is missing',
      (w) => w.corrupt('delete from order_event where order_id = $1 and seq = 3', [w.order('done').id]),
      ['histories: BTC-DONEXX, events: 1'],
    ],
    [
      'an order that stands elsewhere',
      (w) => w.corrupt(`update exchange_order set status = 'failed' where id = $1`, [w.order('paying').id]),
      ['histories: BTC-PAYING, status: 1'],
    ],
    [
      'a step that no order takes',
      async (w) => {
        const { id } = w.order('waiting');
        await w.corrupt(`insert into order_event values ($1, 2, now(), 'waiting_deposit', 'completed', 'x', 'x')`, [
          id,
        ]);
        await w.corrupt(`update exchange_order set status = 'completed', event_seq = 2 where id = $1`, [id]);
      },
      ['histories: BTC-WAITIN, events: 1'],
    ],
    [
      'two orders with one deposit address',
      async (w) => {
        await w.sql('alter table exchange_order drop constraint exchange_order_deposit_address_id_key');
        await w.sql(
          `update exchange_order set deposit_address_id =
             (select deposit_address_id from exchange_order where id = $1) where id = $2`,
          [w.order('waiting').id, w.order('trades').id],
        );
      },
      ['addresses: BTC-TRADES, deposit address: 1', 'addresses: BTC-WAITIN, deposit address: 1'],
    ],
    [
      'a confirmed payment that no attempt made',
      (w) =>
        w.corrupt(
          `update payment_attempt set mined_height = null where payment_id in (select id from payment where order_id = $1)`,
          [w.order('done').id],
        ),
      ['payments: payment *, confirmed: 1'],
    ],
    [
      'a leg that was paid twice',
      async (w) => {
        await w.sql('drop index payment_once');
        await w.payment(w.order('back'), await w.depositOf('back'), 'refund', usdt, '48.5', { fee: '1.5' });
      },
      [
        'debits: USDT-BACKXX, USDT on TRC20: -50',
        'rest: USDT-BACKXX, USDT on TRC20: -50',
        'payments: deposit *, main: 1',
      ],
    ],
  ];

  it.each(findings)('finds %s', async (_what, corrupt, differences) => {
    await corrupt(world);
    const shown = (await found()).map((row) => row.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, '*'));
    expect(shown).toEqual(differences);
  });

  it('takes the fills of another venue', async () => {
    const { rows } = await db.query(
      `select client_id as "clientId", sell_coin as "sellCoin", sell_amount as "sellAmount", buy_coin as "buyCoin",
              bought from sandbox_fill`,
    );
    await world.sql('delete from sandbox_fill');
    expect(differing(await reconcile({ orm, adapters: world.adapters, venueFills: rows }))).toEqual([]);
    const differences = differing(await reconcile({ orm, adapters: world.adapters, venueFills: rows.slice(1) }));
    expect(differences).toContain('trades: BTC-DONEXX, USDT: -598');
  });

  it('is shown as a table of what there is to see', async () => {
    expect(renderReport(await run())).toMatch(/^check +subject +expected +actual +in flight +difference\n/);
    spend(world.tron, usdtContract, 33_000_000n);
    const text = renderReport(await run());
    expect(text).toMatch(/\nhot +USDT on TRC20 +8948\.5 +9001\.5 +-20 +-33\n/);
    expect(text).not.toMatch(/USDC/);
    expect(text).toMatch(/\nreconcile: \d+ checks, 1 differences$/);
  });

  it('lists the balances of the book', async () => {
    expect(await ledgerBalances(orm)).toContainEqual({
      account: 'hot',
      coin: 'USDT',
      network: 'TRC20',
      balance: '9001.5',
    });
  });

  describe('on the command line', () => {
    async function cli(...args: string[]): Promise<{ out: string; code: typeof process.exitCode }> {
      const before = process.exitCode;
      const written: string[] = [];
      const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
        written.push(String(text));
        return true;
      });
      try {
        const program = new Command();
        ledgerCommands(program, (command) => command({ orm, adapters: world.adapters }));
        await program.parseAsync(['ledger', ...args], { from: 'user' });
        return { out: written.join(''), code: process.exitCode };
      } finally {
        write.mockRestore();
        process.exitCode = before ?? 0;
      }
    }

    it('prints a table or one JSON object and fails on a difference', async () => {
      const clean = await cli('reconcile');
      expect([clean.out.trimEnd().split('\n').at(-1), clean.code ?? 0]).toEqual([
        expect.stringMatching(/^reconcile: \d+ checks, 0 differences$/),
        0,
      ]);
      spend(world.tron, usdtContract, 1n);
      const bad = await cli('reconcile', '--json');
      expect([JSON.parse(bad.out).differences, bad.code]).toEqual([1, 1]);
      expect((await cli('balances')).out).toMatch(/^account +coin +network +balance\n/);
      expect(JSON.parse((await cli('balances', '--json')).out).balances[0]).toMatchObject({ account: 'client' });
    });
  });
});
