import { randomBytes } from 'node:crypto';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Clock } from '../../base/clock.ts';
import { Big, floorTo, fromUnits, toUnits } from '../../base/money.ts';
import { addressExample } from '../../chains/addresses/address.ts';
import { madeUpAddress } from '../../chains/addresses/made-up-address.ts';
import { networkById } from '../../chains/networks/networks.ts';
import { type OutputState, outputStates, type PaidOutput, paidTo } from '../../chains/sandbox/paid-to.ts';
import { busyBlocks } from '../../chains/sandbox/sandbox-adapters.ts';
import type { SandboxChain, SandboxOutput } from '../../chains/sandbox/sandbox-chain.ts';
import { movedBy } from '../../chains/sandbox/tx-facts.ts';
import type { ExchangeKey, ExchangeName } from '../../exchanges/exchange.ts';
import { balanceOf, creditFinal, giveBack, takeIn, withdraw } from '../../exchanges/sandbox/account.ts';
import type { ExchangeState, ImitatedMovement, ImitatedPayment } from '../../exchanges/sandbox/exchange-state.ts';
import { ImitatedBinance } from '../../exchanges/sandbox/imitated-binance.ts';
import type { ImitatedExchange } from '../../exchanges/sandbox/imitated-exchange.ts';
import { ImitatedKraken } from '../../exchanges/sandbox/imitated-kraken.ts';
import { type ImitatedRequest, ImitationServer, type Reaction } from '../../exchanges/sandbox/imitation-server.ts';
import { venueNetwork } from '../../exchanges/sandbox/network-names.ts';
import { strike } from '../../exchanges/sandbox/strikes.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import type { PriceBook } from '../../market/rates/price-book.ts';
import { VenueBooks } from './venue-books.ts';
import { VenueStore } from './venue-store.ts';

interface SandboxVenueOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly catalogue: CurrencyCatalogue;
  readonly prices: PriceBook;
  readonly chain: SandboxChain;
  /** The exchange whose protocol it speaks. */
  readonly name: ExchangeName;
  /** The coin in which its markets are. */
  readonly cash: string;
  /** The most rows of a page of a list of deposits or withdrawals. */
  readonly pageSize?: number;
}

/** How a client reaches it. */
interface SandboxVenueAccess {
  readonly origin: string;
  readonly trading: ExchangeKey;
  readonly reading: ExchangeKey;
}

/** What a fresh account has of each coin, and of the cash coin, in US dollars. */
const firstUsd = '1000000';
const firstCashUsd = '10000000';
/** Digits after the point of what an account has. */
const accountDecimals = 8;
/** Blocks that a deposit needs. */
const creditDepth = 3;
/** Transactions of all chains that may be seen out of their order. Fewer than movements kept. */
const lookBack = 500;
const gone: OutputState = { isThere: false, depth: 0 };
/** Of a deposit that comes over no chain. */
const settled: OutputState = { isThere: true, depth: creditDepth };
/** The memo of the account, where a network has memos. */
const accountTag = '100001';
/** What arrives of a short withdrawal, and what a thief takes of a coin, as fractions. */
const shortPart = '0.99';
const stolenPart = '0.01';

/**
 * The sandbox venue: an imitated exchange over HTTP on this machine. It holds an account, trades at
 * the gateway's own prices, and sends and receives coins on the sandbox's chains. Its state is in
 * the database. Each worker serves it to itself, with its own keys, and all share one account.
 */
export class SandboxVenue {
  readonly #options: SandboxVenueOptions;
  readonly #store: VenueStore;
  readonly #books: VenueBooks;
  readonly #exchange: ImitatedExchange;
  readonly #server = new ImitationServer((request, isLate) => this.#react(request, isLate));

  constructor(options: SandboxVenueOptions) {
    const { orm, name, prices, cash } = options;
    this.#options = options;
    this.#store = new VenueStore(orm, name);
    this.#books = new VenueBooks(prices, cash);
    const keys = { ...newKey(), funding: newKey() };
    this.#exchange = name === 'kraken' ? new ImitatedKraken(keys) : new ImitatedBinance(keys);
    if (options.pageSize !== undefined) this.#exchange.pageSize = options.pageSize;
  }

