import { isUtf8 } from 'node:buffer';
import express, { type NextFunction, type Request, type Response } from 'express';
import { AppError } from '../errors.ts';

/** The one operation with a body. */
const takesBody = /^\/api\/v1\/partner\/orders\/?$/;
/** Largest body that is read. An order takes less than 2 KiB. */
const bodyLimit = '16kb';

/** The source text of each number of a parsed body, by the object that holds it. */
const numberSources = new WeakMap<object, Map<string, string>>();

function keepNumberSource(this: unknown, key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value === 'number' && context?.source !== undefined && typeof this === 'object' && this !== null) {
    let sources = numberSources.get(this);
    if (!sources) {
      sources = new Map();
      numberSources.set(this, sources);
    }
    sources.set(key, context.source);
  }
  return value;
}

/**
 * The digits of a number of the body as they were sent, before they became a double.
 *
 * @param body the very object that was parsed, not a copy.
 */
export function numberSource(body: object, member: string): string {
  const source = numberSources.get(body)?.get(member);
  if (source === undefined) throw new Error(`the body holds no number '${member}', or is a copy`);
  return source;
}

const parse = express.json({
  limit: bodyLimit,
  strict: true,
  inflate: false,
  type: 'application/json',
  reviver: keepNumberSource,
  verify: (_req, res, raw) => {
    (res as unknown as Response).locals.state.rawBody = raw;
  },
});

/**
 * Reads the JSON body of a create by an active partner; any other request's body is left unread, whatever it is. The exact bytes are kept
 * for the signature, the exact digits of numbers for amounts.
 */
export function jsonBody(req: Request, res: Response, next: NextFunction): void {
  const { caller } = res.locals.state;
  if (req.method !== 'POST' || caller?.partner.status !== 'active' || !takesBody.test(req.path)) {
    next();
    return;
  }
  if (!isUtf8Json(req.get('content-type'))) {
    throw new AppError('unsupported_media_type', 'the body must be JSON in UTF-8: send Content-Type: application/json');
  }
  parse(req, res, (error?: unknown) => {
    next(error ?? encodingFault(res.locals.state.rawBody));
  });
}

/** Invalid bytes would become replacement characters in silence. */
function encodingFault(raw: Buffer): AppError | undefined {
  return isUtf8(raw) ? undefined : new AppError('invalid_encoding', 'the body is not valid UTF-8');
}

function isUtf8Json(contentType: string | undefined): boolean {
  return /^application\/json(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*$/i.test(contentType ?? '');
}
