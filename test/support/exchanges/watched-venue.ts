import { openTreasury } from '../../../src/app/open-treasury.ts';
import { createLog } from '../../../src/base/log.ts';
import { formatDecimal, toUnits } from '../../../src/base/money.ts';
import { ExchangeProcess } from '../../../src/exchanges/exchange-process.ts';
import { FundingAccount } from '../../../src/exchanges/funding-account.ts';
import { takeIn, withdraw } from '../../../src/exchanges/sandbox/account.ts';
import type { ExchangeState } from '../../../src/exchanges/sandbox/exchange-state.ts';
import { venueNetwork } from '../../../src/exchanges/sandbox/network-names.ts';
import { setFault } from '../../../src/exchanges/sandbox/strikes.ts';
import type { VenueFault } from '../../../src/exchanges/sandbox/venue-faults.ts';
import type { Currency } from '../../../src/market/currencies/currency.entity.ts';
import { SandboxVenue } from '../../../src/settlement/sandbox/sandbox-venue.ts';
import { VenueStore } from '../../../src/settlement/sandbox/venue-store.ts';
import type { OnTreasuryCrashPoint } from '../../../src/settlement/treasury/crash-points.ts';
import type { VenueReader } from '../../../src/settlement/treasury/venue-reader.ts';
import type { TestClock } from '../gateway/clock.ts';
import { LogSink } from '../gateway/log-sink.ts';
import { type SettledGateway, startSettledGateway } from '../gateway/settled-gateway.ts';
import { AccountBooks } from './account-books.ts';
import type { loopbackVenues } from './venue-harness.ts';

type LoopbackVenue = (typeof loopbackVenues)[number];

/** What a person signs by hand pays to a chain of the sandbox, in the smallest unit. */
const handFee = 1_000n;

/**
 * A gateway with the imitated exchange of SANDBOX_VENUE, whose account it reads over HTTP in the
 * child process. Nothing moves but by the test.
 */
export class WatchedVenue extends AccountBooks {
  readonly #name: LoopbackVenue['name'];
  readonly #cash: string;
  readonly #sandbox: SandboxVenue;
  readonly #reader: VenueReader;
  readonly #store: VenueStore;
  readonly #closing: (() => Promise<void>)[] = [];

  private constructor(gateway: SettledGateway, { name, cash }: Pick<LoopbackVenue, 'name' | 'cash'>) {
    super(gateway, name);
    const { sandboxVenue, treasury } = gateway.settlement;
    if (!sandboxVenue || !treasury.reader) throw new Error('there is no imitated exchange');
    this.#name = name;
    this.#cash = cash;
    this.#sandbox = sandboxVenue;
    this.#reader = treasury.reader;
    this.#store = new VenueStore(gateway.app.orm, name);
  }

  /** Reads the account of a fresh exchange twice, and takes its balances into the books. */
  static async open(venue: Pick<LoopbackVenue, 'name' | 'cash'>, clock: TestClock): Promise<WatchedVenue> {
    const { name, cash } = venue;
    const settings = { SANDBOX_VENUE: 'on', VENUE: name, VENUE_CASH: cash };
    const gateway = await startSettledGateway({ settings, clock });
    const watched = new WatchedVenue(gateway, venue);
    for (let reading = 0; reading < 2; reading += 1) await watched.read();
    await watched.takeIn();
    return watched;
  }

