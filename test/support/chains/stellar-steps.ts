import type { xdr } from '@stellar/stellar-base';
import type { StellarKey } from './stellar-node/keys.ts';
import { operations } from './stellar-node/operations.ts';
import { codeOf } from './stellar-node/results.ts';
import type { Draft } from './stellar-node/transaction.ts';
import { type StellarChain, startStellar } from './stellar-node.ts';

interface Site {
  readonly chain: StellarChain;
  readonly alice: StellarKey;
  readonly bob: StellarKey;
}

/** Two accounts with 10 XLM; 1 XLM of each is its reserve. */
export function setUp(): Site {
  const chain = startStellar();
  return { chain, alice: chain.newAccount(100_000_000n), bob: chain.newAccount(100_000_000n) };
}

/** The codes of the operations of a transaction that the next ledger holds. */
export function applied(
  chain: StellarChain,
  key: StellarKey,
  ops: readonly xdr.Operation[],
  more: Partial<Draft> = {},
): string[] {
  const submission = chain.submit(key, { operations: ops, ...more });
  if (submission.status !== 'PENDING') return [submission.outcome?.code ?? submission.status];
  chain.close();
  return codesOf(chain, submission.tx.txid);
}

/** The codes of the operations of a transaction in a ledger. */
export function codesOf(chain: StellarChain, txid: string): string[] {
  return chain.find(txid)?.applied.result.result().results().map(codeOf) ?? [];
}

/** How the servers refuse a transaction, or what they say of one that they take. */
export function refusal(chain: StellarChain, key: StellarKey, draft: Partial<Draft>): string {
  const whole = { operations: [operations.payment(chain.bank.address, 1n)], ...draft };
  const { status, outcome } = chain.submit(key, whole);
  return outcome?.code ?? status;
}
