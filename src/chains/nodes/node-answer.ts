import { ChainError } from '../port/chain-adapter.ts';

/** A fault of a node or of its answer; another node may do better. */
export class NodeFault extends ChainError {
  /** The fault as the end of a sentence that begins with the node. */
  readonly what: string;
  /** Whether the message names the node. */
  readonly isNamed: boolean;

  constructor(code: string, what: string, { node, cause }: { node?: string; cause?: unknown } = {}) {
    super(code, `the node ${node === undefined ? '' : `at ${node} `}${what}`, { cause });
    this.what = what;
    this.isNamed = node !== undefined;
  }
}

/** Adds the node's name to a fault of a node that does not name it yet. */
export function naming(node: string, error: unknown): unknown {
  if (!(error instanceof NodeFault) || error.isNamed) return error;
  return new NodeFault(error.code, error.what, { node, cause: error.cause });
}

/** An invalid answer of a node, on which nothing is credited. */
export function unsound(what: string): NodeFault {
  return new NodeFault('unsound_answer', `answered ${what}`);
}

/** The beginning of a text that a node chose, without what could change a terminal or a page. */
export function printable(text: string, most = 100): string {
  return text
    .slice(0, most)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim();
}

export function asObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unsound(`no ${what}`);
  return value as Readonly<Record<string, unknown>>;
}

export function asList(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw unsound(`no ${what}`);
  return value;
}
