import type { MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { DepositAccount } from '../chains/deposit-account.entity.ts';
import { allNetworks, type Network } from '../chains/networks.ts';
import { SignerError } from '../chains/signer.ts';
import type { Clock } from '../clock.ts';
import { advisoryLocks, withAdvisoryLock } from '../db/database.ts';
import { errorMembers, type Log } from '../log.ts';
import type { DepositKeys } from './deposit-keys.ts';

export interface DepositPoolOptions {
  readonly orm: MikroORM;
  readonly url: string;
  readonly keys: DepositKeys;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether a chain is served; the pools of others stay as they are. All are unless given. */
  readonly isServed?: (chain: string) => boolean;
  /** How many free addresses each pool holds. */
  readonly target?: number;
  /** How many addresses one statement writes. */
  readonly batch?: number;
}

interface Level {
  readonly keychain: string;
  readonly free: number;
  readonly last: number;
}

/** While failing, so many attempts pass between two log lines. */
const quietFailures = 60;

/** One network of each keychain, which stands for all of them. */
const keychains: ReadonlyMap<string, Network> = new Map(
  allNetworks()
    .toReversed()
    .map((network) => [network.keychain, network]),
);

/** The signer's side of deposits: makes the public accounts and keeps the address pools filled. */
export class DepositPool {
  readonly #options: DepositPoolOptions;
  readonly #pools: readonly string[];
  readonly #target: number;
  readonly #batch: number;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopping = false;
  #failures = 0;
  /** Fingerprint of the keys, once the database's accounts are known to be theirs. */
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
   * Writes the accounts that the database lacks. While the signer is away and the database has accounts, these serve,
   * and are compared later.
   *
   * @throws Error when the database belongs to other keys: deposits on its addresses would be out of reach. SignerError
   *   `unavailable` when the database has no accounts, and the signer is away.
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
    // Asked before the lock is taken, as others wait for that.
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
   * Makes addresses until each pool holds so many free ones, its target unless given. Returns how many it made: none before
   * the accounts could be compared with the signer's.
   */
  async topUp(target = this.#target): Promise<number> {
    // Without a need there is no lock to wait for, and no connection to open for it.
    if ((await this.#low(target)).length === 0) return 0;
    return withAdvisoryLock(this.#options.url, advisoryLocks.poolTopUp, async () => {
      let made = 0;
      for (const level of await this.#low(target)) made += await this.#fill(level, target);
      return made;
    });
  }

  /** Makes a batch for each pool that has less, so that a first start need not wait for all; `start` makes the others. */
  async open(): Promise<number> {
    return this.topUp(Math.min(this.#batch, this.#target));
  }

  /** Tops up again and again until stop. A run that takes longer than the interval is not joined by another. */
  start(intervalMs = 1000): void {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => {
      this.#running ??= this.#run().finally(() => {
        this.#running = undefined;
      });
    }, intervalMs).unref();
  }

  /** Returns when no run of start is going on any more. A run ends after the batch at hand. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#running;
    this.#stopping = false;
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    try {
      if (this.#signer === undefined) await this.#provision();
      const count = await this.topUp();
      if (count > 0) log.debug({ event: 'address_pool_filled', count }, 'made deposit addresses');
      this.#failures = 0;
    } catch (error) {
      if (this.#failures++ % quietFailures === 0) {
        const detail = error instanceof SignerError ? error.message : undefined;
        log.error({ event: 'address_pool_failed', detail, ...errorMembers(error) }, 'could not fill the address pools');
      }
    }
  }

  /** The pools below a target. Both subqueries read as many index entries as a pool has free addresses. */
  async #low(target: number): Promise<Level[]> {
    const pools = this.#pools;
    if (this.#signer === undefined || pools.length === 0) return [];
    const { orm } = this.#options;
    const rows = await orm.em.fork().execute<{ keychain: string; free: number; last: string }[]>(
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
    const inserted = await orm.em.fork().execute<{ id: string }[]>(
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

/** Same keys, other account: somebody changed the row, and deposits would go elsewhere. */
function refuseOtherSide(account: DepositAccount, side: PublicSide): void {
  if (account.xpub === side.xpub && account.sharedAddress === side.sharedAddress) return;
  throw new Error(
    `deposit account ${account.keychain} in the database is not the one of the signer's keys; ` +
      'restore the row from a backup, and check where deposits since its change went',
  );
}
