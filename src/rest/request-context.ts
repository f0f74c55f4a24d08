import type { NextFunction, Request, Response } from 'express';
import { v7 as uuidv7 } from 'uuid';
import { AppError } from '../errors.ts';
import { addressPrefix, isLoopback } from '../limits/client-address.ts';
import type { Log } from '../log.ts';

const acceptableRequestId = /^[A-Za-z0-9_-]{8,64}$/;
const hstsSec = 63_072_000;

/**
 * Gives each request an id, the headers that every answer carries, and one line in the log when it has been answered.
 * An inbound X-Request-Id is taken over from a trusted proxy only.
 */
export function requestContext(log: Log) {
  let warned = false;
  return (req: Request, res: Response, next: NextFunction): void => {
    const inbound = req.get('x-request-id');
    const trust = req.app.get('trust proxy fn') as (address: string, hop: number) => boolean;
    const trusted = trust(req.socket.remoteAddress ?? '', 0);
    if (!warned && !trusted && req.get('x-forwarded-for') !== undefined && isLoopback(req.ip ?? '')) {
      warned = true;
      const advice = 'X-Forwarded-For came from this machine and was ignored; a proxy here belongs in TRUSTED_PROXIES';
      log.warn({ event: 'untrusted_proxy', setting: 'TRUSTED_PROXIES' }, advice);
    }
    const requestId = inbound && trusted && acceptableRequestId.test(inbound) ? inbound : uuidv7();
    res.locals.state = {
      requestId,
      startedAt: process.hrtime.bigint(),
      caller: null,
      secret: null,
      authFailure: null,
      rawBody: Buffer.alloc(0),
      route: 'unmatched',
      errorCode: null,
    };
    res.set('X-Request-Id', requestId);
    res.set('X-Content-Type-Options', 'nosniff');
    res.set('Cache-Control', 'no-store');
    if (req.secure) res.set('Strict-Transport-Security', `max-age=${hstsSec}; includeSubDomains`);
    res.once('close', () => {
      const { state } = res.locals;
      log.info(
        {
          event: 'request',
          request_id: requestId,
          method: req.method,
          route: state.route,
          status: res.writableEnded ? res.statusCode : 499,
          ms: Number((process.hrtime.bigint() - state.startedAt) / 10_000n) / 100,
          ip_prefix: addressPrefix(req.ip ?? ''),
          ...(state.caller ? { partner_id: state.caller.partner.id, key_id: state.caller.keyId } : {}),
          ...(state.errorCode ? { code: state.errorCode } : {}),
        },
        'request',
      );
    });
    next();
  };
}

/** Refuses plain HTTP from anywhere but this machine; a redirect would teach clients to send keys in the clear. */
export function httpsOnly(req: Request, _res: Response, next: NextFunction): void {
  if (!req.secure && !isLoopback(req.ip ?? '')) {
    const detail = 'this API is served over HTTPS only; use https:// and replace the key that you sent';
    throw new AppError('https_required', detail);
  }
  next();
}
