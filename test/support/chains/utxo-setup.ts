import { randomUUID } from 'node:crypto';
import type { PaymentIntent } from '../../../src/chains/port/chain-adapter.ts';
import { holding } from '../gateway/holding.ts';
import { findLitecoind, type Litecoind, startLitecoind } from './litecoind.ts';

export const coin = 100_000_000n;
export const none = holding();
export let node: Litecoind;

export const intent = (to: string, amount: bigint, changes: Partial<PaymentIntent> = {}): PaymentIntent => ({
  id: randomUUID(),
  attempt: 1,
  from: null,
  contract: null,
  to,
  tag: null,
  amount,
  ...changes,
});

export const keysOf = ({ reserves }: { reserves: readonly string[] }): string[] =>
  reserves.map((one) => one.replace('outpoint:', ''));

/** A block of which only the meaning of its transactions is told. */
export function withoutBytes(block: unknown): unknown {
  const { tx, ...rest } = block as { tx: Record<string, unknown>[] };
  return { ...rest, tx: tx.map(({ hex: _hex, ...members }) => members) };
}

/** Starts a Litecoin node for the tests of the file, where litecoind is installed. */
export function withLitecoind(): void {
  if (findLitecoind() === null) return;
  beforeAll(async () => {
    node = await startLitecoind();
  });
  afterAll(() => node?.stop());
}
