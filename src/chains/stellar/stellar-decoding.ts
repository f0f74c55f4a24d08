import { unsound } from '../nodes/node-answer.ts';

/** A type of the library. */
interface XdrType<T> {
  fromXDR(text: string, format: 'base64'): T;
}

/**
 * Levels of nesting that are read. The network's own servers read 1,500, and a ledger adds some
 * around a transaction. The library alone stops at 200, where a stranger could end the scan by the
 * data of a contract.
 */
const deepest = 1_700;
/** The largest index of a ledger that is accepted. It fits the database's integer type. */
export const maxIndex = 2 ** 31 - 1;

/** Reads what a node told in base64. @throws ChainError for bytes that are not of the type. */
export function decodeXdr<T>(what: string, type: XdrType<T>, text: unknown): T {
  // The bound of the type that is read first holds for all that is in it.
  Object.assign(type, { _maxDepth: deepest });
  return decoded(what, () => type.fromXDR(asBase64(text), 'base64'));
}

/** Runs the library's reading of bytes that a node told. */
export function decoded<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw unsound(`bytes that are no ${what}`);
  }
}

function asBase64(value: unknown): string {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) throw unsound('no base64');
  return value;
}

/** The index of a ledger. @throws ChainError for anything else. */
export function asIndex(value: unknown, what: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > maxIndex)
    throw unsound(`no number as ${what}`);
  return value;
}
