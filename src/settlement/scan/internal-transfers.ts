import type { MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import type { Log } from '../../base/log.ts';
import { toUnits } from '../../base/money.ts';
import { networkOfChain } from '../../chains/networks/networks.ts';
import type { BlockRef, ChainAdapter, Transfer } from '../../chains/port/chain-adapter.ts';
import { linesOfTransaction } from '../../ledger/ledger.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import { changedOrders, freshOrders, ofParts } from '../../orders/fresh-orders.ts';
import { secondsAfter } from '../rules/settling.ts';
import type { ChainLease } from '../turns/chain-lease.ts';
import type { ChainTask } from '../turns/chain-task.ts';
import type { ChainScanner } from './chain-scanner.ts';
import { internalTransferSql } from './deposit-parts.ts';

interface InternalTransfersOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalogue: CurrencyCatalogue;
  readonly scanner: Pick<ChainScanner, 'recordFound'>;
  /** For this many seconds after an order's creation, its address is compared with priority. */
  readonly watchSec: number;
}

/** Addresses that one run compares: of recent orders, of all orders ever, and of lost deposits. */
const maxAddresses = { late: 1_000, all: 100, lost: 1_000 } as const;
/** Largest number of lost deposits whose combinations are all tried against a returned balance. */
const maxCombined = 12;

/** Balances of addresses in a final block, in the smallest units of the chain's own coin. */
interface FinalBalances {
  readonly block: BlockRef;
  readonly addresses: readonly string[];
  /** In the order of the addresses. */
  readonly amounts: readonly bigint[];
}

/** The recorded movements of an address up to a height, in smallest units. */
interface Known {
  /** The sum of its deposits. */
  readonly brought: bigint;
  /** The expected balance, after our own sweeps and gas payments. */
  readonly held: bigint;
  /** Deposits of coins sent on by a contract, found in either way, that a rescan reversed. */
  readonly lost: readonly Lost[];
}

interface Lost {
  readonly key: string;
  readonly txid: string;
  readonly amount: bigint;
}

/**
 * Finds coins that a contract sent on to a deposit address, where the node cannot trace them. It
 * compares an address's balance in a final block with the recorded movements. Where the node can
 * trace, it only finds again earlier balance deposits.
 */
export class InternalTransfers implements ChainTask {
  readonly everySec = 30;
  readonly #options: InternalTransfersOptions;
  /**
   * By chain: the last order that the last run compared. Null when the next run starts from the
   * beginning.
   */
  readonly #last = new Map<string, string | null>();

  constructor(options: InternalTransfersOptions) {
    this.#options = options;
  }

