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

/** What one operation of the staff API is run with. */
export class GraphqlContext {
  readonly caller: StaffCaller;
  readonly requestId: string;
  readonly live: LiveFeed;
  readonly #ip: string;
  readonly #orm: MikroORM;
  #em: EntityManager;
  #loaders: Loaders;

  constructor(orm: MikroORM, live: LiveFeed, { caller, requestId, ip }: StaffRequest) {
    this.live = live;
    this.caller = caller;
    this.requestId = requestId;
    this.#ip = ip;
    this.#orm = orm;
    this.#em = orm.em.fork();
    this.#loaders = createLoaders(this.#em);
  }

  /** For reading, of this operation alone. */
  get em(): EntityManager {
    return this.#em;
  }

  get loaders(): Loaders {
    return this.#loaders;
  }

  /** Who acts, for the audit log. */
  get actor(): Actor {
    return { staffId: this.caller.id, requestId: this.requestId, ip: this.#ip };
  }

  /** Forgets what was read: each event of a subscription sees the rows as they are by then. */
  renew(): void {
    this.#em = this.#orm.em.fork();
    this.#loaders = createLoaders(this.#em);
  }
}
