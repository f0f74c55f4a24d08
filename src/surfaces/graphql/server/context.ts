import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Actor } from '../../../accounts/staff/audit/audit-log.ts';
import type { StaffCaller } from '../../../accounts/staff/staff-authenticator.ts';
import type { Clock } from '../../../base/clock.ts';
import type { WalletLinks } from '../../../market/currencies/wallet-links.ts';
import type { OrderStats, StatsRow } from '../../../operations/order-stats.ts';
import type { Exposure } from '../../../orders/exposure.ts';
import type { OpenOrders } from '../../../orders/open-orders.ts';
import { staffScope } from '../../../orders/order-scope.ts';
import type { OrderReads } from '../../../orders/read/order-reads.ts';
import type { LiveFeed } from './live-feed.ts';
import { createLoaders, type Loaders, usageDays } from './loaders.ts';

/** The caller and the request of an operation. */
interface StaffRequest {
  readonly caller: StaffCaller;
  readonly requestId: string;
  /** Network of the client, for the audit log. */
  readonly ip: string;
}

/** The sources that operations read. */
export interface StaffSources {
  /**
   * Has a short statement timeout and separate connections, so that no query of staff slows a
   * partner down.
   */
  readonly orm: MikroORM;
  readonly clock: Clock;
  readonly live: LiveFeed;
  readonly stats: OrderStats;
  readonly openOrders: Pick<OpenOrders, 'exposures'>;
  /** Over the same connections. */
  readonly orders: OrderReads;
  readonly wallets: WalletLinks;
}

/** As many as the list of partners may have. */
const mostPartners = 1_000;

/**
 * The context of one operation of the staff API. Its members are plain, because Apollo Server
 * copies it.
 */
export class GraphqlContext {
  readonly caller: StaffCaller;
  readonly requestId: string;
  /** The actor in the audit log. */
  readonly actor: Actor;
  readonly live: LiveFeed;
  readonly wallets: WalletLinks;
  readonly orders: OrderReads;
  /** For reads of this operation only. */
  em: EntityManager;
  loaders: Loaders;
  private readonly sources: StaffSources;

  constructor(sources: StaffSources, { caller, requestId, ip }: StaffRequest) {
    this.caller = caller;
    this.requestId = requestId;
    this.actor = { staffId: caller.id, requestId, ip };
    this.live = sources.live;
    this.wallets = sources.wallets;
    this.orders = sources.orders;
    this.sources = sources;
    this.em = sources.orm.em.fork();
    this.loaders = this.newLoaders();
  }

  /**
   * Forgets the rows that were read, so that each event of a subscription sees the current rows.
   */
  renew(): void {
    this.em = this.sources.orm.em.fork();
    this.loaders = this.newLoaders();
  }

  private newLoaders(): Loaders {
    return createLoaders({
      em: this.em,
      now: () => this.sources.clock.now(),
      ordersOf: (ids) => this.orders.entities(staffScope, this.em, ids),
      usageOf: (ids) => this.usage(ids),
      exposuresOf: (ids) => this.exposures(ids),
    });
  }

  private async exposures(ids: readonly string[]): Promise<Exposure[]> {
    const partners = await Promise.all(ids.map((id) => this.loaders.partner.load(id)));
    return this.sources.openOrders.exposures(
      partners.filter((partner) => partner !== null),
      this.em,
    );
  }

  private async usage([first, ...others]: readonly string[]): Promise<StatsRow[]> {
    const to = this.sources.clock.now();
    const from = new Date(to.getTime() - usageDays * 86_400_000);
    const only = first !== undefined && others.length === 0 ? { key: first } : { keys: [first ?? '', ...others] };
    const range = { from, to, interval: 'day', by: 'partner', top: mostPartners } as const;
    const rows = await this.sources.stats.stats({ ...range, ...only });
    return rows.filter(({ created }) => created > 0);
  }
}
