import type { MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../base/clock.ts';
import { advisoryLocks, withAdvisoryLock } from '../base/db/database.ts';
import { sql } from '../base/db/sql.ts';
import { every, type Repeated, repeat } from '../base/jobs/repeat.ts';
import { errorMembers, type Log } from '../base/log.ts';
import { DepositAccount } from '../chains/addresses/deposit-account.entity.ts';
import { allNetworks, type Network } from '../chains/networks/networks.ts';
import { SignerError } from '../chains/port/signer.ts';
import type { DepositKeys } from './deposit-keys.ts';

interface DepositPoolOptions {
  readonly orm: MikroORM;
  readonly url: string;
  readonly keys: DepositKeys;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Whether a chain is served. The pools of other chains stay as they are. Default: all chains are
   * served.
   */
  readonly isServed?: (chain: string) => boolean;
  /** Number of free addresses that each pool holds. */
  readonly target?: number;
  /** Number of addresses that one statement writes. */
  readonly batch?: number;
}

interface Level {
  readonly keychain: string;
  readonly free: number;
  readonly last: number;
}

/** Failed attempts between two log lines. */
const quietFailures = 60;

/** One network for each keychain, which stands for all networks of that keychain. */
const keychains: ReadonlyMap<string, Network> = new Map(
  allNetworks()
    .toReversed()
    .map((network) => [network.keychain, network]),
);

/** The signer's side of deposits: writes the public accounts and keeps the address pools filled. */
export class DepositPool {
  readonly #options: DepositPoolOptions;
  readonly #pools: readonly string[];
  readonly #target: number;
  readonly #batch: number;
  #filling: Repeated | undefined;
  #stopping = false;
  #failures = 0;
  /** Fingerprint of the keys, once the accounts in the database are known to be theirs. */
  #signer: string | undefined;

  constructor(options: DepositPoolOptions) {
    this.#options = options;
    const { isServed = () => true } = options;
    const served = allNetworks().filter(({ deposit, chain }) => deposit === 'pool' && isServed(chain));
    this.#pools = [...new Set(served.map(({ keychain }) => keychain))];
    this.#target = options.target ?? 300;
    this.#batch = options.batch ?? 50;
  }

  /**
   * Writes the accounts that the database lacks. While the signer is away and the database has
   * accounts, these are used, and compared with the signer's later.
   *
   * @throws Error when the database belongs to other keys: deposits on its addresses would be out
   *   of reach. SignerError `unavailable` when the database has no accounts, and the signer is
   *   away.
   */
  async provision(): Promise<void> {
    const { orm, log } = this.#options;
    try {
      await this.#provision();
    } catch (error) {
      const isAway = error instanceof SignerError && error.code === 'unavailable';
      if (!isAway || (await orm.em.fork().count(DepositAccount)) === 0) throw error;
      log.warn(
        { event: 'signer_away', detail: error.message, ...errorMembers(error) },
        'the signer gives no usable answer; payments and new addresses wait for it',
      );
    }
  }

  async #provision(): Promise<void> {
    const { orm, url, keys, clock } = this.#options;
    // Asks the signer before it takes the lock, because other processes wait for the lock.
    const signer = await keys.fingerprint();
    const sides = new Map<string, PublicSide>();
    for (const [keychain, network] of keychains) sides.set(keychain, await publicSide(keys, network));
    await withAdvisoryLock(url, advisoryLocks.poolTopUp, async () => {
      const em = orm.em.fork();
      const found = new Map((await em.find(DepositAccount, {})).map((account) => [account.keychain, account]));
      for (const account of found.values()) refuseOtherSigner(account, signer);
      for (const [keychain, side] of sides) {
        const account = found.get(keychain);
        if (!account) em.persist(em.create(DepositAccount, { keychain, signer, ...side, createdAt: clock.now() }));
        else refuseOtherSide(account, side);
      }
      await em.flush();
    });
    this.#signer = signer;
  }

  /**
   * Adds addresses until each pool holds `target` free ones. Returns the number of addresses it
   * made: 0 until the accounts were compared with the signer's.
   */
  async topUp(target = this.#target): Promise<number> {
    // When all pools are full, it neither waits for the lock nor opens a connection for it.
    if ((await this.#low(target)).length === 0) return 0;
    return withAdvisoryLock(this.#options.url, advisoryLocks.poolTopUp, async () => {
      let made = 0;
      for (const level of await this.#low(target)) made += await this.#fill(level, target);
      return made;
    });
  }

  /**
   * Makes one batch for each pool that has less, so that a first start need not wait for the full
   * pools; `start` makes the rest.
   */
  async open(): Promise<number> {
    return this.topUp(Math.min(this.#batch, this.#target));
  }

  /**
   * Tops up the pools every `intervalMs` until `stop`. A run that takes longer than the interval is
   * not joined by another.
   */
  start(intervalMs = 1000): void {
    void this.#filling?.stop();
    this.#filling = repeat({
      task: () => this.#run(),
      rhythm: every(intervalMs),
      onFailure: (error) => this.#failed(error),
    });
  }

  /** Resolves when no run is under way. A run ends after its current batch. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#filling?.stop();
    this.#filling = undefined;
    this.#stopping = false;
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    if (this.#signer === undefined) await this.#provision();
    const count = await this.topUp();
    if (count > 0) log.debug({ event: 'address_pool_filled', count }, 'made deposit addresses');
    this.#failures = 0;
  }

  /** Logs the first failure, and then one in `quietFailures`. */
  #failed(error: unknown): void {
    if (this.#failures++ % quietFailures !== 0) return;
    const detail = error instanceof SignerError ? error.message : undefined;
    const members = { event: 'address_pool_failed', detail, ...errorMembers(error) };
    this.#options.log.error(members, 'could not fill the address pools');
  }

  /**
   * The pools with fewer free addresses than `target`. Both subqueries read as many index entries
   * as a pool has free addresses.
   */
  async #low(target: number): Promise<Level[]> {
    const pools = this.#pools;
    if (this.#signer === undefined || pools.length === 0) return [];
    const { orm } = this.#options;
    const rows = await sql<{ keychain: string; free: number; last: string }>(
      orm.em.fork(),
      `select keychain,
              (select count(*)::int from deposit_address where keychain = account.keychain and leased_at is null) as free,
              (select coalesce(max(index), 0)::text from deposit_address where keychain = account.keychain) as last
         from deposit_account account
        where signer = ? and keychain in (${pools.map(() => '?').join(', ')})`,
      [this.#signer, ...pools],
    );
    return rows
      .filter(({ free }) => free < target)
      .map(({ keychain, free, last }) => ({ keychain, free, last: Number.parseInt(last, 10) }));
  }

  async #fill({ keychain, free, last }: Level, target: number): Promise<number> {
    const end = last + target - free;
    let made = 0;
    for (let first = last + 1; first <= end && !this.#stopping; first += this.#batch) {
      made += await this.#insert(keychain, first, Math.min(first + this.#batch - 1, end));
    }
    return made;
  }

  async #insert(keychain: string, first: number, last: number): Promise<number> {
    const { orm, keys, clock } = this.#options;
    const network = keychains.get(keychain);
    if (!network) throw new Error(`no network has the keychain ${keychain}`);
    const now = clock.now();
    const addresses = await keys.poolAddresses(network.id, first, last);
    const values = addresses.flatMap((address, place) => [uuidv7(), keychain, first + place, address, now]);
    const row = '(?, ?, ?, ?, null, ?, null)';
    const inserted = await sql<{ id: string }>(
      orm.em.fork(),
      `insert into deposit_address (id, keychain, index, address, tag, created_at, leased_at)
       values ${Array(last - first + 1)
         .fill(row)
         .join(', ')}
       on conflict do nothing returning id`,
      values,
    );
    return inserted.length;
  }
}

type PublicSide = Pick<DepositAccount, 'xpub' | 'sharedAddress'>;

async function publicSide(keys: DepositKeys, { id, deposit }: Network): Promise<PublicSide> {
  return {
    xpub: deposit === 'derived' ? await keys.accountXpub(id) : null,
    sharedAddress: deposit === 'shared' ? await keys.sharedAddress(id) : null,
  };
}

function refuseOtherSigner(account: DepositAccount, signer: string): void {
  if (account.signer === signer) return;
  throw new Error(
    `the signer's seed does not belong to this database: its deposit account ${account.keychain} was made by signer ` +
      `${account.signer}, and the seed is signer ${signer}; restore the right signer-seed or start with an empty database`,
  );
}

/**
 * Refuses an account row that the signer's keys did not make. The fingerprint is the same, so the
 * row was changed, and deposits would go to addresses of other keys.
 */
function refuseOtherSide(account: DepositAccount, side: PublicSide): void {
  if (account.xpub === side.xpub && account.sharedAddress === side.sharedAddress) return;
  throw new Error(
    `deposit account ${account.keychain} in the database is not the one of the signer's keys; ` +
      'restore the row from a backup, and check where deposits since its change went',
  );
}
