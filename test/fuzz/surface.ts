import type { Dice } from '../support/gateway/dice.ts';

/** A request that was sent, and what came of it. */
export interface Tried {
  readonly kind: string;
  readonly status: number;
  /** What was wrong with the answer; null for a right one. */
  readonly fault: string | null;
}

/** Sends one random request to a surface. It rejects when no answer came. */
export type Surface = (dice: Dice) => Promise<Tried>;

/** Statuses that tell of the gateway's own trouble, or of a limit that this load must not reach. */
const isTrouble = (status: number): boolean => status === 429 || status >= 500;

/** A request whose answer may have any status of a refusal, but none of trouble. */
export function tried(kind: string, request: string, status: number, text: string): Tried {
  const fault = isTrouble(status) ? `${kind}: ${request.slice(0, 1_000)} -> ${status} ${text.slice(0, 300)}` : null;
  return { kind, status, fault };
}
