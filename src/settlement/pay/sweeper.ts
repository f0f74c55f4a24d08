import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import { Big, formatDecimal, fromUnits, isStorable, toUnits } from '../../base/money.ts';
import { type ChainAdapter, ChainError } from '../../chains/port/chain-adapter.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import type { Payment, PaymentKind } from '../rows/payment.entity.ts';
import { persistPayment } from '../rules/payments.ts';
import { secondsAfter } from '../rules/settling.ts';
import type { InternalTransfers } from '../scan/internal-transfers.ts';
import { type ChainLease, guardLease } from '../turns/chain-lease.ts';
import type { ChainTask } from '../turns/chain-task.ts';
import { forgetEndedRefusals, forgetRefusedSweeps, noteRefusedSweep, pausedSweeps } from './sweep-refusals.ts';

/** Smallest amount to sweep, by coin, in the coin's units. Other coins are not swept. */
export type SweepFrom = ReadonlyMap<string, string>;

export interface SweeperOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly catalogue: CurrencyCatalogue;
  /** Finds coins on an address that no deposit explains. */
  readonly transfers: Pick<InternalTransfers, 'compare'>;
  /** By chain. */
  readonly sweepFrom: ReadonlyMap<string, SweepFrom>;
}

/** Addresses that one run reads. */
const maxAddresses = 50;
/**
 * Outputs in one transaction. Their keys form one row of the index that lets each be swept once at
 * a time. A row of an index has at most 2,704 bytes, which 35 keys fill.
 */
const maxOutputs = 32;
/** Multiple of the lacking gas that an address receives, because fees may rise until the sweep. */
const gasMargin = 2n;
/**
 * A sweep of the chain's own coin, and each of its outputs, must be worth this multiple of its
 * cost.
 */
const leastWorth = 2n;
/** Seconds in which the scanner marks the outputs of a confirmed sweep as spent. */
const confirmedSec = 3_600;

interface Asset {
  readonly coin: string;
  readonly network: string;
  readonly contract: string | null;
}

/** An output of a deposit. Its amount is in smallest units. */
interface SweptOutput {
  readonly id: string;
  readonly key: string;
  readonly amount: string;
  /** How many outputs of the deposit are left. */
  readonly outputs: number;
}

/** Credited coins of one asset on one address. */
interface Candidate extends Asset {
  readonly address: string;
  /** Whether its last sweep was refused. */
  readonly isRefused: boolean;
}

/**
 * Moves the coins of orders from deposit addresses to the hot wallet, by payments that settle no
 * deposit. Amounts below their fee stay. Only credited deposits are swept, and only balances in a
 * final block.
 */
