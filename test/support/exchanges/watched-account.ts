import { openTreasury, type Treasury } from '../../../src/app/open-treasury.ts';
import { Big, formatDecimal, toUnits } from '../../../src/base/money.ts';
import {
  ExchangeUnavailable,
  type Holdings,
  type Movement,
  type MovementKind,
} from '../../../src/exchanges/exchange.ts';
import type { TreasuryCrashPoint } from '../../../src/settlement/treasury/crash-points.ts';
import type { VenueSource } from '../../../src/settlement/treasury/venue-reader.ts';
import { type SettledGateway, startSettledGateway } from '../gateway/settled-gateway.ts';
import { AccountBooks, type BooksGateway, usedChains } from './account-books.ts';

/** The process ends at a crash point. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/** An account at an exchange, whose lists and balances a test writes. */
export class ListedAccount implements VenueSource {
  readonly name = 'kraken';
  readonly balances = new Map<string, Big>();
  readonly listed: Movement[] = [];
  /** Movements that happened and that the lists leave out. */
  readonly hidden = new Set<string>();
  isSilent = false;

  add(coin: string, amount: Big | string): void {
    this.balances.set(coin, (this.balances.get(coin) ?? new Big('0')).plus(amount));
  }

  put(movement: Movement): void {
    const at = this.listed.findIndex(
      ({ kind, reference }) => kind === movement.kind && reference === movement.reference,
    );
    if (at < 0) this.listed.push(movement);
    else this.listed[at] = movement;
  }

  change(reference: string, change: Partial<Movement>): void {
    const movement = this.listed.find((one) => one.reference === reference);
    if (!movement) throw new Error(`no movement ${reference}`);
    this.put({ ...movement, ...change });
  }

  /** Takes back what a test let the exchange answer. */
  answerAgain(): void {
    this.isSilent = false;
    this.hidden.clear();
    for (const name of ['holdings', 'movements']) Reflect.deleteProperty(this, name);
  }

  async holdings(): Promise<readonly Holdings[]> {
    if (this.isSilent) throw new ExchangeUnavailable('silent');
    return [...this.balances].map(([coin, total]) => {
      return { coin, total: formatDecimal(total), free: formatDecimal(total) };
    });
  }

  async movements(kind: MovementKind, sinceMs: number): Promise<readonly Movement[]> {
    if (this.isSilent) throw new ExchangeUnavailable('silent');
    return this.listed.filter((one) => one.kind === kind && one.atMs >= sinceMs && !this.hidden.has(one.reference));
  }
}

/** A gateway that watches an account whose lists a test writes, one turn at a time. */
export class ListedBooks<Gateway extends BooksGateway> extends AccountBooks<Gateway> {
  readonly account: ListedAccount;
  /** Where the next turn is ended as if by a kill. */
  killAt: TreasuryCrashPoint | null = null;
  #treasury: Treasury | null = null;
  #made = 0;

  constructor(gateway: Gateway) {
    const account = new ListedAccount();
    super(gateway, account.name);
    this.account = account;
  }

