import { toUnits } from '../../base/money.ts';
import { refuseStalled } from '../nodes/stalled.ts';
import {
  ChainError,
  type EarlierTx,
  type Held,
  type PaymentIntent,
  type PreparedTx,
  type Reservation,
} from '../port/chain-adapter.ts';
import type { XrpNode } from './xrp-node.ts';
import { walletPath, type XrpNetwork } from './xrp-section.ts';
import type { XrpAccount, XrpState } from './xrp-state.ts';
import {
  decodePayload,
  encodePayload,
  maxUint32,
  readSetup,
  setupName,
  statedNetwork,
  type XrpAction,
  type XrpPayment,
  type XrpTx,
} from './xrp-tx.ts';

interface XrpPreparationOptions {
  readonly network: XrpNetwork;
  readonly hotWallet: string;
}

/** What a payment uses up: a ticket, or the account's next sequence number. */
type Turn = Pick<XrpTx, 'ticket' | 'sequence'>;

const xrpDecimals = 6;
/** Below this number of tickets more are made, up to the number that is wanted. */
const leastTickets = 50;
const wantedTickets = 150;

/** What a payment reserves. The ledger takes one transaction with it. */
export function reservationOf(account: string, { ticket, sequence }: Turn): Reservation {
  return ticket === null ? `sequence:${account}:${sequence}` : `ticket:${account}:${ticket}`;
}

/** Builds the unsigned payments of the XRP Ledger. Each call puts all questions to one server. */
export class XrpPreparation {
  readonly #options: XrpPreparationOptions;
  readonly #maxFee: bigint;

  constructor(options: XrpPreparationOptions) {
    this.#options = options;
    this.#maxFee = toUnits(options.network.feeLimits?.perTransaction ?? '0', xrpDecimals);
  }

  async prepare(node: XrpNode, intent: PaymentIntent, held: Held, earlier: readonly EarlierTx[]): Promise<PreparedTx> {
    const { network, hotWallet } = this.#options;
    const action = this.#actionOf(intent);
    const state = await node.state();
    refuseStalled(network, Math.floor(state.head.timeMs / 1_000));
    const wallet = await node.account(hotWallet);
    if (wallet === null) throw refused('insufficient_funds', `${hotWallet} does not exist yet`);
    if (wallet.isMasterOff) throw refused('permission_changed', `another key signs for ${hotWallet}`);
    if (action.kind === 'payment') await this.#refuseRecipient(node, action, state);
    const fee = await this.#fee(node, state);
    const free = freeCoins(wallet, state, held);
    const needed = fee + costOf(action, state);
    if (free < needed) throw refused('insufficient_funds', `${hotWallet} has ${free} drops of ${needed}`);
    const turn = await this.#turn(node, wallet, held, earlier);
    const tx: XrpTx = {
      ...{ account: hotWallet, action, fee, ...turn },
      lastLedger: state.head.height + network.expireAfterLedgers,
      networkId: statedNetwork(network.networkId),
    };
    return {
      payload: encodePayload({ path: walletPath(network), tx }),
      reserves: [reservationOf(hotWallet, turn)],
      fee,
      expiresAt: { height: tx.lastLedger },
    };
  }

  /**
   * The set-up that the wallet needs next. First the flag that requires a tag, so that coins of
   * users always name an order. Then tickets, so that payments wait for none before them. Null when
   * it needs none, or has no coins for it.
   */
  async neededSetup(node: XrpNode): Promise<string | null> {
    const { hotWallet } = this.#options;
    const wallet = await node.account(hotWallet);
    if (wallet === null || wallet.isMasterOff) return null;
    if (!wallet.requiresTag) return setupName({ kind: 'require_tag' });
    const { length: tickets } = await node.tickets(hotWallet);
    if (tickets >= leastTickets) return null;
    const state = await node.state();
    // Tickets lock coins. At most a tenth of what is free is locked for them.
    const affordable = freeCoins(wallet, state, new Map()) / (10n * state.reserveStep);
    const wanted = BigInt(wantedTickets - tickets);
    const count = Number(affordable < wanted ? affordable : wanted);
    return count < 1 ? null : setupName({ kind: 'tickets', count });
  }

