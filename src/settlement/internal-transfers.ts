import type { MikroORM } from '@mikro-orm/postgresql';
import type { ChainAdapter, Transfer } from '../chains/chain-adapter.ts';
import { networkOfChain } from '../chains/networks.ts';
import type { Clock } from '../clock.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import { toUnits } from '../money.ts';
import type { ChainLease } from './chain-lease.ts';
import type { ChainScanner } from './chain-scanner.ts';
import type { ChainTask } from './chain-task.ts';
import { secondsAfter } from './settling.ts';

export interface InternalTransfersOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly catalogue: CurrencyCatalogue;
  readonly scanner: Pick<ChainScanner, 'recordFound'>;
  /** How long after an order was made its address is compared. */
  readonly watchSec: number;
}

/** Addresses of one comparison. */
const maxAddresses = 1_000;

/**
 * Finds coins that a contract sent on to an order's address, where the node cannot trace them: what an address holds in
 * a final block, over what its transactions account for.
 */
export class InternalTransfers implements ChainTask {
  readonly everySec = 30;
  readonly #options: InternalTransfersOptions;
  /** By chain: the order that the last comparison ended with, null at the end. */
  readonly #last = new Map<string, string | null>();

  constructor(options: InternalTransfersOptions) {
    this.#options = options;
  }

  /** Compares addresses of orders that were made lately, so many at a time. */
  async run(adapter: ChainAdapter, lease: ChainLease): Promise<void> {
    const { chain } = adapter;
    if (adapter.missesInternalTransfers !== true || !adapter.finalBalances) return;
    const addresses = await this.#nextAddresses(chain);
    if (addresses.length === 0) return;
    const { block, amounts } = await adapter.finalBalances(addresses, null);
    const known = await this.#known(chain, addresses, block.height);
    const transfers = addresses.flatMap((address, index): Transfer[] => {
      const amount = (amounts[index] ?? 0n) - (known.get(address) ?? 0n);
      // No transaction names it: the address and what was known there before do.
      const key = `balance:${address}:${known.get(address) ?? 0n}:${amount}`;
      return amount > 0n ? [{ key, txid: key, address, tag: null, contract: null, amount }] : [];
    });
    if (transfers.length > 0) await this.#options.scanner.recordFound(adapter, lease, { ref: block, transfers });
  }

  /**
   * Addresses of orders of the last while, whatever became of them, that were never swept and never given gas, so that
   * all that came is still there. Each look takes the ones after those of the look before, and begins anew at the end.
   */
  async #nextAddresses(chain: string): Promise<string[]> {
    const { orm, clock, catalogue, watchSec } = this.#options;
    const { coin, network } = catalogue.gasCoin(chain);
    const last = this.#last.get(chain) ?? null;
    const rows = await orm.em.fork().execute<{ id: string; address: string }[]>(
      `select o.id, a.address
         from exchange_order o join deposit_address a on a.id = o.deposit_address_id
        where o.created_at > ? and o.coin_from = ? and o.network_from = ? and a.keychain = ?
          and (?::uuid is null or (o.created_at, o.id) > (select l.created_at, l.id from exchange_order l where l.id = ?))
          and not exists (select 1 from deposit d
                           where d.chain = ? and d.address = a.address
                             and (d.swept_by is not null
                                  or d.contract is not null
                                     and exists (select 1 from payment p where p.chain = d.chain and p.address = d.address)))
        order by o.created_at, o.id limit ?`,
      [
        secondsAfter(clock.now(), -watchSec),
        coin,
        network,
        networkOfChain(chain)?.keychain ?? '',
        last,
        last,
        chain,
        maxAddresses,
      ],
    );
    this.#last.set(chain, rows.length < maxAddresses ? null : (rows.at(-1)?.id ?? null));
    return rows.map(({ address }) => address);
  }

  /** What transactions up to a height brought to each address, in smallest units. */
  async #known(chain: string, addresses: readonly string[], height: number): Promise<Map<string, bigint>> {
    const { orm, catalogue } = this.#options;
    const { decimals } = catalogue.gasCoin(chain);
    const rows = await orm.em.fork().execute<{ address: string; amount: string }[]>(
      `select address, trim_scale(sum(amount))::text as amount from deposit
        where chain = ? and contract is null and state in ('mined', 'credited') and height <= ?
          and address in (select jsonb_array_elements_text(?::jsonb)) group by address`,
      [chain, height, JSON.stringify(addresses)],
    );
    return new Map(rows.map(({ address, amount }) => [address, toUnits(amount, decimals)]));
  }
}
