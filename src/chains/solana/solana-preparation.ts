import { toUnits } from '../../base/money.ts';
import type { OwnAddresses } from '../addresses/own-addresses.ts';
import { NodeFault } from '../nodes/node-answer.ts';
import { refuseAhead, refuseStalled } from '../nodes/stalled.ts';
import {
  ChainError,
  type EarlierTx,
  type Held,
  type PaymentIntent,
  type PreparedTx,
  type SweepCost,
  type UsualCosts,
} from '../port/chain-adapter.ts';
import type { SolanaHeader } from './solana-answer.ts';
import { associatedAccount, markerAddress, markerSeed, type SolanaToken } from './solana-keys.ts';
import { accountSize, descending, readHolding, readMint } from './solana-mint.ts';
import type { SolanaAccount, SolanaNode } from './solana-node.ts';
import { isListed, type SolanaNetwork, solanaPath, solDecimals } from './solana-section.ts';
import { blockhashLife } from './solana-status.ts';
import { mostMarkers } from './solana-transactions.ts';
import {
  decodePayload,
  encodePayload,
  encodeTx,
  mostSources,
  priorityFeeOf,
  reservationOf,
  type SolanaAction,
  type SolanaTx,
  type TokenSource,
  unsignedTx,
} from './solana-tx.ts';

interface SolanaPreparationOptions {
  readonly network: SolanaNetwork;
  readonly hotWallet: string;
  readonly addresses: OwnAddresses;
}

/** The block on which a payment is built. Questions about it are asked at this slot or later. */
interface Ground {
  readonly head: SolanaHeader;
  readonly slot: number;
  readonly blockhash: string;
  readonly lastHeight: number;
}

/** What a payment does, with what it costs besides the chain's fee. */
interface Order {
  readonly action: SolanaAction;
  /** The number of its marker; null for a sweep. */
  readonly marker: number | null;
  /** Path of the swept address's key. */
  readonly path: string | null;
  /** Rents of the accounts that it makes, in lamports. */
  readonly rents: bigint;
}

/** The chain's own bounds of a transaction's computing. */
const mostUnits = 1_400_000;
/** The units may grow until the block. */
const unitsMargin = { of: 12n, in: 10n };
/** Failures of a trial that say nothing about the payment. */
const passing = /^(BlockhashNotFound|AccountInUse|ClusterMaintenance|WouldExceed\w*)/;
/** Failures because of the account that pays the fee. */
const poor = /^(InsufficientFundsForFee|AccountNotFound|\{"InsufficientFundsForRent":\{"account_index":0\}\})$/;

/** Builds the unsigned transactions of Solana. Each call puts all of its questions to one node. */
export class SolanaPreparation {
  readonly #options: SolanaPreparationOptions;
  readonly #maxFee: bigint;

  constructor(options: SolanaPreparationOptions) {
    this.#options = options;
    this.#maxFee = toUnits(options.network.feeLimits?.perTransaction ?? '0', solDecimals);
  }

  async prepare(
    node: SolanaNode,
    intent: PaymentIntent,
    held: Held,
    earlier: readonly EarlierTx[],
  ): Promise<PreparedTx> {
    const { hotWallet } = this.#options;
    const ground = await this.#ground(node);
    const order = await this.#order(node, intent, ground, { held, earlier });
    const { action, rents } = order;
    const least = {
      ...{ wallet: hotWallet, blockhash: ground.blockhash, action },
      ...{ computeLimit: mostUnits, computePrice: 0n },
    };
    // The chain itself tells what it takes for signatures.
    const base = rents + (await node.feeOf(encodeTx(least), ground.slot));
    // Before the trial, which fails without these coins for a reason that is not the payment's.
    const free = await this.#coins(node, ground, held);
    this.#refuseTooLittle(action, { free, fee: base });
    const tx = await this.#offer(node, least, ground);
    const fee = base + priorityFeeOf(tx);
    if (fee > this.#maxFee) {
      throw refused('fee_above_maximum', `the fee is ${fee} lamports, and max_fee ${this.#maxFee}`);
    }
    this.#refuseTooLittle(action, { free, fee });
    return {
      payload: encodePayload({ marker: order.marker, path: order.path, tx }),
      reserves: [reservationOf(tx)],
      fee,
      expiresAt: { height: ground.lastHeight },
    };
  }

