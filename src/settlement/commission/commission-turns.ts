import type { Clock } from '../../base/clock.ts';
import type { CommissionClosing } from './commission-closing.ts';
import type { CommissionConversions } from './commission-conversions.ts';
import type { CommissionPayments } from './commission-payments.ts';

export interface CommissionTurnsParts {
  readonly clock: Clock;
  /** Lets addresses take effect whose time has come. */
  readonly takeEffect: () => Promise<unknown>;
  readonly conversions: Pick<CommissionConversions, 'convert'>;
  readonly closing: Pick<CommissionClosing, 'close'>;
  readonly payments: Pick<CommissionPayments, 'decide'>;
}

/** How often a process converts. Each time reads the balances of all partners. */
const convertMs = 3_600_000;

/**
 * What a worker does for the commission of partners, in this order: new addresses, conversions,
 * closings, payments. Each part may run in several workers at once.
 */
export class CommissionTurns {
  readonly #parts: CommissionTurnsParts;
  #convertedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: CommissionTurnsParts) {
    this.#parts = parts;
  }

  async run(): Promise<void> {
    const { clock, takeEffect, conversions, closing, payments } = this.#parts;
    await takeEffect();
    const nowMs = clock.now().getTime();
    if (nowMs - this.#convertedMs >= convertMs) {
      await conversions.convert();
      this.#convertedMs = nowMs;
    }
    await closing.close();
    await payments.decide();
  }
}
