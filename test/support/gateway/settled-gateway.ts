import type { Settlement } from '../../../src/app/open-settlement.ts';
import { createOrm } from '../../../src/app/orm.ts';
import type { OutsideWorld } from '../../../src/app/outside-world.ts';
import { toUnits } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { networkById } from '../../../src/chains/networks/networks.ts';
import { unreadChain } from '../../../src/ledger/reconcile/chains.ts';
import { type ReconcileRow, reconcile } from '../../../src/ledger/reconcile.ts';
import { Reconciliations } from '../../../src/ledger/reconciliations.ts';
import { query } from '../database/database.ts';
import type { Reply } from '../http/contract-client.ts';
import { TestClock } from './clock.ts';
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway.ts';
import { causesOf, isAtRest, orderBody, type Rows } from './orders.ts';

/** What a test knows of an order it made. */
export interface MadeOrder {
  readonly id: string;
  readonly depositAddress: string;
  readonly depositTag: string | null;
  readonly amountFrom: string;
  readonly amountTo: string;
  readonly networkFrom: string;
  readonly networkTo: string;
  readonly coinFrom: string;
}

/** A gateway whose settlement moves only when the test says so, on a separate clock. */
export interface SettledGateway extends TestGateway {
  readonly clock: TestClock;
  readonly settlement: Settlement;
  readonly key: string;
  /** @param by the key that creates it; `key` unless given. */
  order(changes?: Record<string, unknown>, by?: string): Promise<MadeOrder>;
  /** Sends coins to the order's deposit address; the txid. */
  deposit(
    order: MadeOrder,
    changes?: { amount?: string; tag?: string | null; coin?: string; network?: string },
  ): Promise<string>;
  mine(network: string, blocks?: number): Promise<void>;
  reorg(network: string, depth: number, keep?: boolean): Promise<void>;
  /** Everything that is due. */
  tick(): Promise<void>;
  /** Ticks and mines both chains of the order until it rests. */
  settle(order: MadeOrder): Promise<void>;
  show(order: MadeOrder): Promise<Reply['json']>;
  /** Causes of the order's moves, in order. */
  history(order: MadeOrder): Promise<string[]>;
  /**
   * Where the book does not agree with the chains, the venue or itself.
   *
   * @param chains the chains to read; all unless given. Each takes a while.
   */
  differences(chains?: readonly string[]): Promise<ReconcileRow[]>;
  readonly query: Rows;
  /** What a worker reconciles with by the clock, once an hour. */
  reconciliations(): Reconciliations;
}

export async function startSettledGateway(
  options: TestGatewayOptions & { clock?: TestClock; key?: string } = {},
): Promise<SettledGateway> {
  const clock = options.clock ?? new TestClock();
  const outside: OutsideWorld = { clock, background: false, ...options.outside };
  const gateway = await startGateway({
    ...options,
    settings: { PRICE_MAX_AGE_SEC: '86400', ...options.settings },
    outside,
  });
  const { settlement } = gateway.app;
  if (!settlement) throw new Error('this gateway does not settle');
  const key = options.key ?? (await gateway.partner()).key;
  const chainOf = (network: string): string => networkById(network)?.chain ?? '';
  const rows: Rows = (sql, values) => query(gateway.databaseUrl, sql, values);
  const tick = (): Promise<void> => settlement.worker.tick();
  const mine = (network: string, blocks = 1): Promise<void> => settlement.sandbox.mine(chainOf(network), blocks);
  return {
    ...gateway,
    clock,
    settlement,
    key,
    tick,
    mine,
    reorg: (network, depth, keep = true) => settlement.sandbox.reorg(chainOf(network), depth, { keep }),
    query: rows,
    order: async (changes = {}, by = key) => {
      const body = orderBody({ refund_address: addressExample(String(changes.network_from ?? 'BTC')), ...changes });
      const { status, text, json } = await gateway.call('POST', '/partner/orders', { key: by, body });
      if (status !== 201) throw new Error(text);
      const [row] = await rows<{ amount_from: string; amount_to: string }>(
        `select trim_scale(amount_from_expected)::text as amount_from, trim_scale(amount_to_expected)::text as amount_to
           from exchange_order where id = $1`,
        [json.id],
      );
      return {
        id: json.id,
        depositAddress: json.deposit_address,
        depositTag: json.deposit_address_tag,
        amountFrom: row?.amount_from ?? '',
        amountTo: row?.amount_to ?? '',
        coinFrom: json.coin_from,
        networkFrom: json.network_from,
        networkTo: json.network_to,
      };
    },
    deposit: async (order, changes = {}) => {
      const coin = changes.coin ?? order.coinFrom;
      const network = changes.network ?? order.networkFrom;
      const currency = gateway.app.catalogue.find(coin, network);
      if (!currency) throw new Error(`no ${coin} on ${network}`);
      return settlement.sandbox.pay(chainOf(network), {
        to: order.depositAddress,
        tag: changes.tag === undefined ? order.depositTag : changes.tag,
        contract: currency.contract,
        amount: toUnits(changes.amount ?? order.amountFrom, currency.decimals),
        busyBlocks: 10,
      });
    },
    settle: async (order) => {
      for (let round = 0; round < 40; round++) {
        await tick();
        if (await isAtRest(rows, order.id)) return;
        for (const network of new Set([order.networkFrom, order.networkTo])) await mine(network);
        clock.advance(1000);
      }
    },
    show: async (order) => (await gateway.call('GET', `/partner/orders/${order.id}`, { key })).json,
    reconciliations: () =>
      new Reconciliations({
        orm: gateway.app.orm,
        openReconcileOrm: () => createOrm({ url: gateway.databaseUrl, poolSize: 2 }),
        clock,
        log: gateway.app.log,
        adapters: settlement.adapters,
        everySec: 3_600,
      }),
    history: (order) => causesOf(rows, order.id),
    differences: async (chains) => {
      const read = [...settlement.adapters].filter(([chain]) => chains?.includes(chain) ?? true);
      const found = await reconcile({ orm: gateway.app.orm, adapters: new Map(read), clock });
      const isRead = ({ subject }: ReconcileRow) => chains === undefined || !subject.endsWith(unreadChain);
      return found.rows.filter((row) => row.difference !== '0' && isRead(row));
    },
  };
}

/** Ends the window of an order a moment later than now. */
export async function endWindow({ clock, query: rows }: SettledGateway, { id }: MadeOrder): Promise<void> {
  clock.advance(1);
  await rows('update exchange_order set expires_at = $2, next_action_at = $2 where id = $1', [id, clock.now()]);
}

/** Makes an order that has failed: its deposit came late, and it has no refund address. */
export async function failedOrder(gateway: SettledGateway): Promise<MadeOrder> {
  const order = await gateway.order({ refund_address: undefined });
  await endWindow(gateway, order);
  await gateway.tick();
  gateway.clock.advance(1);
  await gateway.deposit(order);
  await gateway.settle(order);
  await gateway.mine(order.networkFrom, 2);
  await gateway.settle(order);
  const { status } = await gateway.show(order);
  if (status !== 'failed') throw new Error(`the order is ${status}`);
  return order;
}