  /** @throws ChainError for an intent that has no place on this chain. */
  #actionOf({ from, to, contract, amount, tag, setup }: PaymentIntent): XrpAction {
    const { network, hotWallet } = this.#options;
    if (from !== null) throw refused('bad_sweep', 'the wallet that pays is the one that is paid', permanent);
    if (contract !== null) throw refused('no_tokens', `${network.chain} has no tokens here`, permanent);
    if (setup !== undefined) return readSetup(setup);
    if (to === hotWallet) throw refused('would_fail', 'the wallet pays itself', permanent);
    return { kind: 'payment', to, tag: tagOf(tag), amount };
  }

  /** The fee for the next ledger. While it is above the ceiling, the payment waits. */
  async #fee(node: XrpNode, { baseFee }: XrpState): Promise<bigint> {
    const open = await node.openFee();
    const fee = open > baseFee ? open : baseFee;
    if (fee <= this.#maxFee) return fee;
    throw refused('fee_above_maximum', `the fee is ${fee} drops, and max_fee ${this.#maxFee}`);
  }

  async #refuseRecipient(node: XrpNode, { to, tag, amount }: XrpPayment, { reserveBase }: XrpState): Promise<void> {
    const { hotWallet } = this.#options;
    const recipient = await node.account(to);
    if (recipient === null) {
      if (amount >= reserveBase) return;
      throw refused('below_least_amount', `a new account needs ${reserveBase} drops, and gets ${amount}`);
    }
    if (recipient.isPseudo) throw refused('would_fail', 'the recipient belongs to the protocol');
    if (recipient.requiresTag && tag === null) throw refused('would_fail', 'the recipient requires a tag');
    if (recipient.asksSenders && !(await node.takesFrom(to, hotWallet))) {
      throw refused('would_fail', 'the recipient takes payments of chosen senders only');
    }
  }

  /**
   * What the payment uses up: what its newest attempt used, unless another transaction did. So no
   * two attempts can both be in a ledger.
   */
  async #turn(node: XrpNode, wallet: XrpAccount, held: Held, earlier: readonly EarlierTx[]): Promise<Turn> {
    const { hotWallet } = this.#options;
    const tickets = await node.tickets(hotWallet);
    const last = earlier.at(-1);
    if (last?.why === 'expired') {
      const { ticket, sequence } = decodePayload(last.payload).tx;
      const isThere = ticket === null ? sequence === wallet.sequence : tickets.includes(ticket);
      if (isThere) return { ticket, sequence };
      throw refused('earlier_may_confirm', 'what the earlier attempt reserved is used');
    }
    const free = tickets.find((ticket) => !held.has(reservationOf(hotWallet, { ticket, sequence: 0 })));
    if (free !== undefined) return { ticket: free, sequence: 0 };
    const next = { ticket: null, sequence: wallet.sequence };
    if (!held.has(reservationOf(hotWallet, next))) return next;
    throw refused('no_ticket', `${hotWallet} has no free ticket, and its next sequence number is in use`);
  }
}

/** What an action takes from the free coins in addition to its fee. */
function costOf(action: XrpAction, { reserveStep }: XrpState): bigint {
  if (action.kind === 'payment') return action.amount;
  return action.kind === 'tickets' ? reserveStep * BigInt(action.count) : 0n;
}

/** The wallet's coins without its reserve and without those promised to other payments. */
function freeCoins({ balance, owned }: XrpAccount, { reserveBase, reserveStep }: XrpState, held: Held): bigint {
  let free = balance - reserveBase - reserveStep * BigInt(owned);
  for (const { amount, fee } of held.values()) free -= amount + fee;
  return free;
}

/** @throws ChainError for a tag that the ledger does not have. */
function tagOf(tag: string | null): number | null {
  if (tag === null) return null;
  const number = /^(0|[1-9]\d{0,9})$/.test(tag) ? Number(tag) : Number.NaN;
  if (number <= maxUint32) return number;
  throw refused('would_fail', `a tag is a whole number from 0 to ${maxUint32}`, permanent);
}

const permanent = { retryable: false } as const;

/** A fact of the ledger, which each server would tell. */
function refused(code: string, message: string, { retryable = true }: { retryable?: boolean } = {}): ChainError {
  return new ChainError(code, message, { retryable, isOfChain: true });
}