  override async stop(): Promise<void> {
    for (const close of this.#closing) await close();
    await super.stop();
  }

  /** What another worker on the same database reads the account with, in pages of two rows. */
  async secondReader(onTreasuryCrashPoint: OnTreasuryCrashPoint = () => {}): Promise<VenueReader> {
    const { app, clock, settlement } = this.gateway;
    const { orm, catalogue, prices, log } = app;
    const [name, cash] = [this.#name, this.#cash];
    const other = new SandboxVenue({
      ...{ orm, clock, catalogue, prices, name, cash },
      chain: settlement.sandbox,
      pageSize: 2,
    });
    const { origin, trading, reading } = await other.start();
    const process = new ExchangeProcess({
      exchanges: [{ name, origin, ...trading, funding: reading }],
      log: createLog('info', new LogSink()),
      paceMs: 0,
      restartMs: 1,
    });
    this.#closing.push(
      () => process.close(),
      () => other.stop(),
    );
    const account = new FundingAccount(name, process);
    const treasury = await openTreasury(
      { clock, log, outside: { onTreasuryCrashPoint } },
      { orm, catalogue },
      settlement.adapters,
      account,
    );
    if (!treasury.reader) throw new Error('it is not watched');
    return treasury.reader;
  }

  read(): Promise<void> {
    return this.#reader.read();
  }

  /** The exchange pays and credits what is due. */
  step(): Promise<void> {
    return this.#sandbox.step();
  }

  /** A minute later: the exchange moves, chains are scanned, the account is read and matched. */
  async turn(times = 1): Promise<void> {
    for (let turn = 0; turn < times; turn += 1) {
      this.gateway.clock.advance(30_000);
      await this.step();
      await this.gateway.tick();
      await this.read();
      this.gateway.clock.advance(30_000);
      await this.gateway.tick();
    }
  }

  /** Makes enough blocks for everything, and scans them. */
  async mine(network: string): Promise<void> {
    await this.gateway.mine(network, 70);
    await this.gateway.tick();
  }

  set(fault: VenueFault, times = 1): Promise<void> {
    return this.#store.change((state) => setFault(state, fault, times));
  }

  async state(): Promise<ExchangeState> {
    const state = await this.#store.read();
    if (!state) throw new Error('the exchange was never opened');
    return state;
  }

  /** What the exchange has of each coin. */
  async balances(): Promise<Record<string, string>> {
    return (await this.state()).balances;
  }

  currency(coin: string, network: string): Currency {
    const currency = this.gateway.app.catalogue.find(coin, network);
    if (!currency) throw new Error(`no ${coin} on ${network}`);
    return currency;
  }

  /** What the exchange takes for a withdrawal. */
  fee(coin: string, network: string): string {
    return formatDecimal(this.currency(coin, network).networkFee);
  }

  /** A person withdraws to the hot wallet, on the page of the exchange. Returns the reference. */
  async withdraw(coin: string, network: string, gross: string): Promise<string> {
    const address = await this.hotWallet(network);
    const { reference } = await this.#store.change((state) =>
      withdraw(state, {
        ...{ coin, networkId: network, network: this.#nameOf(network), gross, address },
        fee: this.fee(coin, network),
        tag: null,
        atMs: this.gateway.clock.now().getTime(),
      }),
    );
    return reference;
  }

  /** A person sends coins of the hot wallet to the exchange by hand. Returns the txid. */
  async send(coin: string, network: string, amount: string): Promise<string> {
    const { contract, decimals } = this.currency(coin, network);
    const place = (await this.state()).addresses[network];
    if (!place) throw new Error(`the exchange has no address on ${network}`);
    return this.gateway.settlement.sandbox.spend(this.chain(network), {
      from: await this.hotWallet(network),
      to: place.address,
      tag: place.tag,
      contract,
      amount: toUnits(amount, decimals),
      fee: handFee,
      busyBlocks: 10,
    });
  }

  /** Coins come from outside. Returns the reference of the row in the list of deposits. */
  async credit(coin: string, network: string, amount: string): Promise<string> {
    const { reference } = await this.#store.change((state) =>
      takeIn(state, {
        ...{ coin, network: this.#nameOf(network), amount, state: 'done', txid: 'ab'.repeat(32) },
        ...{ address: state.addresses[network]?.address ?? null, tag: null },
        atMs: this.gateway.clock.now().getTime(),
      }),
    );
    return reference;
  }

  /** Changes what the exchange knows. */
  change<T>(work: (state: ExchangeState) => T): Promise<T> {
    return this.#store.change(work);
  }

  #nameOf(network: string): string {
    return venueNetwork(this.#name, network) ?? '';
  }
}
