import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../base/clock.ts';
import { sql } from '../../base/db/sql.ts';
import type { ChainAdapter } from '../../chains/port/chain-adapter.ts';
import type { CurrencyCatalogue } from '../../market/currencies/currency-catalogue.ts';
import { persistPayment } from '../rules/payments.ts';
import { secondsAfter } from '../rules/settling.ts';
import { type ChainLease, guardLease } from '../turns/chain-lease.ts';
import type { ChainTask } from '../turns/chain-task.ts';

export interface WalletSetupOptions {
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly catalogue: CurrencyCatalogue;
}

/** Seconds until a set-up that came to nothing is decided again. */
const againSec = 3_600;

/**
 * Keeps the hot wallets of chains ready to pay, where the chain asks for it: it decides one set-up
 * at a time, and the payment worker makes it. A set-up pays no one and costs its fee.
 */
export class WalletSetup implements ChainTask {
  readonly everySec = 30;
  readonly #options: WalletSetupOptions;

  constructor(options: WalletSetupOptions) {
    this.#options = options;
  }

  async run(adapter: ChainAdapter, lease: ChainLease): Promise<void> {
    const { orm, clock } = this.#options;
    if (!adapter.neededSetup || (await this.#isBusy(orm.em.fork(), adapter.chain))) return;
    const setup = await adapter.neededSetup();
    if (setup === null) return;
    const { address } = await adapter.hotWallet();
    await orm.em.fork().transactional(async (em) => {
      await guardLease(em, lease);
      const { coin, network } = this.#options.catalogue.gasCoin(adapter.chain);
      const decided = {
        ...{ id: uuidv7(), kind: 'setup' as const, orderId: null, depositId: null, sources: null },
        ...{ leg: 'main' as const, chain: adapter.chain, coin, network, contract: null },
        ...{ address, tag: null, amount: '0', feeCharged: '0', setup },
      };
      persistPayment(em, decided, clock.now());
    });
  }

  /** Whether a set-up is under way, or one came to nothing a short time ago. */
  async #isBusy(em: EntityManager, chain: string): Promise<boolean> {
    const since = secondsAfter(this.#options.clock.now(), -againSec);
    const [row] = await sql<{ busy: boolean }>(
      em,
      `select exists (select from payment
                       where chain = ? and kind = 'setup'
                         and (state not in ('confirmed', 'dead') or state = 'dead' and ended_at > ?)) as busy`,
      [chain, since],
    );
    return row?.busy ?? true;
  }
}
