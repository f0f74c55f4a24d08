import { systemMs } from '../base/clock.ts';
import type { CcxtExchange } from './ccxt-exchange.ts';
import type { Dialect, MovementPage } from './dialect.ts';
import { ExchangeUnavailable, type Holdings, type Movement, type MovementKind, mostMovements } from './exchange.ts';
import type { ExchangeQuestions } from './exchange-messages.ts';
import { Turns } from './turns.ts';

/** The most pages of one list. */
const mostPages = 200;

/** Reads an account with a separate key, which can only read. */
export class AccountReader implements Pick<ExchangeQuestions, 'holdings' | 'movements'> {
  readonly #ccxt: CcxtExchange;
  readonly #dialect: Dialect;
  readonly #listTimeoutMs: number;
  readonly #turns: Turns;

  constructor(ccxt: CcxtExchange, dialect: Dialect, listTimeoutMs: number) {
    this.#ccxt = ccxt;
    this.#dialect = dialect;
    this.#listTimeoutMs = listTimeoutMs;
    this.#turns = new Turns(dialect.takesTurns);
  }

  holdings(): Promise<Holdings[]> {
    return this.#turns.take(() => this.#dialect.holdings(this.#ccxt));
  }

  async movements(kind: MovementKind, sinceMs: number): Promise<Movement[]> {
    const untilMs = systemMs() + this.#listTimeoutMs;
    const found: Movement[] = [];
    const begun = new Set<string | null>();
    for (let from: string | null = null; begun.size < mostPages; ) {
      if (begun.has(from)) throw new ExchangeUnavailable(`the list of ${kind}s begins again before its end`);
      if (systemMs() > untilMs) throw new ExchangeUnavailable(`the list of ${kind}s takes too long`);
      begun.add(from);
      const asked = { kind, sinceMs, from };
      // Page by page, so that a question about the holdings need not wait for a whole list.
      const page: MovementPage = await this.#turns.take(() => this.#dialect.movements(this.#ccxt, asked));
      found.push(...page.movements);
      if (found.length > mostMovements) {
        throw new ExchangeUnavailable(`there are more than ${mostMovements} ${kind}s`);
      }
      if (page.next === null) return found;
      from = page.next;
    }
    throw new ExchangeUnavailable(`the list of ${kind}s has more than ${mostPages} pages`);
  }
}