  /**
   * Compares addresses of recent orders, and some of all other orders, a limited number each time.
   * Where the node can trace, it compares only addresses with orphaned balance deposits.
   */
  async run(adapter: ChainAdapter, lease: ChainLease): Promise<void> {
    const { chain, missesInternalTransfers: isMissing } = adapter;
    if (!adapter.finalBalances || this.#options.catalogue.asset(chain, null) === undefined) return;
    await this.#noteWay(adapter, lease);
    const next = isMissing
      ? [...(await this.#lateAddresses(chain)), ...(await this.#nextAddresses(lease))]
      : await this.#lostAddresses(chain);
    const addresses = [...new Set(next)];
    if (addresses.length === 0) return;
    await this.#compare(adapter, lease, { addresses, ...(await adapter.finalBalances(addresses, null)) });
  }

  /**
   * Creates deposits for the part of the chain's own coin on addresses that no record explains.
   * Addresses with an unfinished sweep or gas payment wait for a later run. Does nothing on a chain
   * whose node traces such coins.
   *
   * @returns whether there was such a part.
   */
  async compare(adapter: ChainAdapter, lease: ChainLease, balances: FinalBalances): Promise<boolean> {
    return this.#isNeeded(adapter) && this.#compare(adapter, lease, balances);
  }

  async #compare(adapter: ChainAdapter, lease: ChainLease, balances: FinalBalances): Promise<boolean> {
    const { block, addresses, amounts } = balances;
    const known = await this.#known(adapter.chain, addresses, block.height);
    const transfers = addresses.flatMap((address, index) => {
      const its = known.get(address);
      return its === undefined ? [] : unknownTransfers(address, amounts[index] ?? 0n, its);
    });
    if (transfers.length > 0) await this.#options.scanner.recordFound(adapter, lease, { ref: block, transfers });
    return transfers.length > 0;
  }

  /** Where the chain's own coin is not exchanged, deposit addresses hold it for fees only. */
  #isNeeded({ chain, missesInternalTransfers }: ChainAdapter): boolean {
    return missesInternalTransfers === true && this.#options.catalogue.asset(chain, null) !== undefined;
  }

  /** Stores how the chain's internal transfers are read, and logs a change. */
  async #noteWay({ chain, internalTransfers = 'none' }: ChainAdapter, { fence }: ChainLease): Promise<void> {
    const [changed] = await sql<{ before: string | null; height: number }>(
      this.#options.orm.em.fork(),
      `update chain_state c set internal_transfers = ?
         from (select chain, internal_transfers as before from chain_state where chain = ?) as b
        where c.chain = b.chain and c.fence = ? and c.internal_transfers is distinct from ?
        returning b.before, c.height::int as height`,
      [internalTransfers, chain, fence, internalTransfers],
    );
    if (changed?.before == null) return;
    this.#options.log.warn(
      {
        event: 'internal_transfers_changed',
        code: `${chain}: ${changed.before} to ${internalTransfers}`,
        count: changed.height,
      },
      'internal transfers are now read in another way; rescan from below the last blocks that were read before',
    );
  }

  /** Addresses of orphaned balance deposits, such as after a rescan. */
  async #lostAddresses(chain: string): Promise<string[]> {
    const rows = await sql<{ address: string }>(
      this.#options.orm.em.fork(),
      `select address from (select distinct address from deposit
                             where chain = ? and state = 'orphaned' and contract is null and key like 'balance:%') as lost
        order by random() limit ?`,
      [chain, maxAddresses.lost],
    );
    return rows.map(({ address }) => address);
  }

  /**
   * Addresses of recent orders in the chain's own coin, in any status. Each run continues after the
   * last one, and starts again at the end.
   */
  async #lateAddresses(chain: string): Promise<string[]> {
    const { orm, clock, catalogue, watchSec } = this.#options;
    const { coin, network } = catalogue.gasCoin(chain);
    const last = this.#last.get(chain) ?? null;
    const bound = [
      secondsAfter(clock.now(), -watchSec),
      coin,
      network,
      networkOfChain(chain)?.keychain ?? '',
      last,
      last,
      maxAddresses.late,
    ];
    const selects = ofParts(
      [changedOrders, freshOrders],
      ({ condition }) => `select o.id, o.created_at, a.address
         from exchange_order o join deposit_address a on a.id = o.deposit_address_id
        where ${condition} and o.created_at > ? and o.coin_from = ? and o.network_from = ? and a.keychain = ?
          and (?::uuid is null or (o.created_at, o.id) > (select l.created_at, l.id from exchange_order l where l.id = ?))
        order by o.created_at, o.id limit ?`,
    );
    const rows = await sql<{ id: string; address: string }>(
      orm.em.fork(),
      `select id, address from (${selects}) as part order by created_at, id limit ?`,
      [...bound, ...bound, maxAddresses.late],
    );
    this.#last.set(chain, rows.length < maxAddresses.late ? null : (rows.at(-1)?.id ?? null));
    return rows.map(({ address }) => address);
  }

  /**
   * The next of all addresses ever leased, in turn. The chain's row stores where the last run
   * ended.
   */
  async #nextAddresses({ chain, fence }: ChainLease): Promise<string[]> {
    const rows = await sql<{ address: string }>(
      this.#options.orm.em.fork(),
      `with next as (
         select a.index, a.address from chain_state s, deposit_address a
          where s.chain = ? and a.keychain = ? and a.leased_at is not null and a.index > s.compared_index
          order by a.index limit ?
       ), noted as (
         update chain_state set compared_index = case when n.count < ? then -1 else n.last end
           from (select count(*) as count, max(index) as last from next) as n
          where chain = ? and fence = ?
       )
       select address from next`,
      [chain, networkOfChain(chain)?.keychain ?? '', maxAddresses.all, maxAddresses.all, chain, fence],
    );
    return rows.map(({ address }) => address);
  }

  /**
   * Reads the recorded movements by address. Omits addresses with an unfinished payment of ours.
   */
  async #known(chain: string, addresses: readonly string[], height: number): Promise<Map<string, Known>> {
    const { orm, catalogue } = this.#options;
    const { coin, network, decimals } = catalogue.gasCoin(chain);
    // Coins found by a balance comparison arrived before its block, and a traced transfer may since
    // be part of a balance deposit. Counting a deposit too early delays finding coins. Counting it
    // too late would find them twice.
    const rows = await sql<{
      address: string;
      brought: string;
      moved: string;
      lost: { key: string; txid: string; amount: string }[];
    }>(
      orm.em.fork(),
      `with asked as (select jsonb_array_elements_text(?::jsonb) as address),
            own as (
         select p.id, p.state, asked.address from asked join payment p
             on p.chain = ? and p.kind = 'sweep' and p.sources = array[asked.address]
          union all
         select p.id, p.state, asked.address from asked join payment p
             on p.chain = ? and p.kind = 'gas' and p.address = asked.address)
       select asked.address, trim_scale(d.brought)::text as brought, trim_scale(m.moved)::text as moved, d.lost
         from asked
        cross join lateral (
          select coalesce(sum(amount) filter (where state in ('mined', 'credited')
                                                and (height <= ? or ${internalTransferSql})), 0) as brought,
                 coalesce(jsonb_agg(jsonb_build_object('key', key, 'txid', txid, 'amount', trim_scale(amount)::text)
                                    order by seen_at, id)
                            filter (where state = 'orphaned' and ${internalTransferSql}), '[]') as lost
            from deposit where chain = ? and address = asked.address and contract is null) as d
        cross join lateral (
          select coalesce(sum(l.amount), 0) as moved
            from own join payment_attempt t on t.payment_id = own.id and t.mined_height <= ?
            join ledger_transaction x on x.kind in ('sweep', 'gas', 'payment_fee')
                                     and x.reference in (own.id::text, own.id || ':' || t.attempt)
            join ${linesOfTransaction('x')} l on l.account = 'deposits' and l.coin = ? and l.network = ?
           where own.address = asked.address) as m
        where not exists (select 1 from own where own.address = asked.address and own.state not in ('confirmed', 'dead'))`,
      [JSON.stringify(addresses), chain, chain, height, chain, height, coin, network],
    );
    return new Map(
      rows.map((row) => {
        const brought = toUnits(row.brought, decimals);
        const moved = row.moved.startsWith('-') ? -toUnits(row.moved.slice(1), decimals) : toUnits(row.moved, decimals);
        const lost = row.lost.map(({ amount, ...each }) => ({ ...each, amount: toUnits(amount, decimals) }));
        return [row.address, { brought, held: brought + moved, lost }];
      }),
    );
  }
}