  /** Opens what watches the account again, as a restarted process does. */
  async restart(): Promise<void> {
    const { app, clock, settlement } = this.gateway;
    const onTreasuryCrashPoint = (name: TreasuryCrashPoint): void => {
      if (name !== this.killAt) return;
      this.killAt = null;
      throw new Killed(name);
    };
    this.#treasury = await openTreasury(
      { clock, log: app.log, outside: { onTreasuryCrashPoint } },
      { orm: app.orm, catalogue: app.catalogue },
      settlement.adapters,
      this.account,
    );
  }

  get treasury(): Treasury {
    if (!this.#treasury) throw new Error('not watched');
    return this.#treasury;
  }

  /** A minute later: chains are scanned, the account is read, and transfers are matched. */
  async turn(times = 1): Promise<void> {
    for (let turn = 0; turn < times; turn++) {
      this.gateway.clock.advance(60_000);
      await this.gateway.tick();
      try {
        await this.treasury.reader?.runIfDue();
        await this.match();
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        await this.restart();
      }
    }
  }

  /** Matches transfers on the chains that tests use. */
  async match(): Promise<void> {
    const fences = await this.gateway.query<{ chain: string; fence: string }>(
      'select chain, fence::text as fence from chain_state where chain = any($1)',
      [usedChains],
    );
    for (const lease of fences) {
      const adapter = this.gateway.settlement.adapters.get(lease.chain);
      if (adapter) await this.treasury.transfers.run(adapter, lease);
    }
  }

  /** A person withdraws to a hot wallet. The account has less at once. Returns the reference. */
  async withdraw(
    coin: string,
    network: string,
    { gross, fee, ...changes }: { gross: string; fee: string } & Partial<Movement>,
  ): Promise<string> {
    this.#made += 1;
    const reference = `W${this.#made}`;
    this.account.add(coin, new Big('0').minus(gross));
    this.account.put({
      kind: 'withdrawal',
      reference,
      coin,
      network,
      txid: null,
      isInternal: false,
      address: await this.hotWallet(network),
      tag: null,
      amount: gross,
      fee,
      state: 'pending',
      told: 'Pending',
      atMs: this.gateway.clock.now().getTime(),
      ...changes,
    });
    return reference;
  }

  /** The exchange credits a deposit. */
  credit(coin: string, network: string, amount: string, changes: Partial<Movement>): string {
    this.#made += 1;
    const reference = `D${this.#made}`;
    this.account.put({
      kind: 'deposit',
      reference,
      coin,
      network,
      txid: null,
      isInternal: false,
      address: 'at-the-exchange',
      tag: null,
      amount,
      fee: '0',
      state: 'done',
      told: 'Success',
      atMs: this.gateway.clock.now().getTime(),
      ...changes,
    });
    if (changes.state === undefined || changes.state === 'done' || changes.state === 'locked')
      this.account.add(coin, amount);
    return reference;
  }

  /** Reads the account twice, and takes its balances into the books. */
  async open(): Promise<void> {
    await this.turn(2);
    await this.takeIn();
  }
}

/** A gateway with sandbox chains that watches an account, one turn at a time. */
export class WatchedGateway extends ListedBooks<SettledGateway> {
  static async start(): Promise<WatchedGateway> {
    return WatchedGateway.on(await startSettledGateway());
  }

  /** Watches an account with 10 BTC and 50,000 USDT on a gateway that runs. */
  static async on(gateway: SettledGateway): Promise<WatchedGateway> {
    const watched = new WatchedGateway(gateway);
    watched.account.add('BTC', '10');
    watched.account.add('USDT', '50000');
    await watched.restart();
    return watched;
  }

  /**
   * Begins another test on this gateway two days later, when nothing of earlier tests is awaited
   * any more. The exchange answers again, and shows everything.
   */
  async next(): Promise<void> {
    this.account.answerAgain();
    this.killAt = null;
    this.gateway.clock.advance(2 * 86_400_000);
    await this.mark();
  }

  /** Coins arrive at a hot wallet, in the mempool. Returns the txid. */
  async arrive(coin: string, network: string, amount: string): Promise<string> {
    const currency = this.gateway.app.catalogue.find(coin, network);
    if (!currency) throw new Error(`no ${coin} on ${network}`);
    return this.gateway.settlement.sandbox.pay(this.chain(network), {
      to: await this.hotWallet(network),
      tag: null,
      contract: currency.contract,
      amount: toUnits(amount, currency.decimals),
      busyBlocks: 10,
    });
  }

  /** A person signs a transaction of the hot wallet outside the gateway. Returns the txid. */
  async spend(coin: string, network: string, amount: string, fee = '0.0001'): Promise<string> {
    const { catalogue } = this.gateway.app;
    const currency = catalogue.find(coin, network);
    const gas = catalogue.gasCoin(this.chain(network));
    if (!currency || !gas) throw new Error(`no ${coin} on ${network}`);
    return this.gateway.settlement.sandbox.spend(this.chain(network), {
      from: await this.hotWallet(network),
      to: 'the-exchange',
      tag: null,
      contract: currency.contract,
      amount: toUnits(amount, currency.decimals),
      fee: toUnits(fee, gas.decimals),
      busyBlocks: 10,
    });
  }

  /** Makes blocks, and scans them. */
  async mine(network: string, blocks = 10): Promise<void> {
    await this.gateway.mine(network, blocks);
    await this.gateway.tick();
  }
}
