import type { Socket } from 'node:net';
import { MikroORM, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';
import type { Pool, PoolClient } from 'pg';
import { PartnerInvitation } from '../accounts/members/partner-invitation.entity.ts';
import { PartnerMember } from '../accounts/members/partner-member.entity.ts';
import { PartnerPasskey } from '../accounts/members/partner-passkey.entity.ts';
import { PartnerSession } from '../accounts/members/partner-session.entity.ts';
import { ApiKey } from '../accounts/partners/api-key.entity.ts';
import { Partner } from '../accounts/partners/partner.entity.ts';
import { AuditEntry } from '../accounts/staff/audit/audit-entry.entity.ts';
import { StaffChange } from '../accounts/staff/staff-change.entity.ts';
import { StaffMember } from '../accounts/staff/staff-member.entity.ts';
import { StaffSession } from '../accounts/staff/staff-session.entity.ts';
import { boundFarewell, socketOf } from '../base/db/connection-end.ts';
import { DatabaseClient } from '../base/db/database-client.ts';
import { traceQueries } from '../base/db/traced-queries.ts';
import { DepositAccount } from '../chains/addresses/deposit-account.entity.ts';
import { DepositAddress } from '../chains/addresses/deposit-address.entity.ts';
import { ChainState } from '../chains/port/chain-state.entity.ts';
import { Currency } from '../market/currencies/currency.entity.ts';
import { PriceOverride } from '../market/rates/price-override.entity.ts';
import { IdempotencyKey } from '../orders/idempotency-key.entity.ts';
import { Order } from '../orders/order.entity.ts';
import { OrderAction } from '../orders/order-action.entity.ts';
import { OrderEvent } from '../orders/order-event.entity.ts';
import { OrderNote } from '../orders/order-note.entity.ts';
import { OrderPage } from '../orders/order-page.entity.ts';
import { OrderTerms } from '../orders/order-terms.entity.ts';
import { CommissionAddress } from '../settlement/rows/commission-address.entity.ts';
import { CommissionEntry } from '../settlement/rows/commission-entry.entity.ts';
import { CommissionStatement } from '../settlement/rows/commission-statement.entity.ts';
import { Deposit } from '../settlement/rows/deposit.entity.ts';
import { LateRefund } from '../settlement/rows/late-refund.entity.ts';
import { Payment } from '../settlement/rows/payment.entity.ts';
import { PaymentAttempt } from '../settlement/rows/payment-attempt.entity.ts';
import { PayoutHold } from '../settlement/rows/payout-hold.entity.ts';
import { StaffAction } from '../settlement/rows/staff-action.entity.ts';
import { Trade } from '../settlement/rows/trade.entity.ts';
import { TreasuryTransfer } from '../settlement/rows/treasury-transfer.entity.ts';
import { VenueMovement } from '../settlement/rows/venue-movement.entity.ts';
import { WebhookDelivery } from '../webhooks/webhook-delivery.entity.ts';
import { WebhookEndpoint } from '../webhooks/webhook-endpoint.entity.ts';

/** All entities of the product. A new one is added here. */
export const entities = [
  Currency,
  Partner,
  ApiKey,
  PartnerMember,
  PartnerInvitation,
  PartnerPasskey,
  PartnerSession,
  StaffMember,
  StaffChange,
  StaffSession,
  DepositAccount,
  DepositAddress,
  ChainState,
  Order,
  OrderTerms,
  OrderPage,
  OrderEvent,
  OrderAction,
  IdempotencyKey,
  Deposit,
  Trade,
  Payment,
  PaymentAttempt,
  LateRefund,
  PayoutHold,
  StaffAction,
  AuditEntry,
  OrderNote,
  PriceOverride,
  VenueMovement,
  TreasuryTransfer,
  CommissionAddress,
  CommissionEntry,
  CommissionStatement,
  WebhookEndpoint,
  WebhookDelivery,
];

/**
 * How long an unused connection is kept. A new one, with its statements planned again, takes tens
 * of milliseconds, and the first requests after a pause would wait for it.
 */
const idleMs = 300_000;

/**
 * How long a holder may take to give back a connection that has died; its statements fail at once.
 */
const deadConnectionMs = 500;

/** How much longer than PostgreSQL may take for a statement a connection may be silent. */
const silenceMs = 2_000;

/**
 * Gives dead connections back to the pool. A transaction whose connection is cut fails at its
 * rollback as well, and the query builder then never returns the connection. A few cuts would use
 * up the pool, and only a restart would help.
 *
 * A borrowed connection that stays silent past the statement timeout is dead too: the server hangs,
 * or a firewall forgot the connection. It is destroyed, because a late reply would leave an open
 * transaction to the next borrower.
 *
 * @param longestSilenceMs 0 where a statement may take any time.
 */
function returnDeadConnections(pool: Pool, longestSilenceMs: number): void {
  const held = new WeakSet<PoolClient>();
  const idle = new Set<Socket>();
  pool.on('acquire', (client) => {
    held.add(client);
    // Set each time: a socket's timer that ran out while the connection was idle does not begin
    // again.
    const socket = socketOf(client);
    idle.delete(socket);
    socket.setTimeout(longestSilenceMs);
  });
  pool.on('release', (_error, client) => {
    held.delete(client);
    const socket = socketOf(client);
    socket.setTimeout(0);
    if (!socket.destroyed) idle.add(socket);
  });
  pool.on('connect', (client) => {
    const socket = socketOf(client);
    socket.once('close', () => idle.delete(socket));
    socket.once('timeout', () => {
      // Idle connections are probably dead too, and each would keep its next borrower waiting.
      for (const each of [socket, ...idle]) each.destroy();
    });
    boundFarewell(client);
    client.once('end', () => {
      setTimeout(() => held.has(client) && client.release(true), deadConnectionMs).unref();
    });
  });
}

/** How long a request waits for a connection, which a busy or absent server does not give. */
const connectMs = 2_000;
/** The same for a command, for which a person waits. */
const patientConnectMs = 15_000;

/** Statement timeout of readers of whole tables, such as the reconciliation. */
export const patientStatementMs = 600_000;

export interface OrmOptions {
  /** A postgres:// URL. */
  readonly url: string;
  readonly poolSize: number;
  /**
   * When PostgreSQL gives a statement up, or a transaction that does nothing; 15 seconds unless
   * told otherwise, 0 for never. With 0 a connection is waited for longer too.
   */
  readonly statementTimeoutMs?: number;
  /** When PostgreSQL gives up waiting for a lock; never unless told. */
  readonly lockTimeoutMs?: number;
  /**
   * Whether statements avoid reading whole tables. Their plans are kept, and some are made while
   * tables are nearly empty.
   */
  readonly prefersIndexes?: boolean;
  /** Called with the connections once there are any; for metrics. */
  readonly onPool?: (pool: Pool) => void;
  /** Called with each SQL statement that is sent; for counting them in tests and benchmarks. */
  readonly onStatement?: (sql: string) => void;
}

/**
 * Opens the object-relational mapper on a PostgreSQL. Connections are made on first use, so an
 * unreachable server shows at the first statement.
 */
export async function createOrm(options: OrmOptions): Promise<MikroORM> {
  const { onPool, onStatement, statementTimeoutMs = 15_000 } = options;
  // Its init would load every extension that is installed.
  return new MikroORM({
    clientUrl: options.url,
    entities,
    namingStrategy: UnderscoreNamingStrategy,
    pool: { min: 0, max: options.poolSize, idleTimeoutMillis: idleMs },
    forceUtcTimezone: true,
    driverOptions: {
      // Given whole as well, for what MikroORM does not read from it: sslmode and its certificates.
      connectionString: options.url,
      connectionTimeoutMillis: statementTimeoutMs === 0 ? patientConnectMs : connectMs,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: statementTimeoutMs,
      ...(options.lockTimeoutMs === undefined ? {} : { lock_timeout: options.lockTimeoutMs }),
      keepAlive: true,
      Client: DatabaseClient,
      // Our statements are short and read by index. On SSDs a random page costs hardly more than
      // the next one. Compiling a plan, or starting workers for it, costs more than it saves and
      // takes cores from others. The longest statements, statistics, sort in memory.
      options: `-c random_page_cost=1.1 -c jit=off -c max_parallel_workers_per_gather=0 -c work_mem=16MB${options.prefersIndexes ? ' -c enable_seqscan=off' : ''}`,
      onPoolCreated: (pool: Pool) => {
        returnDeadConnections(pool, statementTimeoutMs === 0 ? 0 : statementTimeoutMs + silenceMs);
        traceQueries(pool);
        onPool?.(pool);
      },
    },
    // Statements carry values that no log may hold. The handler of an error logs it.
    debug: onStatement ? ['query'] : false,
    loggerFactory: () => ({
      log: () => {},
      error: () => {},
      warn: () => {},
      logQuery: (context) => onStatement?.(context.query ?? ''),
      setDebugMode: () => {},
      isEnabled: () => onStatement !== undefined,
    }),
  });
}
