import { PartnerError } from './partner-error.ts';

/** The error of a call that its caller ended. */
export function abortedError(signal: AbortSignal, idempotencyKey: string | null = null): PartnerError {
  return new PartnerError('aborted', 'The caller ended the call.', { cause: signal.reason, idempotencyKey });
}

/** Waits. Throws a PartnerError `aborted` as soon as the signal is. */
export function pause(ms: number, signal?: AbortSignal, idempotencyKey: string | null = null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortedError(signal, idempotencyKey));
    const abort = (): void => {
      clearTimeout(timer);
      reject(abortedError(signal as AbortSignal, idempotencyKey));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
