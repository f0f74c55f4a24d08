import { setTimeout as sleep } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { createOrm } from '../../../src/app/orm.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { toUnits } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { SandboxChain } from '../../../src/chains/sandbox/sandbox-chain.ts';
import { query } from '../database/database.ts';
import { runBuilt } from '../gateway/built-process.ts';
import { orderBody } from '../gateway/orders.ts';

/** Settings of the gateway's processes without waits for blocks or limits. */
export const sandboxSettings = {
  PORT: '0',
  INTERNAL_PORT: '0',
  SANDBOX_BLOCK_MS: '50',
  CHAIN_POLL_MS: '50',
  CHAIN_LEASE_MS: '2000',
  RATE_LIMIT_PUBLIC_PER_MIN: '1000000',
  RATE_LIMIT_PARTNER_PER_MIN: '1000000',
  RATE_LIMIT_ORDERS_PER_MIN: '1000000',
} as const;

const commandLine = 'surfaces/cli/main.js';

/** A new partner's key, made by the command line. */
export async function issueKeyByCommand(
  folder: string,
  settings: Readonly<Record<string, string>>,
  script = commandLine,
): Promise<string> {
  const ask = async (...args: string[]): Promise<Record<string, string>> => {
    const { code, output, errors } = await runBuilt(script, [...args, '--json'], { folder, settings });
    if (code !== 0) throw new Error(errors);
    return JSON.parse(output) as Record<string, string>;
  };
  const { id = '' } = await ask('partner', 'create', '--name', 'Sandbox users');
  const { key = '' } = await ask('partner', 'key', '--partner', id);
  return key;
}

/** How many differences `ledger reconcile` finds; NaN with what it said where it cannot tell. */
export async function reconcileByCommand(
  folder: string,
  settings: Readonly<Record<string, string>>,
  script = commandLine,
): Promise<{ differences: number; said: string }> {
  const { output, errors } = await runBuilt(script, ['ledger', 'reconcile', '--json'], { folder, settings });
  if (!output.startsWith('{')) return { differences: Number.NaN, said: errors };
  return { differences: (JSON.parse(output) as { differences: number }).differences, said: output };
}

/**
 * What users pay with, the second now and then: one has its deposit addresses derived, the other
 * takes them from the pool, which the signer fills slowly.
 */
const deposits = [
  { coin: 'BTC', network: 'BTC', chain: 'bitcoin', decimals: 8, amount: '0.01' },
  { coin: 'SOL', network: 'SOL', chain: 'solana', decimals: 9, amount: '5' },
] as const;

interface SandboxUsersOptions {
  readonly databaseUrl: string;
  readonly key: string;
  /** With /api/v1; asked in turn. */
  readonly restUrls: readonly string[];
  /** At once. */
  readonly users?: number;
}

/** Users who create orders and pay for them without a pause, until they are stopped. */
export class SandboxUsers {
  /** Ids of orders that were answered with 201. */
  readonly acknowledged: string[] = [];
  /** What went wrong, a line each. */
  readonly failures: string[] = [];
  readonly #options: SandboxUsersOptions;
  readonly #orm: MikroORM;
  readonly #running: Promise<void>[];
  #stopped = false;

  private constructor(options: SandboxUsersOptions, orm: MikroORM) {
    this.#options = options;
    this.#orm = orm;
    const chain = new SandboxChain({ orm, clock: systemClock });
    this.#running = Array.from({ length: options.users ?? 4 }, (_, user) => this.#use(chain, user));
  }

  static async start(options: SandboxUsersOptions): Promise<SandboxUsers> {
    return new SandboxUsers(options, await createOrm({ url: options.databaseUrl, poolSize: 4 }));
  }

  async #use(chain: SandboxChain, user: number): Promise<void> {
    const { restUrls, key } = this.#options;
    for (let turn = user, dealt = user; !this.#stopped; turn++, dealt++) {
      const rest = restUrls[turn % restUrls.length] ?? '';
      const { coin, network, chain: on, decimals, amount } = deposits[dealt % 12 === 0 ? 1 : 0];
      const order = orderBody({
        coin_from: coin,
        network_from: network,
        amount_from: Number(amount),
        refund_address: addressExample(network),
      });
      try {
        const reply = await fetch(`${rest}/partner/orders`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
          body: JSON.stringify(order),
        });
        const text = await reply.text();
        if (reply.status !== 201) throw new Error(`${reply.status} ${text}`);
        const { id, deposit_address: to } = JSON.parse(text) as { id: string; deposit_address: string };
        this.acknowledged.push(id);
        await chain.pay(on, { to, tag: null, contract: null, amount: toUnits(amount, decimals), busyBlocks: 40 });
      } catch (error) {
        this.failures.push(error instanceof Error ? `${error.message} ${String(error.cause ?? '')}`.trim() : 'unknown');
        await sleep(50);
      }
    }
  }

  /** Waits until this many orders are made. */
  async until(orders: number): Promise<void> {
    while (this.acknowledged.length < orders) {
      if (this.failures.length > 1000) throw new Error(`orders fail: ${this.failures[0]}`);
      await sleep(20);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
    await this.#orm.close(true);
  }
}

/**
 * What became of orders: how many there are of each status, and the payments that the signer will
 * not sign.
 */
export interface Settled {
  readonly statuses: Record<string, number>;
  readonly refused: readonly string[];
}

/**
 * Waits until every deposit that was made has come to its end, or waits for people as the signer
 * refuses.
 */
export async function depositsSettle(databaseUrl: string): Promise<Settled> {
  const refused = `select id from payment where problem = 'signer_refused'`;
  for (const deadline = Date.now() + 300_000; Date.now() < deadline; await sleep(250)) {
    const [open] = await query<{ count: number }>(
      databaseUrl,
      `select ((select count(*) from exchange_order o where status in ('confirming', 'exchanging', 'sending', 'refunding')
                   and not exists (select from payment p where p.order_id = o.id and p.id in (${refused})))
             + (select count(*) from exchange_order o join deposit_address a on a.id = o.deposit_address_id
                  join sandbox_tx t on t.recipient = a.address where o.status = 'waiting_deposit')
             + (select count(*) from payment where state not in ('confirmed', 'dead') and id not in (${refused}))
             + (select count(*) from sandbox_tx where state = 'mempool'))::int as count`,
    );
    if (open?.count !== 0) continue;
    const ended = await query<{ status: string; count: number }>(
      databaseUrl,
      'select status, count(*)::int as count from exchange_order group by status order by status',
    );
    const left = await query<{ id: string }>(databaseUrl, refused);
    return {
      statuses: Object.fromEntries(ended.map(({ status, count }) => [status, count])),
      refused: left.map(({ id }) => id),
    };
  }
  throw new Error('deposits do not come to their end');
}
