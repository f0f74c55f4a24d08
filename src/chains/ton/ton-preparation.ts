import { toUnits } from '../../base/money.ts';
import { NodeFault } from '../nodes/node-answer.ts';
import { refuseAhead, refuseStalled } from '../nodes/stalled.ts';
import { ChainError, type EarlierTx, type Held, type PaymentIntent, type PreparedTx } from '../port/chain-adapter.ts';
import type { TonAccount } from './ton-answer.ts';
import { addressOf, queryIdOf, queryIds } from './ton-highload.ts';
import type { OwnJettons } from './ton-jettons.ts';
import type { TonNode } from './ton-node.ts';
import { type TonNetwork, tonDecimals } from './ton-section.ts';
import {
  backSec,
  countOfReservation,
  encodePayload,
  expiryMs,
  reservationOf,
  type TonPayload,
  type TonTx,
} from './ton-tx.ts';

export interface TonPreparationOptions {
  readonly network: TonNetwork;
  readonly wallet: string;
  readonly jettons: OwnJettons;
  /** The count of the query id that was signed last; -1 before the first one. */
  readonly lastQuery: () => Promise<number>;
}

/** A comment of one cell, in bytes. */
const mostComment = 120;
/** Query ids that the chain knows already are skipped, such as after a backup was restored. */
const mostSkipped = 64;

/** Builds the unsigned payments of TON. Each call puts all questions to one index. */
export class TonPreparation {
  readonly #options: TonPreparationOptions;
  readonly #maxFee: bigint;

  constructor(options: TonPreparationOptions) {
    this.#options = options;
    this.#maxFee = toUnits(options.network.feeLimits?.perTransaction ?? '0', tonDecimals);
  }

  async prepare(node: TonNode, intent: PaymentIntent, held: Held, earlier: readonly EarlierTx[]): Promise<PreparedTx> {
    const { network, wallet } = this.#options;
    const { ref: head } = await node.head();
    refuseStalled(network, Math.floor(head.timeMs / 1_000));
    refuseAhead(network, Math.floor(head.timeMs / 1_000));
    await this.#refuseIntent(node, intent);
    const account = (await node.accounts([wallet])).get(wallet) ?? null;
    const { jetton, code } = await this.#jettonOf(node, intent, held);
    const fee = network.paymentFee + (jetton?.value ?? 0n);
    if (fee > this.#maxFee)
      throw refused('fee_above_maximum', `the fee is ${fee} nanotons, and max_fee ${this.#maxFee}`);
    refuseTooLittle(account, intent, fee, held);
    const deploys = !account?.isActive;
    const count = await this.#query(node, held, earlier, deploys);
    const tx: TonTx = {
      ...{ queryId: queryIdOf(count), createdAt: Math.floor(head.timeMs / 1_000) - backSec },
      ...{ to: intent.to, amount: intent.amount, comment: intent.tag, jetton },
    };
    const payload: TonPayload = { tx, deploys, code };
    return {
      payload: encodePayload(payload, wallet),
      reserves: [reservationOf(count)],
      fee,
      expiresAt: { timeMs: expiryMs(tx) },
    };
  }

  async #refuseIntent(node: TonNode, { from, to, contract, setup, tag }: PaymentIntent): Promise<void> {
    const { network, wallet, jettons } = this.#options;
    if (from !== null) throw refused('bad_sweep', 'the wallet that pays is the one that is paid', permanent);
    if (setup !== undefined) throw refused('bad_setup', `${network.chain} has no set-ups`, permanent);
    if (contract !== null && ![...network.tokens.values()].includes(contract)) {
      throw refused('token_not_listed', `${contract} is not among the tokens of ${network.chain}`, permanent);
    }
    if (Buffer.byteLength(tag ?? '') > mostComment) throw refused('would_fail', 'the comment is too long', permanent);
    if (contract !== null && addressOf(to).workChain !== 0) {
      throw refused('would_fail', 'jettons have no wallets on the masterchain', permanent);
    }
    const own = [wallet, ...(await jettons.all(node)).keys(), ...network.tokens.values()];
    if (own.includes(to))
      throw refused('would_fail', 'the recipient is the wallet, or a contract of a jetton', permanent);
  }

  async #jettonOf(
    node: TonNode,
    { contract, amount }: PaymentIntent,
    held: Held,
  ): Promise<Pick<TonTx, 'jetton'> & Pick<TonPayload, 'code'>> {
    if (contract === null) return { jetton: null, code: null };
    const { network, jettons } = this.#options;
    const own = await jettons.own(node, contract);
    let free = own?.balance ?? 0n;
    for (const promised of held.values()) if (promised.contract === contract) free -= promised.amount;
    if (own === null || free < amount) {
      throw refused('insufficient_funds', `the wallet has ${free} of ${amount} of ${contract}`);
    }
    if (!own.maySend) throw refused('permission_changed', `the issuer of ${contract} froze the wallet`);
    return { jetton: { wallet: own.address, value: network.jettonValue }, code: own.code };
  }

  /** The next query id that neither a payment of ours nor the chain knows. */
  async #query(node: TonNode, held: Held, earlier: readonly EarlierTx[], isNew: boolean): Promise<number> {
    const { network, wallet, lastQuery } = this.#options;
    const used = highestQuery(earlier.flatMap(({ reserves }) => reserves));
    const first = Math.max(await lastQuery(), used) + 1;
    for (let count = first, skipped = 0; skipped < mostSkipped; count += 1) {
      if (count >= queryIds) throw refused('query_ids_used_up', `${network.chain} needs a new wallet`);
      if (held.has(reservationOf(count))) continue;
      if (isNew || !(await this.#isUsed(node, wallet, count))) return count;
      skipped += 1;
    }
    throw refused('query_ids_used', `the chain knows the ${mostSkipped} query ids after ${first}`);
  }

  async #isUsed(node: TonNode, wallet: string, count: number): Promise<boolean> {
    const answer = await node.call(wallet, 'processed?', [BigInt(queryIdOf(count)), 0n]);
    const [isUsed] = answer ?? [];
    if (typeof isUsed !== 'bigint') throw new NodeFault('unsound_answer', 'does not tell whether a query id was used');
    return isUsed !== 0n;
  }
}

function refuseTooLittle(account: TonAccount | null, intent: PaymentIntent, fee: bigint, held: Held): void {
  let free = account?.balance ?? 0n;
  for (const promised of held.values()) free -= promised.fee + (promised.contract === null ? promised.amount : 0n);
  const needed = fee + (intent.contract === null ? intent.amount : 0n);
  if (free < needed) throw refused('insufficient_funds', `the wallet has ${free} nanotons of ${needed}`);
}

/** The highest count of query ids among reservations; -1 without any. */
export function highestQuery(reserved: Iterable<string>): number {
  let highest = -1;
  for (const one of reserved) highest = Math.max(highest, countOfReservation(one) ?? -1);
  return highest;
}

const permanent = { retryable: false } as const;

/** A fact of the chain, which each index would tell. */
function refused(code: string, message: string, { retryable = true }: { retryable?: boolean } = {}): ChainError {
  return new ChainError(code, message, { retryable, isOfChain: true });
}
