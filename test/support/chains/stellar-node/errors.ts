/** Codes of errors. https://www.jsonrpc.org/specification#error_object */
export const errorCodes = {
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
} as const;

/** An answer that is an error. */
export class RpcError extends Error {
  readonly code: number;

  constructor(name: keyof typeof errorCodes, message: string) {
    super(message);
    this.code = errorCodes[name];
  }
}

export function invalidParams(message: string): RpcError {
  return new RpcError('invalidParams', message);
}
