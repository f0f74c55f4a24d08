import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { PreparedStatements, prepared } from '../db/prepared.ts';
import { AppError } from '../errors.ts';
import { DepositAccount } from './deposit-account.entity.ts';
import { type DerivedAddress, depositTag, deriveDepositKey } from './deposit-address.ts';
import { networkById } from './networks.ts';

/** How many indexes one round trip reserves: what the sequence counts in. Unused ones stay unused, which costs nothing. */
const indexBlock = 50;
const nextBlock = prepared('deposit_index_block', `select nextval('deposit_index_block')::text as last`);

/** Where an order's deposit address comes from. All null but the keychain: the next one of the pool. */
export interface DepositPlace {
  readonly keychain: string;
  readonly index: number | null;
  readonly address: string | null;
  readonly tag: string | null;
  /** Of a derived address, where its key has them. */
  readonly hiddenForms: DerivedAddress['hiddenForms'];
}

/**
 * Gives each order an address of its own: derived from the account's public key, or the network's shared address with
 * a fresh tag, or the next one of a pool that the signer filled. An address is never given twice; the database's
 * constraints hold even if this code were wrong.
 */
export class DepositAddresses {
  readonly #orm: MikroORM;
  readonly #statements: PreparedStatements;
  #accounts = new Map<string, DepositAccount>();
  #block: { next: number; end: number } | undefined;
  #reserving: Promise<void> | undefined;

  constructor(orm: MikroORM) {
    this.#orm = orm;
    this.#statements = new PreparedStatements(orm);
  }

  /** Reads the public accounts, which never change once they exist. */
  async load(em: EntityManager = this.#orm.em.fork()): Promise<void> {
    const accounts = await em.find(DepositAccount, {});
    this.#accounts = new Map(accounts.map((account) => [account.keychain, account]));
  }

  /**
   * An address for one order on the network, which is given away by writing it.
   *
   * @throws AppError unavailable when the network has no account at this moment.
   */
  async next(networkId: string): Promise<DepositPlace> {
    const network = networkById(networkId);
    // A process may have started before the signer's side made the accounts.
    if (network && !this.#accounts.has(network.keychain)) await this.load();
    const account = network && this.#accounts.get(network.keychain);
    if (!network || !account) throw noAddress(networkId);
    const { keychain } = network;
    if (network.deposit === 'pool') return { keychain, index: null, address: null, tag: null, hiddenForms: null };
    const key = network.deposit === 'shared' ? account.sharedAddress : account.xpub;
    if (key === null) throw noAddress(networkId);
    const index = this.#takeIndex() ?? (await this.#reservedIndex());
    return network.deposit === 'shared'
      ? { keychain, index, address: key, tag: depositTag(networkId, index), hiddenForms: null }
      : { keychain, index, tag: null, ...(await deriveDepositKey(networkId, key, index)) };
  }

  #takeIndex(): number | null {
    return this.#block && this.#block.next < this.#block.end ? this.#block.next++ : null;
  }

  /** The next index that no process has used, from a block that one statement reserves for all who wait. */
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

/** The answer where an order on the network cannot be given an address. */
export function noAddress(networkId: string): AppError {
  return new AppError(
    'unavailable',
    `no deposit address on ${networkId} is ready at this moment; try again in a few seconds`,
    { retryAfterSec: 5 },
  );
}