export class Sweeper implements ChainTask {
  readonly everySec = 30;
  readonly #options: SweeperOptions;
  /**
   * By account-based chain: the last candidate of the last run. Null when the next run starts from
   * the beginning.
   */
  readonly #last = new Map<string, Candidate | null>();

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  /** Decides the sweeps of a chain. The payment worker makes them. */
  async run(adapter: ChainAdapter, lease: ChainLease, hasTime: () => boolean): Promise<'more' | undefined> {
    const from = this.#options.sweepFrom.get(adapter.chain);
    await forgetEndedRefusals(this.#options.orm.em.fork(), adapter, [...(from?.keys() ?? [])]);
    // Where the wallet pays from its deposits, nothing has to move.
    if (from === undefined || adapter.traits.paysFromDeposits) return;
    if (adapter.traits.ledger === 'accounts') return this.#sweepAccounts(adapter, lease, from, hasTime);
    await this.#sweepOutputs(adapter, lease, from);
  }

  /**
   * Decides a sweep of outputs. All must be final, because one vanished output would keep the whole
   * transaction from ever being confirmed. A deposit of several outputs may take several sweeps.
   */
  async #sweepOutputs(adapter: ChainAdapter, lease: ChainLease, from: SweepFrom): Promise<void> {
    const { orm, clock, catalogue } = this.#options;
    const gas = catalogue.gasCoin(adapter.chain);
    const least = from.get(gas.coin);
    if (least === undefined) return;
    const now = clock.now();
    const rows = await sql<SweptOutput>(
      orm.em.fork(),
      `with busy as (
         select unnest(sources) as key from payment
          where chain = ? and kind = 'sweep'
            and (state not in ('confirmed', 'dead') or state = 'confirmed' and ended_at > ?)
         union all
         select source from ${pausedSweeps} and chain = ?)
       select d.id, o.key, o.amount::text as amount, (count(*) over (partition by d.id))::int as outputs
         from deposit d
        cross join lateral (select d.key union select p.key from deposit_part p where p.deposit_id = d.id) as its (key)
         join own_output o on o.chain = d.chain and o.key = its.key and o.spent_txid is null
         join chain_state s on s.chain = d.chain and s.height - o.height + 1 >= ?
        where d.chain = ? and d.state = 'credited' and d.swept_by is null and d.purpose = 'order'
          and o.key not in (select key from busy)
        order by o.amount desc limit ?`,
      [
        adapter.chain,
        secondsAfter(now, -confirmedSec),
        now,
        adapter.chain,
        adapter.finalityDepth,
        adapter.chain,
        maxOutputs,
      ],
    );
    const leastUnits = toUnits(least, gas.decimals);
    const total = totalOf(rows);
    if (total === 0n || total < leastUnits) return;
    const asset = { coin: gas.coin, network: gas.network, contract: null };
    const sources = rows.map(({ key }) => key);
    await this.#unlessRefused(lease, { ...asset, sources }, () =>
      this.#sweepRows(adapter, lease, { asset, rows, leastUnits }),
    );
  }

  /** Decides the sweep of those outputs that are worth it. Returns false when there is none. */
  async #sweepRows(
    adapter: ChainAdapter,
    lease: ChainLease,
    { asset, rows, leastUnits }: { asset: Asset; rows: readonly SweptOutput[]; leastUnits: bigint },
  ): Promise<boolean> {
    const { address } = await adapter.hotWallet();
    const from = rows.map(({ key }) => key);
    const intent = { id: uuidv7(), attempt: 1, from, contract: null, to: address, tag: null, amount: totalOf(rows) };
    const { fee, perSource } = (await adapter.sweepCost?.(intent)) ?? { fee: 0n, perSource: 0n };
    const worth = rows.filter((row) => BigInt(row.amount) >= leastWorth * perSource);
    const amount = totalOf(worth);
    const cost = fee - perSource * BigInt(rows.length - worth.length);
    if (amount === 0n || amount < leastUnits || amount < leastWorth * cost) return false;
    await this.#decide(lease, {
      kind: 'sweep',
      asset,
      address,
      sources: worth.map(({ key }) => key).sort(),
      amount: fromUnits(amount, this.#options.catalogue.gasCoin(adapter.chain).decimals),
      deposits: sweptWhole(worth),
    });
    return true;
  }

  /** At least one address is taken. The next run goes on behind the last one. */
  async #sweepAccounts(
    adapter: ChainAdapter,
    lease: ChainLease,
    from: SweepFrom,
    hasTime: () => boolean,
  ): Promise<'more' | undefined> {
    let last: Candidate | undefined;
    for (const candidate of await this.#candidates(adapter.chain, from)) {
      if (last && !hasTime()) {
        this.#last.set(adapter.chain, last);
        return 'more';
      }
      last = candidate;
      // An address that cannot be swept now does not block the others.
      const refused = { ...assetOf(candidate), sources: [candidate.address], isKnown: candidate.isRefused };
      await this.#unlessRefused(lease, refused, () => this.#sweepAddress(adapter, lease, candidate, from));
    }
  }

  /**
   * Reads addresses with enough credited coins and no unfinished movement. Tokens come before the
   * coin that pays for them. Each run continues after the last one, and starts again at the end.
   */
  async #candidates(chain: string, from: SweepFrom): Promise<Candidate[]> {
    const { orm, clock } = this.#options;
    const last = this.#last.get(chain) ?? null;
    const rows = await sql<Candidate>(
      orm.em.fork(),
      `select d.address, d.coin, d.network, d.contract,
              exists (select from sweep_refusal r
                       where r.chain = ? and r.source = d.address and r.contract is not distinct from d.contract) as "isRefused"
         from deposit d join jsonb_each_text(?::jsonb) as least (coin, amount) on least.coin = d.coin
        where d.chain = ? and d.state = 'credited' and d.swept_by is null and d.purpose = 'order' and d.tag is null
          and (?::text is null or (d.contract is null, d.address, d.coin) > (?::boolean, ?, ?))
          and not exists (select 1 from deposit m where m.chain = d.chain and m.address = d.address and m.state = 'mined')
          and not exists (select 1 from payment p
                           where p.chain = d.chain and p.state not in ('confirmed', 'dead')
                             and (p.sources @> array[d.address] or (p.kind = 'gas' and p.address = d.address)))
          and not exists (select from ${pausedSweeps} and r.chain = d.chain and r.source = d.address
                             and r.contract is not distinct from d.contract)
        group by d.address, d.coin, d.network, d.contract, least.amount
       having sum(d.amount) >= least.amount::numeric
        order by d.contract is null, d.address, d.coin limit ?`,
      [
        chain,
        JSON.stringify(Object.fromEntries(from)),
        chain,
        last?.address ?? null,
        last?.contract === null,
        last?.address ?? null,
        last?.coin ?? null,
        clock.now(),
        maxAddresses,
      ],
    );
    this.#last.set(chain, rows.length < maxAddresses ? null : (rows.at(-1) ?? null));
    return rows;
  }

  /** Decides the next movement of an address. Returns false when there is none. */
  async #sweepAddress(adapter: ChainAdapter, lease: ChainLease, one: Candidate, from: SweepFrom): Promise<boolean> {
    const { orm, catalogue, transfers } = this.#options;
    const { address, contract, coin, network } = one;
    const gas = catalogue.gasCoin(adapter.chain);
    const decimals = contract === null ? gas.decimals : catalogue.find(coin, network)?.decimals;
    if (decimals === undefined || !adapter.finalBalances) return false;
    const { block, amounts } = await adapter.finalBalances([address], contract);
    const amount = amounts[0] ?? 0n;
    if (amount < toUnits(from.get(coin) ?? '0', decimals) || amount === 0n) return false;
    // The balance includes transfers that were left out.
    if (!isStorable(new Big(fromUnits(amount, decimals)))) return false;
    const hot = await adapter.hotWallet();
    const rows = await sql<{ id: string }>(
      orm.em.fork(),
      `select id from deposit where chain = ? and address = ? and contract is not distinct from ?
          and state = 'credited' and swept_by is null and height <= ?`,
      [adapter.chain, address, contract, block.height],
    );
    // Unexplained coins become a deposit first, so that the ledger holds everything that is swept.
    if (contract === null && (await transfers.compare(adapter, lease, { block, addresses: [address], amounts })))
      return false;
    const id = uuidv7();
    const intent = { id, attempt: 1, from: [address], contract, to: hot.address, tag: null, amount };
    const cost = (await adapter.sweepCost?.(intent)) ?? { fee: 0n, perSource: 0n, lacking: 0n };
    const { fee, lacking, hasMargin = false } = cost;
    if (contract === null && amount < leastWorth * fee) return false;
    if (lacking > 0n) {
      await this.#decide(lease, {
        kind: 'gas',
        asset: { coin: gas.coin, network: gas.network, contract: null },
        address,
        sources: null,
        amount: fromUnits(hasMargin ? lacking : lacking * gasMargin, gas.decimals),
        deposits: [],
      });
      return true;
    }
    await this.#decide(lease, {
      kind: 'sweep',
      asset: assetOf(one),
      address: hot.address,
      sources: [address],
      amount: fromUnits(amount, decimals),
      deposits: rows.map((row) => row.id),
    });
    return true;
  }

  /**
   * Runs a sweep. One that the chain refuses, such as while fees are above the maximum or a token
   * blocks the address, is recorded, and is tried again after a pause that grows. A failure of a
   * node leaves it to the next run. A sweep that is possible and not wanted ends the record.
   */
  async #unlessRefused(
    lease: ChainLease,
    { isKnown = true, ...its }: Asset & { readonly sources: readonly string[]; readonly isKnown?: boolean },
    sweep: () => Promise<boolean>,
  ): Promise<void> {
    const { orm, clock } = this.#options;
    const { chain } = lease;
    try {
      const isDecided = await sweep();
      if (!isDecided && isKnown) await forgetRefusedSweeps(orm.em.fork(), { chain, ...its });
    } catch (error) {
      if (!(error instanceof ChainError) || error.code === 'unreachable') throw error;
      if (!error.isOfChain) return;
      await orm.em.fork().transactional(async (em) => {
        await guardLease(em, lease);
        await noteRefusedSweep(em, { chain, ...its, problem: error.code }, clock.now());
      });
    }
  }

  /** Writes a movement between our own addresses. */
  async #decide(lease: ChainLease, movement: Movement): Promise<void> {
    const { orm, clock } = this.#options;
    await orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      const payment = createMovement(em, lease.chain, movement, clock.now());
      await em.flush();
      const { deposits } = movement;
      if (deposits.length === 0) return;
      await sql(
        em,
        `update deposit set swept_by = ?
          where id in (select jsonb_array_elements_text(?::jsonb)::uuid) and state = 'credited' and swept_by is null`,
        [payment.id, JSON.stringify(deposits)],
      );
    });
  }
}