  /** Makes the account where there is none, and serves it. */
  async start(): Promise<SandboxVenueAccess> {
    await this.#store.open();
    await this.#store.change((state) => this.#prepare(state));
    const { key, secret, funding } = this.#exchange;
    return { origin: await this.#server.start(), trading: { key, secret }, reading: funding };
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  /**
   * Does what the exchange does on its own: it pays withdrawals, credits deposits, and lets the
   * account's faults happen. Any number of processes may call it at any time.
   */
  async step(): Promise<void> {
    await this.#store.change(async (state, em) => {
      this.#prepare(state);
      this.#steal(state);
      await this.#payWithdrawals(state, em);
      await this.#takeDeposits(state, em);
    });
  }

  #react(request: ImitatedRequest, isLate: boolean): Promise<Reaction> {
    return this.#store.change((state) => {
      state.books = this.#books.of(this.#coins());
      this.#exchange.state = state;
      return this.#exchange.react(request, isLate);
    });
  }

  #coins(): readonly string[] {
    return [...new Set(this.#options.catalogue.rows.map(({ coin }) => coin))];
  }

  /** Gives the account its first coins, and an address on each chain. */
  #prepare(state: ExchangeState): void {
    const { catalogue, cash } = this.#options;
    for (const coin of [cash, ...this.#coins()]) {
      const price = this.#books.price(coin);
      if (state.balances[coin] !== undefined || !price) continue;
      state.balances[coin] = floorTo(
        new Big(coin === cash ? firstCashUsd : firstUsd).div(price),
        accountDecimals,
      ).toFixed();
    }
    for (const { network: id } of catalogue.rows) {
      const network = networkById(id);
      if (!network || state.addresses[id]) continue;
      const [, known] =
        Object.entries(state.addresses).find(([other]) => networkById(other)?.chain === network.chain) ?? [];
      state.addresses[id] = known ?? { address: madeUpAddress(id), tag: network.memo ? accountTag : null };
    }
  }

  /** Someone else has the account: withdrawals to an address that is none of ours. */
  #steal(state: ExchangeState): void {
    const { catalogue, clock, name } = this.#options;
    if ((state.strikes.foreign_withdrawal ?? 0) === 0) return;
    const asset = catalogue.rows.find(({ coin, network, networkFee, decimals }) => {
      const gross = stolenOf(state, coin, decimals);
      return venueNetwork(name, network) !== null && gross.gt(networkFee);
    });
    if (!asset || !strike(state, 'foreign_withdrawal')) return;
    const { coin, network: networkId, networkFee, decimals } = asset;
    withdraw(state, {
      ...{ coin, networkId },
      network: venueNetwork(name, networkId) ?? networkId,
      gross: stolenOf(state, coin, decimals).toFixed(),
      fee: new Big(networkFee).toFixed(),
      address: addressExample(networkId),
      tag: null,
      atMs: clock.now().getTime(),
    });
  }

  async #payWithdrawals(state: ExchangeState, em: EntityManager): Promise<void> {
    for (const row of state.movements) {
      const { payment, fault } = row;
      if (row.kind !== 'withdrawal' || row.state !== 'pending' || !payment) continue;
      if (fault === 'reject_late' || fault === 'return_without_fee') {
        if ((row.shown ?? 0) > 0) giveBack(state, row);
      } else if (fault === 'internal') {
        row.isInternal = true;
        row.state = 'done';
      } else if (payment.txid === null) {
        const together = fault === 'two_in_one' ? this.#pairOf(state, row) : [row];
        if (together !== null) await this.#pay(together, em);
      } else {
        await this.#follow(row, payment, em);
      }
    }
  }

  /** Two withdrawals on one chain that wait for each other; null while there is one only. */
  #pairOf(state: ExchangeState, row: ImitatedMovement): ImitatedMovement[] | null {
    const chain = chainOf(row);
    const other = state.movements
      .filter((one) => one !== row && one.state === 'pending' && one.payment?.txid === null)
      .find((one) => one.fault === 'two_in_one' && chainOf(one) === chain);
    return other ? [row, other] : null;
  }

  /** Pays withdrawals of one chain in one transaction. */
  async #pay(rows: readonly ImitatedMovement[], em: EntityManager): Promise<void> {
    const { chain, catalogue } = this.#options;
    const on = chainOf(rows[0]);
    const [first, ...more] = rows.map((row) => this.#output(row)).filter((output) => output !== null);
    if (!first || more.length < rows.length - 1) return;
    const txid = await chain.pay(on, { ...first, more, busyBlocks: busyBlocks(on, catalogue.rows) }, em);
    for (const row of rows) {
      if (row.payment) row.payment.txid = txid;
      row.txid = row.fault === 'replace' || row.fault === 'replace_untold' ? randomBytes(32).toString('hex') : txid;
    }
  }

  /** What a withdrawal pays; null for a coin that the catalogue has no longer, and for nothing. */
  #output({ coin, payment, address, tag, amount, fee, fault }: ImitatedMovement): SandboxOutput | null {
    const asset = this.#options.catalogue.find(coin, payment?.network ?? '');
    if (!asset || address === null) return null;
    const net = floorTo(new Big(amount).minus(fee), asset.decimals);
    if (net.lte('0')) return null;
    const short = floorTo(net.times(shortPart), asset.decimals);
    const paid = fault === 'short' && short.gt('0') ? short : net;
    return { to: address, tag, contract: asset.contract, amount: toUnits(paid, asset.decimals) };
  }

  /** A withdrawal is done with its block. One whose transaction was dropped is paid again. */
  async #follow(row: ImitatedMovement, payment: ImitatedPayment, em: EntityManager): Promise<void> {
    const tx = await movedBy(em, chainOf(row), payment.txid ?? '');
    if (tx?.state === 'mined') row.state = 'done';
    if (tx?.state === 'dropped') await this.#pay([row], em);
  }

  async #takeDeposits(state: ExchangeState, em: EntityManager): Promise<void> {
    const places = Object.entries(state.addresses).map(([id, place]) => [chainOfNetwork(id), place] as const);
    const tags = new Map(places.map(([chain, { tag }]) => [chain, tag]));
    const watched = [...new Map(places)].map(([chain, { address }]) => ({ chain, address }));
    const known = new Set(state.movements.map(({ output }) => output?.key));
    // A transaction may be seen after one that came later.
    for (const output of await paidTo(em, watched, state.scanned - lookBack)) {
      // Coins with another memo, and of other kinds, are lost.
      if (!known.has(output.key) && tags.get(output.chain) === output.tag) this.#deposit(state, output);
      state.scanned = Math.max(state.scanned, output.seq);
    }
    await this.#followDeposits(state, em);
  }

  async #followDeposits(state: ExchangeState, em: EntityManager): Promise<void> {
    const open = state.movements.filter((row) => row.kind === 'deposit' && row.state !== 'done');
    const states = await outputStates(
      em,
      open.flatMap(({ output }) => output ?? []),
    );
    for (const row of open) {
      const { isThere, depth } = row.output ? (states.get(row.output.key) ?? gone) : settled;
      if (isThere) delete row.isGone;
      else if (row.state === 'pending') row.isGone = true;
      if (isThere && depth >= creditDepth) creditFinal(state, row);
    }
  }

  /** Takes note of coins that came, if the exchange has such a coin. */
  #deposit(state: ExchangeState, output: PaidOutput): void {
    const { catalogue, name, clock } = this.#options;
    const asset = catalogue.asset(output.chain, output.contract);
    const network = asset && venueNetwork(name, asset.network);
    if (!asset || !network) return;
    takeIn(state, {
      coin: asset.coin,
      network,
      txid: output.txid,
      output: { chain: output.chain, key: output.key },
      address: output.address,
      tag: output.tag,
      amount: fromUnits(output.amount, asset.decimals),
      atMs: clock.now().getTime(),
      state: 'pending',
    });
  }
}

function stolenOf(state: ExchangeState, coin: string, decimals: number): Big {
  return floorTo(balanceOf(state, coin).times(stolenPart), Math.min(decimals, accountDecimals));
}

function newKey(): ExchangeKey {
  return { key: `sandbox-${randomBytes(12).toString('hex')}`, secret: randomBytes(32).toString('base64') };
}

function chainOfNetwork(id: string): string {
  return networkById(id)?.chain ?? '';
}

function chainOf(row: ImitatedMovement | undefined): string {
  return chainOfNetwork(row?.payment?.network ?? '');
}
