/** Numbers of errors. https://docs.rs/solana-rpc-client-api, https://www.jsonrpc.org/specification */
export const errorCodes = {
  blockCleanedUp: -32_001,
  preflightFailure: -32_002,
  signatureFailure: -32_003,
  blockNotAvailable: -32_004,
  nodeUnhealthy: -32_005,
  slotSkipped: -32_007,
  longTermSlotSkipped: -32_009,
  historyNotAvailable: -32_011,
  statusNotAvailableYet: -32_014,
  unsupportedVersion: -32_015,
  minContextSlotNotReached: -32_016,
  longTermUnreachable: -32_019,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  parse: -32_700,
} as const;

export type ErrorName = keyof typeof errorCodes;

/** An answer that is an error. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(name: ErrorName, message: string, data?: unknown) {
    super(message);
    this.code = errorCodes[name];
    this.data = data;
  }
}

/** Errors about a slot, with the texts of agave. */
export const slotErrors = {
  blockCleanedUp: (slot: number, first: number) =>
    new RpcError('blockCleanedUp', `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`),
  blockNotAvailable: (slot: number) => new RpcError('blockNotAvailable', `Block not available for slot ${slot}`),
  slotSkipped: (slot: number) =>
    new RpcError('slotSkipped', `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`),
  longTermSlotSkipped: (slot: number) =>
    new RpcError('longTermSlotSkipped', `Slot ${slot} was skipped, or missing in long-term storage`),
  statusNotAvailableYet: (slot: number) =>
    new RpcError('statusNotAvailableYet', `Block status not yet available for slot ${slot}`),
} as const;

export function unsupportedVersion(version: number): RpcError {
  return new RpcError(
    'unsupportedVersion',
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with ` +
      `the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );
}

export function minContextSlotNotReached(contextSlot: number): RpcError {
  return new RpcError('minContextSlotNotReached', 'Minimum context slot has not been reached', { contextSlot });
}

/** @param slots How many it is behind, or null where it does not know. */
export function nodeUnhealthy(slots: number | null): RpcError {
  const message = slots === null ? 'Node is unhealthy' : `Node is behind by ${slots} slots`;
  return new RpcError('nodeUnhealthy', message, { numSlotsBehind: slots });
}

export function invalidParams(message: string): RpcError {
  return new RpcError('invalidParams', message);
}