  /** The wallet pays for sweeps, so that an address never lacks coins for its own. */
  async sweepCost(node: SolanaNode, intent: PaymentIntent): Promise<SweepCost> {
    const { fee } = await this.prepare(node, intent, new Map(), []);
    return { fee, perSource: fee, lacking: 0n };
  }

  /**
   * What a payout to a new holder and a sweep cost, without an offer for computing. A sweep of a
   * token brings back the rent of its account, which is not counted here.
   */
  async usualCosts(node: SolanaNode, contract: string | null): Promise<UsualCosts> {
    const { hotWallet: wallet } = this.#options;
    const { slot, blockhash } = await this.#ground(node);
    const token = contract === null ? null : await tokenOf(node, contract, slot);
    const marker = { seed: markerSeed(wallet, 0), rent: await node.rentOf(0) };
    const action = { kind: 'payment', marker, to: wallet, token, amount: 1n } as const;
    const tx = { wallet, blockhash, computeLimit: mostUnits, computePrice: 0n, action };
    const signature = await node.feeOf(encodeTx(tx), slot);
    const accountRent = token === null ? 0n : await node.rentOf(accountSize(token));
    return { payout: signature + marker.rent + accountRent, sweep: 2n * signature };
  }

  /** Whether a second node knows the blockhash, and no account at the marker. */
  async isConfirmed(node: SolanaNode, payload: string): Promise<boolean> {
    const { tx } = decodePayload(payload);
    const { ref } = await node.head();
    await node.feeOf(encodeTx(tx), 0);
    if (tx.action.kind !== 'payment') return true;
    const marker = markerAddress(tx.wallet, tx.action.marker.seed);
    return (await node.accounts([marker], ref.height)).value[0] === null;
  }

