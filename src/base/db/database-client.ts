import { type ClientConfig, DatabaseError } from 'pg';
import { SessionClient } from './session-client.ts';

/**
 * SQLSTATEs after which a session is useless. The server takes no writes (25006), ends its sessions
 * (57P01, 57P02) or takes none now (57P03), or the connection failed (class 08). After a malformed
 * message (08P01) the session goes on: the fault is the request's alone.
 */
const lostState = /^(25006|57P0[123]|08(?!P01)\w{3})$/;

const standbyMessage =
  'PostgreSQL at DATABASE_URL is a standby, which takes no writes: name the primary, or an address that leads to it, or promote the standby (docs/fail-over.md)';

/** What `pg` has and its types do not declare. */
interface Undeclared {
  /** False while a statement is under way. */
  readonly readyForQuery?: boolean;
}

/** The clients of each pool, by the options that a pool gives all of its clients. */
const pools = new WeakMap<object, Set<DatabaseClient>>();

/**
 * A session with a PostgreSQL that takes writes. `connect` fails with SQLSTATE 25006 on a standby.
 * A read there may be stale, and an advisory lock excludes no session of the primary.
 *
 * A session whose server takes no more writes or ends ends itself once its transaction is over.
 * The idle sessions of its pool end with it, because they probably lead to the same server.
 */
export class DatabaseClient extends SessionClient {
  readonly #pool: Set<DatabaseClient>;
  #isOnStandby = false;
  #isLost = false;

  constructor(config: ClientConfig) {
    super(config);
    this.#pool = pools.get(config) ?? new Set();
    pools.set(config, this.#pool);
    // Before the listeners of Client, which has its own turn afterwards.
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (parameterName === 'in_hot_standby') this.#isOnStandby = parameterValue === 'on';
    });
    this.connection.on('errorMessage', ({ code }: DatabaseError) => {
      if (this.#pool.has(this) && lostState.test(code ?? '')) this.#lose();
    });
    this.connection.on('readyForQuery', ({ status }: { status: string }) => {
      if (this.#isLost && status === 'I') void this.end();
    });
    this.once('end', () => this.#pool.delete(this));
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error | null, client?: this) => void): void;
  override connect(callback?: (error: Error | null, client?: this) => void): Promise<this> | undefined {
    if (!callback) {
      return new Promise((resolve, reject) => {
        this.connect((error) => (error ? reject(error) : resolve(this)));
      });
    }
    super.connect((error: Error | null) => {
      if (error) return callback(error);
      if (this.#isOnStandby) {
        void this.end();
        return callback(Object.assign(new DatabaseError(standbyMessage, 0, 'error'), { code: '25006' }));
      }
      this.#pool.add(this);
      callback(null, this);
    });
    return undefined;
  }

  #lose(): void {
    this.#isLost = true;
    const error = new Error('Connection terminated: another session of the pool lost its server');
    for (const other of this.#pool) if (other !== this && other.#isIdle) other.#leave(error);
    // A transaction still gets its rollback, without which its holder would not give it back.
    if (this.getTransactionStatus() === 'I') void this.end();
  }

  get #isIdle(): boolean {
    return this.getTransactionStatus() === 'I' && (this as Undeclared).readyForQuery === true;
  }

  /** A pool forgets an idle client that reports an error, and no other way is open. */
  #leave(error: Error): void {
    if (this.listenerCount('error') > 0) this.emit('error', error);
    void this.end();
  }
}
