import type { MikroORM } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { networkOfChain } from '../networks/networks.ts';

/** Finds the derivation index of an address of ours. */
export interface OwnAddresses {
  /**
   * Indexes below the account's external chain (0/index), for the addresses that were given to
   * orders.
   */
  indexes(addresses: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** The deposit addresses of a chain, from the database. */
export function ownAddresses(orm: MikroORM, chain: string): OwnAddresses {
  return {
    indexes: async (addresses) => {
      const rows = await sql<{ address: string; index: number }>(
        orm.em.fork(),
        `select address, index::int as index from deposit_address
          where keychain = ? and leased_at is not null and address in (select jsonb_array_elements_text(?::jsonb))`,
        [networkOfChain(chain)?.keychain ?? '', JSON.stringify(addresses)],
      );
      return new Map(rows.map(({ address, index }) => [address, index]));
    },
  };
}

/** The addresses that were made ahead for a chain, given to orders or not. */
export interface MadeAddresses {
  /** The highest index; 0 before the first. */
  last(): Promise<number>;
  /** All of them by index. */
  all(): Promise<ReadonlyMap<number, string>>;
}

export function madeAddresses(orm: MikroORM, chain: string): MadeAddresses {
  const keychain = networkOfChain(chain)?.keychain ?? '';
  return {
    last: async () => {
      const text = 'select coalesce(max(index), 0)::int as last from deposit_address where keychain = ?';
      const [row] = await sql<{ last: number }>(orm.em.fork(), text, [keychain]);
      return row?.last ?? 0;
    },
    all: async () => {
      const text = 'select index::int as index, address from deposit_address where keychain = ?';
      const rows = await sql<{ index: number; address: string }>(orm.em.fork(), text, [keychain]);
      return new Map(rows.map(({ index, address }) => [index, address]));
    },
  };
}
