import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Actor } from '../audit/audit-log.ts';
import type { StaffCaller } from '../staff/staff-authenticator.ts';
import type { LiveFeed } from './live.ts';
import { createLoaders, type Loaders } from './loaders.ts';

/** Who asks, and by which request. */
export interface StaffRequest {
  readonly caller: StaffCaller;
  readonly requestId: string;
  /** Network of the client, for the audit log. */
  readonly ip: string;
}

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
  private readonly orm: MikroORM;

  constructor(orm: MikroORM, live: LiveFeed, { caller, requestId, ip }: StaffRequest) {
    this.caller = caller;
    this.requestId = requestId;
    this.actor = { staffId: caller.id, requestId, ip };
    this.live = live;
    this.orm = orm;
    this.em = orm.em.fork();
    this.loaders = createLoaders(this.em);
  }

  /** Forgets what was read: each event of a subscription sees the rows as they are by then. */
  renew(): void {
    this.em = this.orm.em.fork();
    this.loaders = createLoaders(this.em);
  }
}
