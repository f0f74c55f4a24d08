import { fromUnits, toUnits } from '../../base/money.ts';
import { refuseAhead, refuseStalled } from '../nodes/stalled.ts';
import { ChainError, type EarlierTx, type Held, type PaymentIntent, type PreparedTx } from '../port/chain-adapter.ts';
import type { StellarHeader } from './stellar-ledger.ts';
import type { StellarNode } from './stellar-node.ts';
import { type StellarNetwork, type StellarToken, stellarDecimals, tokenOf } from './stellar-section.ts';
import { readSetup, type StellarAccounts, setupName } from './stellar-setup.ts';
import { type Entries, type EntryKey, memoKey, type StellarAccount, trustKeys } from './stellar-state.ts';
import {
  decodePayload,
  encodePayload,
  isFee,
  memoOf,
  reservationOf,
  type StellarAction,
  type StellarTx,
} from './stellar-tx.ts';

interface StellarPreparationOptions {
  readonly network: StellarNetwork;
  readonly accounts: StellarAccounts;
}

/** The account whose next sequence number a payment uses. Channel 0 is the wallet. */
interface Turn {
  readonly channel: number;
  readonly source: string;
  readonly sequence: bigint;
}

/** The details of an action, without its kind. */
interface Order {
  readonly action: StellarAction;
  readonly memo: StellarTx['memo'];
  readonly contract: string | null;
}

/** A channel gets this much for fees, in stroops, on top of what an account must keep. */
const channelFees = toUnits('1', stellarDecimals);

/** Builds the unsigned payments of Stellar. Each call puts all questions to one server. */
export class StellarPreparation {
  readonly #options: StellarPreparationOptions;
  readonly #maxFee: bigint;

  constructor(options: StellarPreparationOptions) {
    this.#options = options;
    this.#maxFee = toUnits(options.network.feeLimits?.perTransaction ?? '0', stellarDecimals);
  }

  async prepare(
    node: StellarNode,
    intent: PaymentIntent,
    held: Held,
    earlier: readonly EarlierTx[],
  ): Promise<PreparedTx> {
    const { network, accounts } = this.#options;
    const head = await node.head();
    refuseStalled(network, Math.floor(head.ref.timeMs / 1_000));
    refuseAhead(network, Math.floor(head.ref.timeMs / 1_000));
    const order = this.#orderOf(intent);
    const entries = await node.entries(this.#keysOf(order));
    const action = this.#allowed(order, entries, head);
    const fee = await this.#fee(node, head);
    this.#refuseTooLittle({ ...order, action }, entries, { head, fee, held });
    const turn = this.#turn({ entries, head, fee, held, earlier, isSetup: intent.setup !== undefined });
    const tx: StellarTx = {
      ...{ source: turn.source, wallet: accounts.wallet, fee: Number(fee), sequence: turn.sequence },
      ...{ maxTimeSec: Math.floor(head.ref.timeMs / 1_000) + network.expireAfterSec, memo: order.memo, action },
    };
    return {
      payload: encodePayload({ channel: turn.channel, tx }),
      reserves: [reservationOf(tx)],
      fee,
      expiresAt: { timeMs: tx.maxTimeSec * 1_000 },
    };
  }

  /**
   * Whether another server knows the same recipient and the same next sequence number as the one
   * by whose word a payment was built.
   */
  async isConfirmed(node: StellarNode, payload: string): Promise<boolean> {
    const { source, sequence, action } = decodePayload(payload).tx;
    const to = 'to' in action ? action.to : null;
    const entries = await node.entries([...new Set([source, to ?? source])].map((account) => ({ account })));
    if ((entries.account(source)?.sequence ?? -1n) + 1n !== sequence) return false;
    return to === null || (entries.account(to) === null) === (action.kind === 'create_account');
  }

  /**
   * The set-up that the wallet needs next. First the entry that asks senders for a memo, then the
   * trust lines of tokens whose issuers exist, then channels and coins for their fees. Null when it
   * needs none, or has no coins for it.
   */
  async neededSetup(node: StellarNode): Promise<string | null> {
    const { network, accounts } = this.#options;
    const head = await node.head();
    const tokens = [...network.tokens].map(([code, issuer]): StellarToken => ({ code, issuer }));
    const asked = trustKeys(accounts.wallet, tokens);
    const entries = await node.entries([...this.#ownKeys(), memoKey(accounts.wallet), ...asked]);
    const wallet = entries.account(accounts.wallet);
    if (wallet === null || !wallet.signsAlone) return null;
    const action = this.#missing(entries, tokens, head);
    if (action === null) return null;
    // At most a tenth of what is free goes to channels, or is locked by an entry.
    const cost = costOf(action, head);
    return cost * 10n > freeCoins(wallet, head, new Map()) ? null : setupName(action, accounts);
  }

  #missing(entries: Entries, tokens: readonly StellarToken[], head: StellarHeader): StellarAction | null {
    const { wallet, channels } = this.#options.accounts;
    if (!entries.asksForMemo(wallet)) return { kind: 'require_memo' };
    // The network refuses a trust line whose issuer is gone, and charges for it.
    const isMissing = (each: StellarToken): boolean => entries.trustLine(wallet, each) === null;
    const token = tokens.find((each) => isMissing(each) && entries.account(each.issuer) !== null);
    if (token !== undefined) return { kind: 'change_trust', token };
    const absent = channels.find((channel) => entries.account(channel) === null);
    if (absent !== undefined) return { kind: 'create_account', to: absent, amount: leastOf(head) + channelFees };
    const poor = channels.find((channel) => {
      const account = entries.account(channel);
      return account !== null && freeCoins(account, head, new Map()) < channelFees / 4n;
    });
    return poor === undefined ? null : { kind: 'payment', to: poor, token: null, amount: channelFees };
  }

  /** @throws ChainError for an intent that has no place on this chain. */
  #orderOf({ from, to, contract, amount, tag, setup }: PaymentIntent): Order {
    const { network, accounts } = this.#options;
    if (from !== null) throw refused('bad_sweep', 'the wallet that pays is the one that is paid', permanent);
    if (setup !== undefined) return { action: readSetup(setup, accounts, network), memo: null, contract: null };
    const token = contract === null ? null : tokenOf(network, contract);
    if (contract !== null && token === null) {
      throw refused('token_not_listed', `${contract} is not among the tokens of ${network.chain}`, permanent);
    }
    if (to === accounts.wallet || accounts.channels.includes(to)) {
      throw refused('would_fail', 'the wallet pays itself', permanent);
    }
    return { action: { kind: 'payment', to, token, amount }, memo: this.#memoOf(tag), contract };
  }

  #memoOf(tag: string | null): StellarTx['memo'] {
    try {
      return memoOf(tag);
    } catch (error) {
      throw refused('would_fail', error instanceof Error ? error.message : 'the tag is no memo', permanent);
    }
  }

  #ownKeys(): EntryKey[] {
    const { wallet, channels } = this.#options.accounts;
    return [wallet, ...channels].map((account) => ({ account }));
  }