interface Movement {
  readonly kind: Extract<PaymentKind, 'sweep' | 'gas'>;
  readonly asset: Asset;
  readonly address: string;
  readonly sources: readonly string[] | null;
  /** Decimal text in the coin's units. */
  readonly amount: string;
  readonly deposits: readonly string[];
}

function createMovement(em: EntityManager, chain: string, movement: Movement, now: Date): Payment {
  const { kind, asset, address, sources, amount } = movement;
  const decided = {
    id: uuidv7(),
    kind,
    orderId: null,
    depositId: null,
    sources: sources === null ? null : [...sources],
    leg: 'main' as const,
    chain,
    coin: asset.coin,
    network: asset.network,
    contract: asset.contract,
    address,
    tag: null,
    amount: formatDecimal(new Big(amount)),
    feeCharged: '0',
  };
  return persistPayment(em, decided, now);
}

function assetOf({ coin, network, contract }: Asset): Asset {
  return { coin, network, contract };
}

/** The deposits of which a sweep takes all outputs that are left. */
function sweptWhole(rows: readonly { readonly id: string; readonly outputs: number }[]): string[] {
  return [...Map.groupBy(rows, ({ id }) => id)].flatMap(([id, its]) => (its.length === its[0]?.outputs ? [id] : []));
}

function totalOf(rows: readonly { readonly amount: string }[]): bigint {
  return rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}
