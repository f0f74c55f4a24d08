import { ChainError } from './chain-adapter.ts';

/** What is wrong with a node or its answer; another node may do better. */
export class NodeFault extends ChainError {
  /** The end of a sentence that begins with the node. */
  readonly what: string;
  /** Whether the message names the node. */
  readonly isNamed: boolean;

  constructor(code: string, what: string, { node, cause }: { node?: string; cause?: unknown } = {}) {
    super(code, `the node ${node === undefined ? '' : `at ${node} `}${what}`, { cause });
    this.what = what;
    this.isNamed = node !== undefined;
  }
}

/** The same error with the node's name, where it is a fault of a node that does not name it yet. */
export function naming(node: string, error: unknown): unknown {
  if (!(error instanceof NodeFault) || error.isNamed) return error;
  return new NodeFault(error.code, error.what, { node, cause: error.cause });
}

/** An answer of a node that makes no sense. It is never credited. */
export function unsound(what: string): NodeFault {
  return new NodeFault('unsound_answer', `answered ${what}`);
}

export function asObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unsound(`no ${what}`);
  return value as Readonly<Record<string, unknown>>;
}

export function asList(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw unsound(`no ${what}`);
  return value;
}
