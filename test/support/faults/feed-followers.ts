import { setTimeout as sleep } from 'node:timers/promises';
import type { BuiltProcess } from '../gateway/built-process.ts';
import type { Dice } from '../gateway/dice.ts';
import type { Torture, TortureOrder } from './torture.ts';

interface Page {
  readonly data: readonly Record<string, unknown>[];
  readonly has_more: boolean;
  readonly next_cursor: string;
}

/** Reads a feed to its end, again and again. Takes each page that came whole, once. */
interface Feed {
  readonly path: string;
  take(item: Record<string, unknown>): void;
}

/**
 * A partner that follows its orders while they move: by the events, and by the list of changed
 * orders. The process that it reads from is killed and started again.
 */
export class FeedFollowers {
  /** Pages that were read, and kills of the process that is read from. */
  readonly counts = { pages: 0, kills: 0 };
  readonly #torture: Torture<TortureOrder>;
  readonly #api: BuiltProcess;
  readonly #events = new Map<string, number>();
  readonly #orders = new Map<string, number>();
  #wentBack = 0;
  #isOver = false;
  readonly #followed: Promise<unknown>;

  constructor(torture: Torture<TortureOrder>) {
    this.#torture = torture;
    this.#api = torture.launch('followed', 'main.js', /^ready .*$/m, { ROLE: 'api', LOG_LEVEL: 'warn' });
    this.#followed = Promise.all([
      this.#follow({
        path: '/partner/events?limit=50&wait=2',
        take: ({ data }) => this.#countEvent(data as { order_id: string; seq: number }),
      }),
      this.#follow({
        path: '/partner/orders?sort=updated&include=details&limit=50',
        take: ({ id, details }) => this.#moveOrder(String(id), (details as { seq: number }).seq),
      }),
    ]);
  }

  /** Kills the process about so often, and starts it again, until there is peace. */
  async beKilled(everyMs: number, dice: Dice): Promise<void> {
    await this.#torture.often(everyMs, dice, async () => {
      if (!this.#api.isReady) return;
      await this.#api.end('SIGKILL');
      this.counts.kills += 1;
      this.#api.start();
    });
  }

  /** Reads to the end. Returns a line for each event that was missed or repeated. */
  async finish(): Promise<string[]> {
    this.#isOver = true;
    await this.#followed;
    const happened = await this.#torture.rows<{ name: string }>(
      `select order_id || ' ' || seq as name from order_event`,
    );
    const orders = await this.#torture.rows<{ id: string; seq: number }>(
      'select id, event_seq as seq from exchange_order',
    );
    const names = new Set(happened.map(({ name }) => name));
    return [
      ...[...names].filter((name) => !this.#events.has(name)).map((name) => `event ${name} was missed`),
      ...[...this.#events]
        .filter(([name, times]) => times > 1 || !names.has(name))
        .map(([name, times]) => `event ${name} came ${times} times`),
      ...orders
        .filter(({ id, seq }) => this.#orders.get(id) !== seq)
        .map(({ id, seq }) => `order ${id} is at ${seq}, and its list ended at ${this.#orders.get(id)}`),
      ...(this.#wentBack > 0 ? [`orders went back ${this.#wentBack} times in the list`] : []),
    ];
  }

  /** Events that came. */
  get events(): number {
    return this.#events.size;
  }

  #countEvent({ order_id, seq }: { order_id: string; seq: number }): void {
    const name = `${order_id} ${seq}`;
    this.#events.set(name, (this.#events.get(name) ?? 0) + 1);
  }

  #moveOrder(id: string, seq: number): void {
    if (seq < (this.#orders.get(id) ?? 0)) this.#wentBack += 1;
    this.#orders.set(id, seq);
  }

  async #follow({ path, take }: Feed): Promise<void> {
    for (let cursor = ''; ; ) {
      const wasOver = this.#isOver;
      const page = await this.#page(`${path}${cursor}`);
      if (!page) {
        await sleep(200);
        continue;
      }
      this.counts.pages += 1;
      for (const item of page.data) take(item);
      cursor = `&cursor=${page.next_cursor}`;
      if (page.has_more) continue;
      if (wasOver) return;
      await sleep(100);
    }
  }

  /** Null when no whole answer came. */
  async #page(path: string): Promise<Page | null> {
    if (!this.#api.isReady) return null;
    const rest = /^ready rest=(\S+)/m.exec(await this.#api.ready())?.[1] ?? '';
    const reply = await fetch(`${rest}${path}`, { headers: { Authorization: `Bearer ${this.#torture.key}` } })
      .then(async (answer) => ({ status: answer.status, text: await answer.text() }))
      .catch(() => null);
    if (!reply || reply.status === 503) return null;
    if (reply.status !== 200) throw new Error(`${path} was answered with ${reply.status}: ${reply.text}`);
    return JSON.parse(reply.text) as Page;
  }
}
