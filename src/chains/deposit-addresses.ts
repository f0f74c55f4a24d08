import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { DepositAccount } from './deposit-account.entity.ts';
import { DepositAddress } from './deposit-address.entity.ts';
import { depositTag, deriveDepositAddress } from './deposit-address.ts';
import { type Network, networkById } from './networks.ts';

/** How many indexes one round trip reserves. Unused ones stay unused, which costs nothing. */
const indexBlock = 50;

/**
 * Gives each order an address of its own: derived from the account's public key, or the network's shared address with
 * a fresh tag, or the next one of a pool that the signer filled. An address is never given twice; the database's
 * constraints hold even if this code were wrong.
 */
export class DepositAddresses {
  readonly #orm: MikroORM;
  readonly #clock: Clock;
  #accounts = new Map<string, DepositAccount>();
  #block: { next: number; end: number } | undefined;
  #reserving: Promise<void> | undefined;

  constructor(orm: MikroORM, clock: Clock) {
    this.#orm = orm;
    this.#clock = clock;
  }

  /** Reads the public accounts, which never change once they exist. */
  async load(em: EntityManager = this.#orm.em.fork()): Promise<void> {
    const accounts = await em.find(DepositAccount, {});
    this.#accounts = new Map(accounts.map((account) => [account.keychain, account]));
  }

  /**
   * An address for one order on the network, written in the caller's transaction.
   *
   * @throws AppError unavailable when the network has no account or its pool is empty at this moment.
   */
  async lease(em: EntityManager, networkId: string): Promise<DepositAddress> {
    const network = networkById(networkId);
    // A process may have started before the signer's side made the accounts.
    if (network && !this.#accounts.has(network.keychain)) await this.load(em);
    const account = network && this.#accounts.get(network.keychain);
    if (!network || !account) throw noAddress(networkId);
    if (network.deposit === 'pool') return this.#leasePooled(em, network);
    const index = await this.#nextIndex(em);
    const target = publicTarget(network, account, index);
    if (!target) throw noAddress(networkId);
    const now = this.#clock.now();
    const address = em.create(DepositAddress, {
      id: uuidv7(),
      keychain: network.keychain,
      index: String(index),
      ...target,
      createdAt: now,
      leasedAt: now,
    });
    em.persist(address);
    return address;
  }

  async #leasePooled(em: EntityManager, network: Network): Promise<DepositAddress> {
    const rows = await em.execute<{ id: string }[]>(
      `update deposit_address set leased_at = ?
        where id = (select id from deposit_address where keychain = ? and leased_at is null
                     order by index limit 1 for update skip locked)
        returning id`,
      [this.#clock.now(), network.keychain],
    );
    const [row] = rows;
    if (!row) throw noAddress(network.id);
    return em.findOneOrFail(DepositAddress, { id: row.id });
  }

  /**
   * The next index that no process has used, from a block reserved in one statement. On the caller's own connection:
   * waiting for a second one inside a transaction would stop everything once all connections are in transactions.
   */
  async #nextIndex(em: EntityManager): Promise<number> {
    while (!this.#block || this.#block.next >= this.#block.end) {
      if (this.#reserving) {
        // When the other's connection breaks, this one reserves for itself.
        await this.#reserving.catch(() => {});
        continue;
      }
      this.#reserving = this.#reserveBlock(em).finally(() => {
        this.#reserving = undefined;
      });
      await this.#reserving;
    }
    return this.#block.next++;
  }

  async #reserveBlock(em: EntityManager): Promise<void> {
    const [row] = await em.execute<{ last: string }[]>(`select nextval('deposit_index_block')::text as last`);
    if (!row) throw new Error('the sequence deposit_index_block gave no number');
    const end = Number.parseInt(row.last, 10) + 1;
    this.#block = { next: end - indexBlock, end };
  }
}

function publicTarget(
  network: Network,
  account: DepositAccount,
  index: number,
): { address: string; tag: string | null } | null {
  if (network.deposit === 'shared') {
    return account.sharedAddress === null
      ? null
      : { address: account.sharedAddress, tag: depositTag(network.id, index) };
  }
  return account.xpub === null ? null : { address: deriveDepositAddress(network.id, account.xpub, index), tag: null };
}

function noAddress(networkId: string): AppError {
  return new AppError(
    'unavailable',
    `no deposit address on ${networkId} is ready at this moment; try again in a few seconds`,
    { retryAfterSec: 5 },
  );
}