  #keysOf({ action }: Order): EntryKey[] {
    const { wallet } = this.#options.accounts;
    const keys = this.#ownKeys();
    if (action.kind !== 'payment') return keys;
    const { to, token } = action;
    const isOwn = keys.some(({ account }) => account === to);
    if (!isOwn) keys.push({ account: to }, memoKey(to));
    if (token !== null) keys.push({ account: wallet, token }, { account: to, token });
    return keys;
  }

  /** The action that the ledger allows: an account that does not exist is created, not paid. */
  #allowed({ action, memo }: Order, entries: Entries, head: StellarHeader): StellarAction {
    const { wallet, channels } = this.#options.accounts;
    const own = entries.account(wallet);
    if (own === null) throw refused('insufficient_funds', `${wallet} does not exist yet`);
    if (!own.signsAlone) throw refused('permission_changed', `another key signs for ${wallet}`);
    if (action.kind !== 'payment' || channels.includes(action.to)) return action;
    const { to, token, amount } = action;
    if (entries.account(to) === null) {
      if (token !== null) throw refused('would_fail', 'the recipient does not exist, and cannot get a token');
      const least = leastOf(head);
      if (amount >= least) return { kind: 'create_account', to, amount };
      throw refused('below_least_amount', `a new account needs ${least} stroops, and gets ${amount}`);
    }
    if (memo === null && entries.asksForMemo(to)) throw refused('would_fail', 'the recipient requires a memo');
    if (token !== null) this.#refuseLine(entries, { to, token, amount });
    return action;
  }

  #refuseLine(entries: Entries, { to, token, amount }: { to: string; token: StellarToken; amount: bigint }): void {
    const { wallet } = this.#options.accounts;
    const own = entries.trustLine(wallet, token);
    if (own === null) throw refused('insufficient_funds', `${wallet} does not trust ${token.code} yet`);
    if (!own.isAuthorised) throw refused('permission_changed', `the issuer of ${token.code} froze ${wallet}`);
    if (to === token.issuer) throw refused('would_fail', 'the recipient is the issuer, who would destroy the token');
    const line = entries.trustLine(to, token);
    if (line === null) throw refused('would_fail', `the recipient does not trust ${token.code}`);
    if (!line.isAuthorised) throw refused('would_fail', `the issuer does not let the recipient hold ${token.code}`);
    if (line.limit - line.balance - line.buying < amount) {
      throw refused('would_fail', `the recipient limits its ${token.code} to less`);
    }
  }

  /** The fee for one of the next ledgers. While it is above the ceiling, the payment waits. */
  async #fee(node: StellarNode, { baseFee }: StellarHeader): Promise<bigint> {
    const usual = await node.usualFee();
    const fee = usual > baseFee ? usual : baseFee;
    if (fee <= this.#maxFee && isFee(fee)) return fee;
    throw refused('fee_above_maximum', `the fee is ${fee} stroops, and max_fee ${this.#maxFee}`);
  }

  #refuseTooLittle(
    { action, contract }: Order,
    entries: Entries,
    { head, fee, held }: { head: StellarHeader; fee: bigint; held: Held },
  ): void {
    const { wallet } = this.#options.accounts;
    const account = entries.account(wallet);
    const free = account === null ? 0n : freeCoins(account, head, held);
    const needed = fee + (contract === null ? costOf(action, head) : 0n);
    if (free < needed) throw refused('insufficient_funds', `${wallet} has ${free} stroops of ${needed}`);
    if (action.kind !== 'payment' || action.token === null) return;
    const line = entries.trustLine(wallet, action.token);
    let tokens = line === null ? 0n : line.balance - line.selling;
    for (const { contract: promised, amount } of held.values()) if (promised === contract) tokens -= amount;
    if (tokens < action.amount) {
      const has = fromUnits(tokens, stellarDecimals);
      throw refused('insufficient_funds', `${wallet} has ${has} ${action.token.code} besides what is promised`);
    }
  }

  /**
   * What the payment uses up: what its newest attempt used, unless another transaction did. So no
   * two attempts can both be in a ledger. Otherwise the next number of a channel that no payment
   * uses, or else the wallet's own.
   */
  #turn({ entries, head, fee, held, earlier, isSetup }: TurnQuestion): Turn {
    const { wallet, channels } = this.#options.accounts;
    const last = earlier.at(-1);
    if (last?.why === 'expired') {
      const { channel, tx } = decodePayload(last.payload);
      const next = (entries.account(tx.source)?.sequence ?? 0n) + 1n;
      if (next === tx.sequence) return { channel, source: tx.source, sequence: next };
      throw refused('earlier_may_confirm', 'what the earlier attempt reserved is used');
    }
    const usable = channels.slice(0, this.#options.network.channels);
    const candidates = isSetup ? [] : usable.map((source, index) => ({ channel: index + 1, source }));
    for (const { channel, source } of [...candidates, { channel: 0, source: wallet }]) {
      const account = entries.account(source);
      if (account === null || !account.signsAlone || freeCoins(account, head, new Map()) < fee) continue;
      const turn = { channel, source, sequence: account.sequence + 1n };
      if (!held.has(reservationOf(turn))) return turn;
    }
    throw refused('no_channel', 'the sequence numbers of all channels are in use');
  }
}

