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
import { decodePayload, encodePayload, maxUint32, statedNetwork, type XrpPayment } from './xrp-tx.ts';

export interface XrpPreparationOptions {
  readonly network: XrpNetwork;
  readonly hotWallet: string;
}

/** What a payment uses up: a ticket, or the account's next sequence number. */
export type Turn = Pick<XrpPayment, 'ticket' | 'sequence'>;

const xrpDecimals = 6;

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
    const { to, amount, contract } = intent;
    if (intent.from !== null) throw refused('bad_sweep', 'the wallet that pays is the one that is paid', permanent);
    if (contract !== null) throw refused('no_tokens', `${network.chain} has no tokens here`, permanent);
    const tag = tagOf(intent.tag);
    const state = await node.state();
    refuseStalled(network, Math.floor(state.head.timeMs / 1_000));
    const wallet = await node.account(hotWallet);
    if (wallet === null) throw refused('insufficient_funds', `${hotWallet} does not exist yet`);
    if (wallet.isMasterOff) throw refused('permission_changed', `another key signs for ${hotWallet}`);
    await this.#refuseRecipient(node, to, { tag, amount, state });
    const fee = await this.#fee(node, state);
    const free = freeCoins(wallet, state, held);
    if (free < amount + fee) throw refused('insufficient_funds', `${hotWallet} has ${free} drops of ${amount + fee}`);
    const turn = await this.#turn(node, wallet, held, earlier);
    const payment: XrpPayment = {
      ...{ account: hotWallet, to, tag, amount, fee, ...turn },
      lastLedger: state.head.height + network.expireAfterLedgers,
      networkId: statedNetwork(network.networkId),
    };
    return {
      payload: encodePayload({ path: walletPath(network), payment }),
      reserves: [reservationOf(hotWallet, turn)],
      fee,
      expiresAt: { height: payment.lastLedger },
    };
  }

  /** The fee for the next ledger. While it is above the ceiling, the payment waits. */
  async #fee(node: XrpNode, { baseFee }: XrpState): Promise<bigint> {
    const open = await node.openFee();
    const fee = open > baseFee ? open : baseFee;
    if (fee <= this.#maxFee) return fee;
    throw refused('fee_above_maximum', `the fee is ${fee} drops, and max_fee ${this.#maxFee}`);
  }

  async #refuseRecipient(
    node: XrpNode,
    to: string,
    { tag, amount, state }: { readonly tag: number | null; readonly amount: bigint; readonly state: XrpState },
  ): Promise<void> {
    const { hotWallet } = this.#options;
    if (to === hotWallet) throw refused('would_fail', 'the wallet pays itself', permanent);
    const recipient = await node.account(to);
    if (recipient === null) {
      if (amount >= state.reserveBase) return;
      throw refused('below_least_amount', `a new account needs ${state.reserveBase} drops, and gets ${amount}`);
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
      const { ticket, sequence } = decodePayload(last.payload).payment;
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

/** The wallet's coins without its reserve and without those promised to other payments. */
function freeCoins({ balance, owned }: XrpAccount, { reserveBase, reserveStep }: XrpState, held: Held): bigint {
  let free = balance - reserveBase - reserveStep * BigInt(owned);
  for (const { amount, fee } of held.values()) free -= amount + fee;
  return free;
}

/** @throws ChainError for a tag that the ledger does not have. */
export function tagOf(tag: string | null): number | null {
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
