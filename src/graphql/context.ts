import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Actor } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import type { OrderStats, StatsRow } from '../reports/order-stats.ts';
import type { StaffCaller } from '../staff/staff-authenticator.ts';
import type { LiveFeed } from './live.ts';
import { createLoaders, type Loaders, usageDays } from './loaders.ts';

/** Who asks, and by which request. */
export interface StaffRequest {
  readonly caller: StaffCaller;
  readonly requestId: string;
  /** Network of the client, for the audit log. */
  readonly ip: string;
}

/** Where operations read from. */
export interface StaffSources {
  /** With statements that end soon, and connections of its own, so that no question of staff slows a partner down. */
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly live: LiveFeed;
  readonly stats: OrderStats;
}

/** As many as the list of partners has. */
const mostPartners = 1_000;

/** What one operation of the staff API is run with. Its members are plain, because Apollo Server copies it. */
export class GraphqlContext {
  readonly caller: StaffCaller;
  readonly requestId: string;
  /** Who acts, for the audit log. */
  readonly actor: Actor;
  readonly live: LiveFeed;
  /** For reading, of this operation alone. */
  em: EntityManager;
  loaders: Loaders;
  private readonly sources: StaffSources;

  constructor(sources: StaffSources, { caller, requestId, ip }: StaffRequest) {
    this.caller = caller;
    this.requestId = requestId;
    this.actor = { staffId: caller.id, requestId, ip };
    this.live = sources.live;
    this.sources = sources;
    this.em = sources.orm.em.fork();
    this.loaders = this.newLoaders();
  }

  /** Forgets what was read: each event of a subscription sees the rows as they are by then. */
  renew(): void {
    this.em = this.sources.orm.em.fork();
    this.loaders = this.newLoaders();
  }

  private newLoaders(): Loaders {
    return createLoaders(
      this.em,
      (ids) => this.usage(ids),
      () => this.sources.clock.now(),
    );
  }

  private async usage([first, ...others]: readonly string[]): Promise<StatsRow[]> {
    const to = this.sources.clock.now();
    const from = new Date(to.getTime() - usageDays * 86_400_000);
    const only = first !== undefined && others.length === 0 ? { key: first } : {};
    const rows = await this.sources.stats.stats({
      from,
      to,
      interval: 'day',
      by: 'partner',
      top: mostPartners,
      ...only,
    });
    return rows.filter(({ created }) => created > 0);
  }
}
