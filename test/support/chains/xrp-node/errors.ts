/** Numbers of errors. https://xrpl.org/docs/references/http-websocket-apis/api-conventions/error-formatting */
const codes = {
  tooBusy: [9, 'The server is too busy to answer.'],
  slowDown: [10, 'The client sends too many requests.'],
  amendmentBlocked: [14, 'The server is amendment blocked.'],
  noClosed: [15, 'The server has no closed ledger.'],
  noCurrent: [16, 'The server has no current ledger.'],
  noNetwork: [17, 'The server is not synced to the network.'],
  notSynced: [18, 'The server is not synced to the network.'],
  actNotFound: [19, 'Account not found.'],
  lgrNotFound: [21, 'ledgerNotFound'],
  txnNotFound: [29, 'Transaction not found.'],
  invalidParams: [31, 'Invalid parameters.'],
  unknownCmd: [32, 'Unknown method.'],
  actMalformed: [35, 'Account malformed.'],
  dstActNotFound: [50, 'Destination account not found.'],
  srcActNotFound: [67, 'Source account not found.'],
  internal: [73, 'Internal error.'],
  notImpl: [74, 'Not implemented.'],
  excessiveLgrRange: [78, 'Ledger range exceeds 1000.'],
  invalidLgrRange: [79, 'Ledger range is invalid.'],
} as const;

export type ErrorName = keyof typeof codes | 'invalidTransaction' | 'invalid_API_version';

/** An answer that is an error, with more of its members. */
export class RpcError extends Error {
  readonly answer: Readonly<Record<string, unknown>>;

  constructor(name: ErrorName, more: Readonly<Record<string, unknown>> = {}) {
    super(name);
    const known = name in codes ? codes[name as keyof typeof codes] : null;
    this.answer = {
      error: name,
      ...(known ? { error_code: known[0], error_message: known[1] } : {}),
      ...more,
      status: 'error',
    };
  }
}

/** A parameter that is missing or wrong. */
export function invalidField(name: string): RpcError {
  return new RpcError('invalidParams', { error_message: `Invalid field '${name}'.` });
}
