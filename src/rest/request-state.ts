import type { AppError } from '../errors.ts';
import type { Caller } from '../partners/authenticator.ts';

/** What is known of a request on its way through the public listener. */
export interface RequestState {
  readonly requestId: string;
  readonly startedAt: bigint;
  /** The proven key, or null. */
  caller: Caller | null;
  /** The part of the proven key after the dot, with which a signature is keyed. */
  secret: string | null;
  /** Why there is no caller, when a key was presented. */
  authFailure: AppError | null;
  /** The exact bytes of the body. */
  rawBody: Buffer;
  /** What a log line calls the route: a template of the contract, never the path itself. */
  route: string;
  /** The stable code of the error that was answered. */
  errorCode: string | null;
}

declare global {
  namespace Express {
    interface Locals {
      state: RequestState;
    }
  }
}