  async #ground(node: SolanaNode): Promise<Ground> {
    const { network } = this.#options;
    const head = await node.head();
    refuseStalled(network, Math.floor(head.ref.timeMs / 1_000));
    refuseAhead(network, Math.floor(head.ref.timeMs / 1_000));
    const { slot, value } = await node.blockhash();
    if (slot < head.ref.height) throw new NodeFault('node_behind', `builds on slot ${slot}, below its newest block`);
    // Most of its life is needed. More than a whole one would keep a dead payment waiting.
    const life = value.lastHeight - head.blockHeight;
    const slots = slot - head.ref.height;
    if (life <= (blockhashLife * 2) / 3 || life > blockhashLife + slots) {
      throw new NodeFault('unsound_answer', `tells a blockhash that counts for ${life} blocks`);
    }
    return { head, slot, ...value };
  }

  /** @throws ChainError for an intent that has no place on this chain. */
  async #order(
    node: SolanaNode,
    intent: PaymentIntent,
    ground: Ground,
    { held, earlier }: { held: Held; earlier: readonly EarlierTx[] },
  ): Promise<Order> {
    const { network } = this.#options;
    const { contract, tag } = intent;
    if (tag !== null) throw refused('no_tags', `${network.chain} has no tags`, permanent);
    if (contract !== null && !isListed(network, contract)) {
      throw refused('token_not_listed', `${contract} is not among the tokens of ${network.chain}`, permanent);
    }
    return intent.from === null
      ? this.#payment(node, intent, ground, { held, earlier })
      : this.#sweep(node, intent, intent.from, ground);
  }

  async #payment(
    node: SolanaNode,
    { id, to, contract, amount }: PaymentIntent,
    { slot }: Ground,
    { held, earlier }: { held: Held; earlier: readonly EarlierTx[] },
  ): Promise<Order> {
    const { hotWallet } = this.#options;
    if (to === hotWallet) throw refused('would_fail', 'the wallet pays itself', permanent);
    const token = contract === null ? null : await tokenOf(node, contract, slot);
    const [rent, number] = await Promise.all([node.rentOf(0), this.#marker(node, id, slot, earlier)]);
    const marker = { seed: markerSeed(id, number), rent };
    const action = { kind: 'payment', marker, to, token, amount } as const;
    if (token === null) {
      const [recipient = null] = (await node.accounts([to], slot)).value;
      if (recipient === null && amount < rent) {
        throw refused('below_least_amount', `a new address needs ${rent} lamports, and gets ${amount}`);
      }
      return { action, marker: number, path: null, rents: rent };
    }
    const accounts = [associatedAccount(hotWallet, token), associatedAccount(to, token)];
    const [own = null, theirs = null] = (await node.accounts(accounts, slot)).value;
    this.#refuseTooFewTokens(token, own, { amount, held });
    if (theirs !== null && !readHolding(theirs, token.mint).isUsable) {
      throw refused('would_fail', 'the issuer does not let the recipient hold the token');
    }
    const rents = rent + (theirs === null ? await node.rentOf(accountSize(token)) : 0n);
    return { action, marker: number, path: null, rents };
  }

  /**
   * The number of the payment's marker. The next attempt uses the same one, so that no two of them
   * can both pay. The first attempt passes over markers that a stranger made.
   */
  async #marker(node: SolanaNode, id: string, slot: number, earlier: readonly EarlierTx[]): Promise<number> {
    const { hotWallet } = this.#options;
    const addresses = Array.from({ length: mostMarkers }, (_, number) =>
      markerAddress(hotWallet, markerSeed(id, number)),
    );
    const { value } = await node.accounts(addresses, slot);
    const last = earlier.at(-1);
    if (last !== undefined) {
      const { marker } = decodePayload(last.payload);
      if (marker !== null && value[marker] === null) return marker;
      throw refused('earlier_may_confirm', 'what the earlier attempt reserved is used');
    }
    const free = value.indexOf(null);
    if (free !== -1) return free;
    throw refused('would_fail', 'others made every marker of the payment');
  }

  async #sweep(
    node: SolanaNode,
    { to, contract, amount }: PaymentIntent,
    from: readonly string[],
    { slot }: Ground,
  ): Promise<Order> {
    const { network, hotWallet, addresses } = this.#options;
    const [owner] = from;
    if (owner === undefined || from.length !== 1 || to !== hotWallet) {
      throw refused('bad_sweep', 'a sweep brings the coins of one address to the hot wallet', permanent);
    }
    const index = (await addresses.indexes([owner])).get(owner);
    if (index === undefined) throw refused('unknown_address', `${owner} is not ours`, permanent);
    const path = solanaPath(network.chain, index);
    if (contract === null) {
      const [account = null] = (await node.accounts([owner], slot)).value;
      const has = account?.lamports ?? 0n;
      if (has < amount) throw refused('insufficient_funds', `${owner} has ${has} lamports of ${amount}`);
      return { action: { kind: 'coin_sweep', owner, amount }, marker: null, path, rents: 0n };
    }
    const token = await tokenOf(node, contract, slot);
    const sources = await sourcesOf(node, { owner, token, amount, slot });
    const [own = null] = (await node.accounts([associatedAccount(hotWallet, token)], slot)).value;
    const rents = own === null ? await node.rentOf(accountSize(token)) : 0n;
    return { action: { kind: 'token_sweep', owner, token, sources }, marker: null, path, rents };
  }

  /**
   * Adds the units of computing that a trial used, and what others offered for them in the last
   * blocks.
   */
  async #offer(node: SolanaNode, least: SolanaTx, { slot }: Ground): Promise<SolanaTx> {
    const { error, units } = await node.trial(unsignedTx(least), slot);
    if (error !== null) throw trialFault(error);
    const limit = (units * unitsMargin.of) / unitsMargin.in + 1n;
    if (limit > BigInt(mostUnits)) throw refused('would_fail', 'it takes more computing than the chain allows');
    const prices = (await node.recentPrices([least.wallet])).sort(descending);
    // Nine of ten offers are at or below it.
    const computePrice = prices[Math.floor(prices.length / 10)] ?? 0n;
    return { ...least, computeLimit: Number(limit), computePrice };
  }

  /**
   * The wallet's coins without what it must keep, and what it promised to other payments. It pays
   * the fees of sweeps too.
   */
  async #coins(node: SolanaNode, { slot }: Ground, held: Held): Promise<bigint> {
    const [{ value }, least] = await Promise.all([node.accounts([this.#options.hotWallet], slot), node.rentOf(0)]);
    let coins = (value[0]?.lamports ?? 0n) - least;
    for (const [reserved, promised] of held) {
      coins -= promised.fee;
      if (promised.contract === null && isOfWallet(reserved)) coins -= promised.amount;
    }
    return coins;
  }

  #refuseTooLittle(action: SolanaAction, { free, fee }: { free: bigint; fee: bigint }): void {
    const needed = fee + (action.kind === 'payment' && action.token === null ? action.amount : 0n);
    if (free >= needed) return;
    const { hotWallet } = this.#options;
    throw refused('insufficient_funds', `${hotWallet} has ${free} lamports of ${needed} besides what it must keep`);
  }

  #refuseTooFewTokens(
    { mint }: SolanaToken,
    account: SolanaAccount | null,
    { amount, held }: { amount: bigint; held: Held },
  ): void {
    const { hotWallet } = this.#options;
    const holding = account === null ? null : readHolding(account, mint);
    if (holding?.isUsable === false) throw refused('permission_changed', `the issuer of ${mint} froze ${hotWallet}`);
    let tokens = holding?.amount ?? 0n;
    for (const [reserved, promised] of held) {
      if (promised.contract === mint && isOfWallet(reserved)) tokens -= promised.amount;
    }
    if (tokens >= amount) return;
    throw refused('insufficient_funds', `${hotWallet} has ${tokens} of ${mint} besides what it promised`);
  }
}

