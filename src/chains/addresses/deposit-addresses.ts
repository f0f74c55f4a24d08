import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { prepared } from '../../base/db/prepared.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import { networkById } from '../networks/networks.ts';
import { AddressStock, type IndexBlock } from './address-stock.ts';
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

/** Called with each derived address, and whether it was derived ahead of its request. */
type OnDerived = (isAhead: boolean) => void;

interface DepositAddressesOptions {
  readonly onDerived?: OnDerived;
  /** Told that the thread which derives ahead has ended. Requests derive their addresses then. */
  readonly onThreadEnd?: (reason: string) => void;
}

/**
 * Gives each order a separate deposit address. It is derived from the account's public key, or
 * the network's shared address with a fresh tag, or the next one of a pool that the signer filled.
 * No address is given twice; constraints of the database guarantee it even if this code were wrong.
 */
export class DepositAddresses {
  readonly #orm: MikroORM;
  readonly #em: EntityManager;
  readonly #stock: AddressStock;
  readonly #onDerived: OnDerived;
  #accounts = new Map<string, DepositAccount>();
  #tags: DepositTags | null = null;
  #block: { next: number; end: number } | undefined;
  #reserving: Promise<void> | undefined;

  constructor(orm: MikroORM, { onDerived = () => {}, onThreadEnd = () => {} }: DepositAddressesOptions = {}) {
    this.#orm = orm;
    this.#em = orm.em.fork();
    this.#stock = new AddressStock({ reserve: () => this.#reserveBlock(), onEnd: onThreadEnd });
    this.#onDerived = onDerived;
  }

  /** Ends the thread that derives ahead. */
  close(): Promise<void> {
    return this.#stock.close();
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
    if (network.deposit === 'shared') {
      const index = await this.#nextIndex();
      return { keychain, index, address: key, tag: this.#tags.tag(networkId, index), hiddenForms: null };
    }
    const ready = this.#stock.take({ keychain, networkId, xpub: key });
    this.#onDerived(ready !== null);
    if (ready) return { keychain, tag: null, ...ready };
    const index = await this.#nextIndex();
    return { keychain, index, tag: null, ...(await deriveDepositKey(networkId, key, index)) };
  }

  /**
   * The next index that no process has used. One statement reserves a block of indexes for all
   * waiting callers.
   */
  async #nextIndex(): Promise<number> {
    for (;;) {
      if (this.#block && this.#block.next < this.#block.end) return this.#block.next++;
      this.#reserving ??= this.#refillBlock().finally(() => {
        this.#reserving = undefined;
      });
      await this.#reserving;
    }
  }

  async #refillBlock(): Promise<void> {
    const { from, to } = await this.#reserveBlock();
    this.#block = { next: from, end: to };
  }

  async #reserveBlock(): Promise<IndexBlock> {
    const [row] = await sql<{ last: string }>(this.#em, nextBlock, {});
    if (!row) throw new Error('the sequence deposit_index_block gave no number');
    const to = Number.parseInt(row.last, 10) + 1;
    return { from: to - indexBlock, to };
  }
}

/** The tags of the database. @throws Error where it has no key of tags. */
export async function readTags(em: EntityManager): Promise<DepositTags> {
  const [row] = await sql<{ value: string }>(em, `select value from setting where name = 'deposit_tag_key'`);
  return new DepositTags(row?.value ?? '');
}

/** The refusal of an order on a network that has no free address. */
export function noAddress(networkId: string): AppError {
  return new AppError(
    'unavailable',
    `no deposit address on ${networkId} is ready at this moment; try again in a few seconds`,
    { retryAfterSec: 5 },
  );
}
