import { createRequire } from 'node:module';

/** What a step of settlement is known by in its SQL; the first that fits names a transaction. */
const steps: readonly (readonly [string, RegExp])[] = [
  ['scan of a block stored', /update chain_state\s+set version/],
  ['venue (inventory)', /sandbox_fill|sandbox_inventory/],
  ['node takes a transaction (sandbox)', /busy_until/],
  ['node answers (sandbox)', /sandbox_/],
  ['deposit credited, terms stored', /insert into "trade"/],
  ['fill, payout and move stored', /update "trade"/],
  ['payment prepared', /insert into "payment_attempt"/],
  ['payment signed', /update "payment_attempt" set .*"raw"/],
  ['payment sent', /update "payment_attempt" set .*"sent_at"/],
  ['payment ended', /payment_reservation set released_at/],
  ['payment in a block', /update "payment_attempt" set .*"mined_height"/],
  ['order moved', /insert into "order_event"/],
  ['payment waits', /update "payment" set/],
  ['order read under its lock', /from "exchange_order".* for update/],
  ['payments due and read', /payment_reservation|from payment|payment p set|"payment"|"payment_attempt"/],
  ['order read', /"exchange_order"|exchange_order|"trade"/],
  ['jobs', /pgboss/],
  ['leases', /chain_state|worker/],
];

/** Steps of the sandbox's nodes, which share the database and are no part of the gateway. */
const nodes: ReadonlySet<string> = new Set(steps.map(([name]) => name).filter((name) => name.includes('(sandbox)')));

/** What may write. Whether it did is told by the rows. */
const writes = /\b(insert into|update|delete from)\b/i;
const locks = /\bfor (no key )?update\b/gi;

export interface Cost {
  statements: number;
  commits: number;
}

interface Sent {
  readonly sql: string;
  hasWritten: boolean;
}

interface Connection {
  readonly connectionParameters?: { readonly application_name?: string };
}

/**
 * Counts what every connection of this process sends to PostgreSQL, except connections named
 * 'users'. It counts statements, each of which is a round trip. It also counts transactions that
 * wrote, each of which is a commit that waits for the disk.
 */
export class StatementTally {
  readonly #transactions: Sent[][] = [];
  readonly #open = new WeakMap<object, Sent[]>();

  constructor() {
    const require = createRequire(import.meta.url);
    // The job queue and the mapper each have a separate driver.
    const drivers = new Set([require('pg'), createRequire(require.resolve('@mikro-orm/postgresql'))('pg')]);
    for (const { Client } of drivers) this.#listen(Client.prototype);
  }

  #listen(client: { query: (...args: unknown[]) => unknown }): void {
    const tally = this;
    const { query } = client;
    client.query = function (this: Connection, ...args: unknown[]) {
      const [first] = args;
      const sql = typeof first === 'string' ? first : (first as { text?: string } | null)?.text;
      const answer = query.apply(this, args);
      if (sql && this.connectionParameters?.application_name !== 'users') {
        const sent = { sql, hasWritten: false };
        tally.#note(this, sent);
        if (writes.test(sql.replace(locks, ''))) tally.#watch(sent, answer);
      }
      return answer;
    };
  }

  #watch(sent: Sent, answer: unknown): void {
    sent.hasWritten = true;
    if (!(answer instanceof Promise)) return;
    answer.then(
      (result: { rowCount: number | null }) => {
        sent.hasWritten = (result.rowCount ?? 0) > 0;
      },
      () => {},
    );
  }

  #note(connection: object, sent: Sent): void {
    const open = this.#open.get(connection);
    if (/^\s*(begin|start transaction)\b/i.test(sent.sql)) {
      this.#open.set(connection, [sent]);
    } else if (open === undefined) {
      this.#transactions.push([sent]);
    } else {
      open.push(sent);
      if (!/^\s*(commit|rollback)\b/i.test(sent.sql) || /\bto\b/i.test(sent.sql)) return;
      this.#open.delete(connection);
      this.#transactions.push(open);
    }
  }

  /** Begins again. */
  clear(): void {
    this.#transactions.length = 0;
  }

  /** The statements sent most often, in full, with how often each was sent. */
  top(count: number): readonly (readonly [string, number])[] {
    const times = new Map<string, number>();
    for (const { sql } of this.#transactions.flat()) {
      // Values and lengths of lists differ.
      const text = sql
        .replace(/'(?:[^']|'')*'/g, '?')
        .replace(/\$?\b\d+(\.\d+)?\b/g, '?')
        .replace(/\s+/g, ' ')
        .replace(/\((?:\?|null|default|true|false)(?:, ?(?:\?|null|default|true|false))*\)(?:, ?\([^()]*\))*/g, '(?)')
        .replace(/(?:when \([^()]*\) then \S+ ?)+/g, 'when (?) then ? ');
      times.set(text, (times.get(text) ?? 0) + 1);
    }
    return [...times].sort(([, one], [, other]) => other - one).slice(0, count);
  }

  /** By step, of all together, and of all but the sandbox's nodes. */
  report(): { readonly steps: ReadonlyMap<string, Cost>; readonly all: Cost; readonly own: Cost } {
    const byStep = new Map<string, Cost>();
    const all = { statements: 0, commits: 0 };
    const own = { statements: 0, commits: 0 };
    for (const sent of this.#transactions) {
      const text = sent.map(({ sql }) => sql).join('\n');
      const name = steps.find(([, known]) => known.test(text))?.[0] ?? 'other';
      const cost = byStep.get(name) ?? { statements: 0, commits: 0 };
      byStep.set(name, cost);
      for (const sum of nodes.has(name) ? [cost, all] : [cost, all, own]) {
        sum.statements += sent.length;
        if (sent.some(({ hasWritten }) => hasWritten)) sum.commits += 1;
      }
    }
    return { steps: byStep, all, own };
  }
}