/**
 * Builds transfers for the unexplained part of an address's balance. No transaction names it, so
 * its key is made of the address and of what earlier deposits brought. A reversed deposit that
 * returns keeps its own key, so that it never becomes a second deposit.
 */
function unknownTransfers(address: string, amount: bigint, { brought, held, lost }: Known): Transfer[] {
  const transfers: Transfer[] = [];
  const add = ({ key, txid, amount: found }: Lost): void => {
    transfers.push({ key, txid, address, tag: null, contract: null, amount: found });
  };
  let rest = amount - held;
  for (const each of returned(lost, rest)) {
    add(each);
    rest -= each.amount;
  }
  if (rest > 0n) {
    const key = `balance:${address}:${brought + amount - held - rest}:${rest}`;
    add({ key, txid: key, amount: rest });
  }
  return transfers;
}

/**
 * Selects the lost deposits that an amount shows again: a combination that equals it exactly, or
 * else as many as fit, in their order.
 */
function returned(lost: readonly Lost[], amount: bigint): readonly Lost[] {
  const some = lost.slice(0, maxCombined);
  for (let choice = 2 ** some.length - 1; choice > 0; choice -= 1) {
    const chosen = some.filter((_, index) => (choice >> index) % 2 === 1);
    if (chosen.reduce((sum, each) => sum + each.amount, 0n) === amount) return chosen;
  }
  let rest = amount;
  return lost.filter((each) => {
    if (each.amount > rest) return false;
    rest -= each.amount;
    return true;
  });
}
