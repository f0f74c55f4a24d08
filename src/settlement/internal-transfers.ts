import type { MikroORM } from '@mikro-orm/postgresql';
import type { BlockRef, ChainAdapter, Transfer } from '../chains/chain-adapter.ts';
import { networkOfChain } from '../chains/networks.ts';
import type { Clock } from '../clock.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import type { Log } from '../log.ts';
import { toUnits } from '../money.ts';
import type { ChainLease } from './chain-lease.ts';
import type { ChainScanner } from './chain-scanner.ts';
import type { ChainTask } from './chain-task.ts';
import { isSentOn } from './deposit-parts.ts';
import { secondsAfter } from './settling.ts';

export interface InternalTransfersOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalogue: CurrencyCatalogue;
  readonly scanner: Pick<ChainScanner, 'recordFound'>;
  /** How long after an order was made its address is among those that are compared first. */
  readonly watchSec: number;
}

/** Addresses of late orders, and of all orders there ever were, that one look compares. */
const maxAddresses = { late: 1_000, all: 100, lost: 1_000 } as const;
/** Deposits of an address of which every combination is tried for what a balance shows again. */
const maxCombined = 12;

/** What a balance is of an address, in a block that is final. In smallest units of the chain's own coin. */
export interface FinalBalances {
  readonly block: BlockRef;
  readonly addresses: readonly string[];
  /** In the order of the addresses. */
  readonly amounts: readonly bigint[];
}

/** What is known of an address up to a height, in smallest units. */
interface Known {
  /** What deposits brought. */
  readonly brought: bigint;
  /** What should be there, after what our own sweeps and gas moved. */
  readonly held: bigint;
  /** Deposits of coins that a contract sent on, by whatever they were found, which a reading anew took back. */
  readonly lost: readonly Lost[];
}

interface Lost {
  readonly key: string;
  readonly txid: string;
  readonly amount: bigint;
}

/**
 * Finds coins that a contract sent on to a deposit address, where the node cannot trace them: what an address holds in
 * a final block, over what is known to have come and gone. Where the node can, finds again only what was found so before.
 */
export class InternalTransfers implements ChainTask {
  readonly everySec = 30;
  readonly #options: InternalTransfersOptions;
  /** By chain: the order that the last look at late orders ended with, null at the end. */
  readonly #last = new Map<string, string | null>();

  constructor(options: InternalTransfersOptions) {
    this.#options = options;
  }

  /**
   * Compares addresses of orders that were made lately, and some of all others, so many at a time. Where the chain is
   * traced, only addresses of deposits that a balance showed and that are gone.
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
   * Makes deposits of what addresses hold of the chain's own coin beyond what is known. Addresses that a sweep or gas is
   * under way for are left to a later look. Does nothing on a chain that shows such coins by itself.
   *
   * @returns whether there was anything.
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

  /** Where the own coin is not exchanged, it is on deposit addresses for fees only. */
  #isNeeded({ chain, missesInternalTransfers }: ChainAdapter): boolean {
    return missesInternalTransfers === true && this.#options.catalogue.asset(chain, null) !== undefined;
  }

  /** Remembers how the chain is read, and tells when that is another way than before. */
  async #noteWay({ chain, internalTransfers = 'none' }: ChainAdapter, { fence }: ChainLease): Promise<void> {
    const [changed] = await this.#options.orm.em.fork().execute<{ before: string | null; height: number }[]>(
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
      'the way of reading coins that contracts send on was changed; rescan from below the last blocks read before',
    );
  }

  /** Addresses of deposits that a balance showed and that are gone, as after a reading anew. */
  async #lostAddresses(chain: string): Promise<string[]> {
    const rows = await this.#options.orm.em.fork().execute<{ address: string }[]>(
      `select address from (select distinct address from deposit
                             where chain = ? and state = 'orphaned' and contract is null and key like 'balance:%') as lost
        order by random() limit ?`,
      [chain, maxAddresses.lost],
    );
    return rows.map(({ address }) => address);
  }

  /**
   * Addresses of orders of the last while in the own coin, whatever became of them. Each look takes the ones after those
   * of the look before, and begins anew at the end.
   */
  async #lateAddresses(chain: string): Promise<string[]> {
    const { orm, clock, catalogue, watchSec } = this.#options;
    const { coin, network } = catalogue.gasCoin(chain);
    const last = this.#last.get(chain) ?? null;
    const rows = await orm.em.fork().execute<{ id: string; address: string }[]>(
      `select o.id, a.address
         from exchange_order o join deposit_address a on a.id = o.deposit_address_id
        where o.created_at > ? and o.coin_from = ? and o.network_from = ? and a.keychain = ?
          and (?::uuid is null or (o.created_at, o.id) > (select l.created_at, l.id from exchange_order l where l.id = ?))
        order by o.created_at, o.id limit ?`,
      [
        secondsAfter(clock.now(), -watchSec),
        coin,
        network,
        networkOfChain(chain)?.keychain ?? '',
        last,
        last,
        maxAddresses.late,
      ],
    );
    this.#last.set(chain, rows.length < maxAddresses.late ? null : (rows.at(-1)?.id ?? null));
    return rows.map(({ address }) => address);
  }

  /** The next of all addresses that were ever given out, in turn; the chain's row tells where the last look ended. */
  async #nextAddresses({ chain, fence }: ChainLease): Promise<string[]> {
    const rows = await this.#options.orm.em.fork().execute<{ address: string }[]>(
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

  /** By address, without those that a payment of ours is moving coins to or from. */
  async #known(chain: string, addresses: readonly string[], height: number): Promise<Map<string, Known>> {
    const { orm, catalogue } = this.#options;
    const { coin, network, decimals } = catalogue.gasCoin(chain);
    // What a balance showed came before the block in which it was seen, and what a trace showed may be known by a balance
    // since. Counting a deposit too early finds coins later; counting it too late would find them twice.
    const rows = await orm.em.fork().execute<
      {
        address: string;
        brought: string;
        moved: string;
        lost: { key: string; txid: string; amount: string }[];
      }[]
    >(
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
                                                and (height <= ? or ${isSentOn})), 0) as brought,
                 coalesce(jsonb_agg(jsonb_build_object('key', key, 'txid', txid, 'amount', trim_scale(amount)::text)
                                    order by seen_at, id)
                            filter (where state = 'orphaned' and ${isSentOn}), '[]') as lost
            from deposit where chain = ? and address = asked.address and contract is null) as d
        cross join lateral (
          select coalesce(sum(l.amount), 0) as moved
            from own join payment_attempt t on t.payment_id = own.id and t.mined_height <= ?
            join ledger_transaction x on x.kind in ('sweep', 'gas', 'payment_fee')
                                     and x.reference in (own.id::text, own.id || ':' || t.attempt)
            join ledger_line l on l.transaction_id = x.id and l.account = 'deposits' and l.coin = ? and l.network = ?
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
 * What an address holds beyond what is known. No transaction names it: the address and what was known to have come there
 * do. What was found before and taken back comes again under its own name, so that it is never a second deposit.
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
 * Which of the deposits that are gone an amount shows again: those that make it up exactly, or else as many as fit, in
 * their order.
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