/** Whether a payment with this reservation takes its amount from the wallet. */
function isOfWallet(reserved: string): boolean {
  return reserved.startsWith('marker:');
}

/** The program and the decimals of a token. */
async function tokenOf(node: SolanaNode, mint: string, slot: number): Promise<SolanaToken> {
  const [account = null] = (await node.accounts([mint], slot)).value;
  return readMint(mint, account);
}

/** The accounts from which a sweep takes its amount, the largest first. Emptied ones are closed. */
async function sourcesOf(
  node: SolanaNode,
  { owner, token, amount, slot }: { owner: string; token: SolanaToken; amount: bigint; slot: number },
): Promise<TokenSource[]> {
  const { value } = await node.tokenAccounts(owner, token.mint, slot);
  const sources: TokenSource[] = [];
  let missing = amount;
  const held = [...value].map(([account, state]) => ({ account, ...readHolding(state, token.mint) }));
  for (const { account, ...holding } of held.sort((a, b) => descending(a.amount, b.amount))) {
    if (holding.owner !== owner || !holding.isUsable || holding.amount === 0n || missing === 0n) continue;
    const taken = holding.amount < missing ? holding.amount : missing;
    sources.push({ account, amount: taken, isClosed: taken === holding.amount });
    missing -= taken;
  }
  if (missing > 0n)
    throw refused('insufficient_funds', `${owner} has ${amount - missing} of ${amount} of ${token.mint}`);
  if (sources.length <= mostSources) return sources;
  throw refused('bad_sweep', `the tokens of ${owner} are on ${sources.length} accounts`);
}

/** Why a trial failed: for a reason that passes, for the wallet's coins, or for the payment. */
function trialFault(error: string): ChainError {
  if (passing.test(error)) return new NodeFault('node_busy', `cannot try a payment now: ${error}`);
  if (poor.test(error)) return refused('insufficient_funds', `the wallet lacks coins: ${error}`);
  return refused('would_fail', `the chain would undo it: ${error}`);
}

const permanent = { retryable: false } as const;

/** A fact of the chain, which each of its nodes would tell. */
function refused(code: string, message: string, { retryable = true }: { retryable?: boolean } = {}): ChainError {
  return new ChainError(code, message, { retryable, isOfChain: true });
}
