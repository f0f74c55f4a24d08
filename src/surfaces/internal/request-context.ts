import type { NextFunction, Request, Response } from 'express';
import { v7 as uuidv7 } from 'uuid';
import { type AddressReader, addressPrefix, forwardedScheme } from '../../base/limits/client-address.ts';
import type { Log } from '../../base/log.ts';

declare global {
  namespace Express {
    interface Locals {
      /** The id of a request to the internal listener, in its answer and in the log. */
      requestId: string;
      /** The address of the client, as the trusted proxies tell it. */
      clientAddress: string;
    }
  }
}

/**
 * Gives each request of the internal listener an id and one line in the log. Sets headers that keep
 * its pages out of caches, frames and other origins. A page that needs scripts or styles sets its
 * own policy.
 */
export function requestContext(log: Log, originOf: AddressReader) {
  return (req: Request, res: Response, next: NextFunction): void => {
    const requestId = uuidv7();
    const startedAt = process.hrtime.bigint();
    const { address } = originOf(req);
    // Express compares the scheme of a trusted proxy with `https`, letter by letter.
    const scheme = forwardedScheme(req);
    if (scheme !== undefined) req.headers['x-forwarded-proto'] = scheme;
    res.locals.requestId = requestId;
    res.locals.clientAddress = address;
    res.set({
      'X-Request-Id': requestId,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
      // Not no-referrer: a browser would then send forms with 'Origin: null', which hides their
      // origin.
      'Referrer-Policy': 'same-origin',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    });
    if (req.secure) res.set('Strict-Transport-Security', 'max-age=63072000');
    res.once('close', () => {
      log.info(
        {
          event: 'request',
          request_id: requestId,
          method: req.method,
          route: `internal ${req.baseUrl}${req.route?.path ?? ''}`,
          status: res.writableEnded ? res.statusCode : 499,
          ms: Number((process.hrtime.bigint() - startedAt) / 10_000n) / 100,
          ip_prefix: addressPrefix(address),
        },
        'request',
      );
    });
    next();
  };
}
