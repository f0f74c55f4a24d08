import { asList, asObject, unsound } from '../nodes/node-answer.ts';
import { asAddress, asQuantity } from './evm-answer.ts';

/** An internal transfer: coins that a contract sent on. */
interface InternalMove {
  /** In lower case. */
  readonly to: string;
  readonly value: bigint;
  /** The kind of its call is unknown, so that it is not certain whether the coins moved. */
  readonly isUnknown?: true;
}

/** The outermost call of a transaction, as callTracer shows it. */
export interface CallTrace {
  readonly from: string;
  readonly value: bigint;
  readonly moves: readonly InternalMove[];
}

/**
 * Kinds of calls, and whether they move their value. DELEGATECALL repeats its caller's value, and
 * CALLCODE pays its own contract.
 */
const kinds: ReadonlyMap<unknown, boolean> = new Map([
  ['CALL', true],
  ['CREATE', true],
  ['CREATE2', true],
  ['SELFDESTRUCT', true],
  ['STATICCALL', false],
  ['DELEGATECALL', false],
  ['CALLCODE', false],
]);

/** The EVM itself allows 1,024 nested calls. https://eips.ethereum.org/EIPS/eip-150 */
const maxDepth = 1_100;

/** Reads one transaction's trace. https://geth.ethereum.org/docs/developers/evm-tracing/built-in-tracers#call-tracer */
export function readCallTrace(frame: unknown): CallTrace {
  const top = asObject(frame, 'trace');
  const moves: InternalMove[] = [];
  collect(top, moves, 0);
  return { from: asAddress(top.from, 'sender of a trace'), value: movedValue(top), moves };
}

/**
 * Collects the transfers of a call and of its inner calls. A failed call undoes everything below
 * it.
 */
function collect(call: Record<string, unknown>, moves: InternalMove[], depth: number): void {
  if (depth > maxDepth) throw unsound(`a trace of more than ${maxDepth} calls inside each other`);
  if (typeof call.error === 'string') return;
  if (call.error !== undefined) throw unsound('a trace that fails without a reason');
  // Without it, a call that the node cut off would look like one that moves nothing.
  if (depth > 0 && typeof call.type !== 'string') throw unsound('a trace without the kind of a call');
  const value = depth === 0 ? 0n : movedValue(call);
  if (value > 0n) {
    // A hard fork may bring a new kind of call. Such a call must not stop the scan of the chain.
    const isMoving = kinds.get(call.type);
    const to = asAddress(call.to, 'recipient of a call');
    const isOther = to !== asAddress(call.from, 'sender of a call');
    if (isMoving !== false && isOther)
      moves.push({ to, value, ...(isMoving === undefined ? { isUnknown: true } : {}) });
  }
  for (const inner of call.calls === undefined ? [] : asList(call.calls, 'calls')) {
    collect(asObject(inner, 'call'), moves, depth + 1);
  }
}

function movedValue({ value }: Record<string, unknown>): bigint {
  return value === undefined ? 0n : asQuantity(value, 'value of a call');
}
