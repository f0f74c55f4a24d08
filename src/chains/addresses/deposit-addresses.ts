import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { PreparedStatements, prepared } from '../../db/prepared.ts';
import { AppError } from '../../errors.ts';
import { networkById } from '../networks/networks.ts';
import { DepositAccount } from './deposit-account.entity.ts';
import { type DerivedAddress, deriveDepositKey } from './deposit-address.ts';
import { DepositTags } from './deposit-tags.ts';

/**
 * Indexes that one round trip reserves: the sequence counts in blocks of this size. Unused indexes
 * stay unused, which costs nothing.
 */
const indexBlock = 50;
const nextBlock = prepared('deposit_index_block', `select nextval('deposit_index_block')::text as last`);

/**
 * The source of an order's deposit address. All members but the keychain are null for the next
 * address of the pool.
 */
export interface DepositPlace {
  readonly keychain: string;
  readonly index: number | null;
  readonly address: string | null;
  readonly tag: string | null;
  /** The hidden forms of a derived address, if its key has them. */
  readonly hiddenForms: DerivedAddress['hiddenForms'];
}

/**
 * Gives each order a deposit address of its own. It is derived from the account's public key, or
 * the network's shared address with a fresh tag, or the next one of a pool that the signer filled.
 * No address is given twice; constraints of the database guarantee it even if this code were wrong.
 */
export class DepositAddresses {
  readonly #orm: MikroORM;
  readonly #statements: PreparedStatements;
  #accounts = new Map<string, DepositAccount>();
  #tags: DepositTags | null = null;
  #block: { next: number; end: number } | undefined;
  #reserving: Promise<void> | undefined;

  constructor(orm: MikroORM) {
    this.#orm = orm;
    this.#statements = new PreparedStatements(orm);
  }

  /** Reads the public accounts and the key of tags, which never change once they exist. */
  async load(em: EntityManager = this.#orm.em.fork()): Promise<void> {
    this.#tags ??= await readTags(em);
    const accounts = await em.find(DepositAccount, {});
    this.#accounts = new Map(accounts.map((account) => [account.keychain, account]));
  }

  /**
   * An address for one order on the network. It is taken when the order is written.
   *
   * @throws AppError unavailable when the network has no account at this moment.
   */
  async next(networkId: string): Promise<DepositPlace> {
    const network = networkById(networkId);
    // A process may have started before the signer made the accounts.
    if (network && !this.#accounts.has(network.keychain)) await this.load();
    const account = network && this.#accounts.get(network.keychain);
    if (!network || !account || !this.#tags) throw noAddress(networkId);
    const { keychain } = network;
    if (network.deposit === 'pool') return { keychain, index: null, address: null, tag: null, hiddenForms: null };
    const key = network.deposit === 'shared' ? account.sharedAddress : account.xpub;
    if (key === null) throw noAddress(networkId);
    const index = this.#takeIndex() ?? (await this.#reservedIndex());
    return network.deposit === 'shared'
      ? { keychain, index, address: key, tag: this.#tags.tag(networkId, index), hiddenForms: null }
      : { keychain, index, tag: null, ...(await deriveDepositKey(networkId, key, index)) };
  }

  #takeIndex(): number | null {
    return this.#block && this.#block.next < this.#block.end ? this.#block.next++ : null;
  }

  /**
   * The next index that no process has used. One statement reserves a block of indexes for all
   * waiting callers.
   */
  async #reservedIndex(): Promise<number> {
    for (;;) {
      this.#reserving ??= this.#reserveBlock().finally(() => {
        this.#reserving = undefined;
      });
      await this.#reserving;
      const index = this.#takeIndex();
      if (index !== null) return index;
    }
  }

  async #reserveBlock(): Promise<void> {
    const [row] = await this.#statements.run<{ last: string }>(nextBlock, {});
    if (!row) throw new Error('the sequence deposit_index_block gave no number');
    const end = Number.parseInt(row.last, 10) + 1;
    this.#block = { next: end - indexBlock, end };
  }
}

async function readTags(em: EntityManager): Promise<DepositTags> {
  const rows = await em.execute<{ name: string; value: string }[]>(
    `select name, value from setting where name in ('deposit_tag_key', 'deposit_tag_last_plain_index')`,
  );
  const values = new Map(rows.map(({ name, value }) => [name, value]));
  return new DepositTags(
    values.get('deposit_tag_key') ?? '',
    Number.parseInt(values.get('deposit_tag_last_plain_index') ?? '', 10),
  );
}

/** The refusal of an order on a network that has no free address. */
export function noAddress(networkId: string): AppError {
  return new AppError(
    'unavailable',
    `no deposit address on ${networkId} is ready at this moment; try again in a few seconds`,
    { retryAfterSec: 5 },
  );
}