interface TurnQuestion {
  readonly entries: Entries;
  readonly head: StellarHeader;
  readonly fee: bigint;
  readonly held: Held;
  readonly earlier: readonly EarlierTx[];
  readonly isSetup: boolean;
}

/** What an account must keep that owns nothing. */
function leastOf({ baseReserve }: StellarHeader): bigint {
  return 2n * baseReserve;
}

/** What an action takes from the free coins in addition to its fee. */
function costOf(action: StellarAction, { baseReserve }: StellarHeader): bigint {
  if (action.kind === 'create_account') return action.amount;
  if (action.kind === 'payment') return action.token === null ? action.amount : 0n;
  return baseReserve;
}

/** The coins of an account without what it must keep and what is promised. */
function freeCoins({ balance, owned, promised }: StellarAccount, head: StellarHeader, held: Held): bigint {
  let free = balance - leastOf(head) - head.baseReserve * BigInt(owned) - promised;
  for (const { contract, amount, fee } of held.values()) free -= fee + (contract === null ? amount : 0n);
  return free;
}

const permanent = { retryable: false } as const;

/** A fact of the ledger, which each server would tell. */
function refused(code: string, message: string, { retryable = true }: { retryable?: boolean } = {}): ChainError {
  return new ChainError(code, message, { retryable, isOfChain: true });
}
