import { systemMs } from '../base/clock.ts';
import { notNegative, positive } from './decimals.ts';
import {
  type ExchangeName,
  ExchangeUnavailable,
  type Holdings,
  type Movement,
  type MovementKind,
  mostMovements,
  movementStates,
} from './exchange.ts';
import type { ExchangeProcess } from './exchange-process.ts';

/** The most coins of an account. */
const mostCoins = 5_000;
const longestText = 200;
/** How far the exchange's clock may be ahead of ours. */
const mostAheadMs = 86_400_000;

/**
 * What one account at one exchange holds and moves, read with a key that can do nothing else. It
 * checks every answer before it returns it.
 */
export class FundingAccount {
  readonly name: ExchangeName;
  readonly #process: ExchangeProcess;

  constructor(name: ExchangeName, process: ExchangeProcess) {
    this.name = name;
    this.#process = process;
  }

  /**
   * Every coin of which the account holds something, each once.
   *
   * @throws ExchangeRefusal when the exchange declined, as it does an unknown key;
   *   ExchangeUnavailable when there is no valid answer.
   */
  async holdings(): Promise<Holdings[]> {
    const found = await this.#process.ask(this.name, 'holdings');
    if (!Array.isArray(found) || found.length > mostCoins) {
      throw new ExchangeUnavailable('the exchange gave no list of holdings');
    }
    const held = found.map(checkedHoldings);
    if (new Set(held.map(({ coin }) => coin)).size < held.length) {
      throw new ExchangeUnavailable('the exchange told the holdings of a coin twice');
    }
    return held;
  }

  /**
   * All deposits or withdrawals since a moment, and perhaps a few before it, each once. `sinceMs`
   * is in milliseconds since 1970.
   *
   * @throws ExchangeRefusal when the exchange declined, as it does an unknown key;
   *   ExchangeUnavailable when there is no valid answer, or the list was not read to its end.
   */
  async movements(kind: MovementKind, sinceMs: number): Promise<Movement[]> {
    const found = await this.#process.ask(this.name, 'movements', kind, Math.floor(sinceMs));
    if (!Array.isArray(found)) throw new ExchangeUnavailable(`the exchange gave no list of ${kind}s`);
    if (found.length > mostMovements) {
      throw new ExchangeUnavailable(`there are more than ${mostMovements} ${kind}s`);
    }
    const byReference = new Map<string, Movement>();
    for (const answer of found) {
      const movement = checkedMovement(answer, kind);
      const other = byReference.get(movement.reference);
      if (other && JSON.stringify(other) !== JSON.stringify(movement)) {
        throw new ExchangeUnavailable(`the exchange told two ${kind}s under one reference`);
      }
      byReference.set(movement.reference, movement);
    }
    return [...byReference.values()];
  }
}

function checkedHoldings(answer: unknown): Holdings {
  const { coin, total, free } = (answer ?? {}) as Partial<Holdings>;
  const [all, unlocked] = [positive(total), notNegative(free)];
  if (unlocked.gt(all)) throw new ExchangeUnavailable('more of a coin is free than is there');
  return { coin: text(coin), total: all.toFixed(), free: unlocked.toFixed() };
}

function checkedMovement(answer: unknown, asked: MovementKind): Movement {
  const movement = (answer ?? {}) as Partial<Movement>;
  const { kind, reference, coin, network, txid, isInternal, address, tag, amount, fee, state, told, atMs } = movement;
  if (kind !== asked) throw new ExchangeUnavailable(`a ${asked} is none`);
  const known = movementStates.find((one) => one === state);
  if (known === undefined) throw new ExchangeUnavailable(`a ${kind} has no state`);
  if (typeof isInternal !== 'boolean') throw new ExchangeUnavailable(`a ${kind} does not tell where it was`);
  if (isInternal && txid !== null) throw new ExchangeUnavailable(`a ${kind} is on a chain and on none`);
  const [moved, paid] = [positive(amount), notNegative(fee)];
  if (kind === 'withdrawal' && paid.gte(moved)) throw new ExchangeUnavailable(`a ${kind} costs all of it`);
  if (typeof atMs !== 'number' || !Number.isSafeInteger(atMs) || atMs <= 0 || atMs > systemMs() + mostAheadMs) {
    throw new ExchangeUnavailable(`a ${kind} has no valid time`);
  }
  return {
    kind,
    reference: text(reference),
    coin: text(coin),
    network: textOrNull(network),
    txid: textOrNull(txid),
    isInternal,
    address: textOrNull(address),
    tag: textOrNull(tag),
    amount: moved.toFixed(),
    fee: paid.toFixed(),
    state: known,
    told: text(told),
    atMs,
  };
}

/** A text that can be stored, and printed on a terminal. */
function text(answer: unknown): string {
  if (typeof answer !== 'string' || answer === '' || answer.length > longestText || /\p{C}/u.test(answer)) {
    throw new ExchangeUnavailable('a text is empty, too long or not printable');
  }
  return answer;
}

function textOrNull(answer: unknown): string | null {
  return answer === null ? null : text(answer);
}
