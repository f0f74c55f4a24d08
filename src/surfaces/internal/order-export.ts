import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Request, type Response, Router } from 'express';
import type { AuditLog } from '../../accounts/staff/audit/audit-log.ts';
import { isPermitted, permissions } from '../../accounts/staff/permissions.ts';
import type { StaffAuthenticator, StaffCaller } from '../../accounts/staff/staff-authenticator.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { addressPrefix } from '../../base/limits/client-address.ts';
import { addressBuckets, type Limiter } from '../../base/limits/limiter.ts';
import { errorMembers, type Log } from '../../base/log.ts';
import type { Config } from '../../config/settings.ts';
import { filterOfAddress } from '../../orders/read/order-address.ts';
import type { OrderReads } from '../../orders/read/order-reads.ts';
import { isSameOrigin, staffCaller } from './staff-caller.ts';

/** Files of one member a minute. A file may read 50,000 orders. */
const filesPerMin = 10;
const scope = { kind: 'staff' } as const;

interface OrderExportOptions {
  readonly authenticator: StaffAuthenticator;
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: Pick<Config, 'INTERNAL_PUBLIC_URL' | 'RATE_LIMIT_SIGN_IN_PER_MIN'>;
  /** Opens the connections of the staff API, which no partner waits for. */
  readonly database: () => Promise<{ readonly orderReads: OrderReads; readonly audit: AuditLog }>;
}

/**
 * Serves `/orders.csv`: the orders of a filter as a file. The parameters are those of the page's
 * address. The audit log has the filter and the number of rows before the first byte leaves.
 *
 * A GET that writes needs the check of its origin as a POST does: a page of another site must not
 * fill the audit log.
 */
export function orderExportRouter(options: OrderExportOptions): Router {
  const router = Router();
  router.get('/orders.csv', (req, res) => sendOrders(req, res, options));
  return router;
}

async function sendOrders(req: Request, res: Response, options: OrderExportOptions): Promise<void> {
  const { clock, log, database } = options;
  if (req.method !== 'GET') {
    throw new AppError('method_not_allowed', 'a file of orders is asked by GET', { allow: ['GET'] });
  }
  const { requestId, clientAddress } = res.locals;
  const caller = await permittedCaller(req, clientAddress, options);
  const filter = filterOfAddress(req.query);
  const { orderReads, audit } = await database();
  const now = clock.now();
  const actor = { staffId: caller.id, requestId, ip: addressPrefix(clientAddress) };
  const chosen = await audit.act(actor, 'ordersCsv', 'orders as a file', async (em) => {
    const result = await orderReads.choose(scope, em, filter, now);
    const after = { filter: { ...req.query }, rows: result.ids.length, cut: result.isCut };
    return { result, target: 'orders:csv', after };
  });
  const day = now.toISOString().slice(0, 10);
  res.set({
    'Content-Type': 'text/csv; charset=utf-8; header=present',
    'Content-Disposition': `attachment; filename="orders-${day}${chosen.isCut ? '-cut' : ''}.csv"`,
  });
  try {
    // One part waits at most, and the next statement runs when the client has taken it.
    await pipeline(Readable.from(orderReads.csv(scope, chosen), { highWaterMark: 1 }), res);
  } catch (error) {
    // The pipeline cut the connection, so that no file looks whole. A client may leave at any time.
    if (isGone(error)) return;
    log.error(
      { event: 'request_failed', request_id: requestId, ...errorMembers(error) },
      'a file of orders was cut off',
    );
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}

/** @throws AppError unauthorized, foreign_origin, insufficient_role or rate_limited */
async function permittedCaller(req: Request, clientAddress: string, options: OrderExportOptions): Promise<StaffCaller> {
  const { authenticator, limiter, config } = options;
  const caller = await staffCaller(req, authenticator);
  if (!caller) {
    const failures = addressBuckets('signin', clientAddress, config.RATE_LIMIT_SIGN_IN_PER_MIN);
    refuseOver(await limiter.consume(...failures), 'too many failed sign-ins');
    throw new AppError('unauthorized', 'sign in at /sign-in, or send a staff token: Authorization: Bearer xs_...');
  }
  if (caller.via === 'session' && !isSameOrigin(req, config.INTERNAL_PUBLIC_URL)) {
    throw new AppError('foreign_origin', 'a browser session may send requests from pages of this gateway only');
  }
  if (!isPermitted(caller.role, 'orders:export')) {
    const needed = permissions['orders:export'];
    throw new AppError(
      'insufficient_role',
      `this needs orders:export: the role ${needed} or above; yours is ${caller.role}`,
    );
  }
  const verdict = await limiter.consume({ bucket: 'exports', key: caller.id, limit: filesPerMin });
  refuseOver(verdict, `more than ${filesPerMin} files a minute`);
  return caller;
}

function refuseOver({ allowed, resetMs }: { readonly allowed: boolean; readonly resetMs: number }, what: string): void {
  if (allowed) return;
  const seconds = Math.max(1, Math.ceil(resetMs / 1000));
  throw new AppError('rate_limited', `${what}; retry in ${seconds} seconds`, { retryAfterSec: seconds });
}
