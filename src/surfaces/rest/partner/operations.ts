import type { KeyScope } from '../../../accounts/partners/key-scope.ts';
import type { OperationShape } from '../api/backend.ts';
import { apiRoot, type OperationId } from './contract.ts';

/** Properties of an operation that are needed before its request is read. */
export interface OperationRow {
  /** The scopes of which a key must have one, or `public` when the operation needs no key. */
  readonly scope: KeyScope | readonly KeyScope[] | 'public';
  /**
   * The rate limit that counts its requests.
   * - `assets`: the client's address, separate from its other requests.
   * - `anon`: the partner account when the key is genuine, the client's address otherwise.
   * - `partner`: the partner account.
   * - `orders`: the partner account, and also its limit of new orders.
   * - `quotes`: the partner account, separate from its other requests.
   * - `lists`: the partner account, and also its limit of lists.
   * - `validations`: the partner account, and also its limit of validations.
   * - `changes`: the partner account, and also its limit of changes.
   */
  readonly bucket: 'assets' | 'anon' | 'partner' | 'orders' | 'quotes' | 'lists' | 'validations' | 'changes';
  /**
   * When its requests take their turn among those of the partner, or of the address without a key,
   * for a connection to the database.
   * - `whole`: before the handler begins, until it has ended.
   * - `parts`: its handler or service takes a turn for each part, and waits or shares in between.
   * - `none`: it answers from memory, or by the statements that many requests share.
   */
  readonly turn: 'whole' | 'parts' | 'none';
}

/** One row for each operation of the contract. The compiler refuses an operation without a row. */
export const operationRows: {
  readonly [Id in OperationId]: OperationRow;
} = {
  listCurrencies: { scope: 'public', bucket: 'anon', turn: 'none' },
  getCoinIcon: { scope: 'public', bucket: 'assets', turn: 'none' },
  // A key with the scope rates:read gets its partner's quote.
  getRate: { scope: 'public', bucket: 'anon', turn: 'none' },
  createQuote: { scope: ['rates:read', 'orders:create'], bucket: 'quotes', turn: 'none' },
  getQuote: { scope: ['rates:read', 'orders:create'], bucket: 'partner', turn: 'parts' },
  listAssets: { scope: 'public', bucket: 'anon', turn: 'none' },
  // A key with the scope rates:read gets its partner's limits.
  listPairs: { scope: 'public', bucket: 'anon', turn: 'none' },
  validateAddress: { scope: 'orders:create', bucket: 'validations', turn: 'whole' },
  validateOrder: { scope: 'orders:create', bucket: 'validations', turn: 'parts' },
  createOrder: { scope: 'orders:create', bucket: 'orders', turn: 'parts' },
  getOrder: { scope: 'orders:read', bucket: 'partner', turn: 'none' },
  listOrders: { scope: 'orders:read', bucket: 'lists', turn: 'whole' },
  getOrderDetails: { scope: 'orders:read', bucket: 'partner', turn: 'whole' },
  listOrderEvents: { scope: 'orders:read', bucket: 'partner', turn: 'whole' },
  changeOrder: { scope: 'orders:manage', bucket: 'changes', turn: 'whole' },
  setRefundAddress: { scope: 'orders:manage', bucket: 'changes', turn: 'whole' },
  actOnOrder: { scope: 'orders:manage', bucket: 'changes', turn: 'whole' },
  cancelOrder: { scope: 'orders:manage', bucket: 'changes', turn: 'whole' },
  renewOrderPage: { scope: 'orders:manage', bucket: 'changes', turn: 'whole' },
  revokeOrderPage: { scope: 'orders:manage', bucket: 'changes', turn: 'whole' },
  listEvents: { scope: 'orders:read', bucket: 'partner', turn: 'parts' },
  streamEvents: { scope: 'orders:read', bucket: 'partner', turn: 'parts' },
  listWebhookEndpoints: { scope: 'webhooks:manage', bucket: 'partner', turn: 'whole' },
  createWebhookEndpoint: { scope: 'webhooks:manage', bucket: 'partner', turn: 'whole' },
  getWebhookEndpoint: { scope: 'webhooks:manage', bucket: 'partner', turn: 'whole' },
  updateWebhookEndpoint: { scope: 'webhooks:manage', bucket: 'partner', turn: 'whole' },
  deleteWebhookEndpoint: { scope: 'webhooks:manage', bucket: 'partner', turn: 'whole' },
  rotateWebhookSecret: { scope: 'webhooks:manage', bucket: 'partner', turn: 'whole' },
  testWebhookEndpoint: { scope: 'webhooks:manage', bucket: 'partner', turn: 'parts' },
  listWebhookDeliveries: { scope: 'webhooks:manage', bucket: 'lists', turn: 'whole' },
  replayWebhookEvents: { scope: 'webhooks:manage', bucket: 'lists', turn: 'parts' },
  makeSandboxDeposits: { scope: 'sandbox', bucket: 'changes', turn: 'whole' },
  expireSandboxOrder: { scope: 'sandbox', bucket: 'changes', turn: 'whole' },
  reorgSandboxDeposit: { scope: 'sandbox', bucket: 'changes', turn: 'whole' },
  forceSandboxOutcome: { scope: 'sandbox', bucket: 'changes', turn: 'whole' },
  emitSandboxEvent: { scope: 'sandbox', bucket: 'changes', turn: 'whole' },
  getCommissionBalance: { scope: 'reports:read', bucket: 'lists', turn: 'whole' },
  listCommissionEntries: { scope: 'reports:read', bucket: 'lists', turn: 'whole' },
  listStatements: { scope: 'reports:read', bucket: 'lists', turn: 'whole' },
  getStatement: { scope: 'reports:read', bucket: 'lists', turn: 'whole' },
  listOrderReport: { scope: 'reports:read', bucket: 'lists', turn: 'whole' },
  getPublicStatus: { scope: 'public', bucket: 'anon', turn: 'whole' },
  getDocument: { scope: 'public', bucket: 'anon', turn: 'none' },
};

/** The contract's viewer is not an operation of the contract. */
const docsRow: OperationRow = { scope: 'public', bucket: 'assets', turn: 'none' };

/** Paths that the contract does not have. */
const otherRow: OperationRow = { scope: 'public', bucket: 'anon', turn: 'none' };

/** Rows of requests without an operation, which count like those at the paths around theirs. */
export class NearbyRows {
  /** By the beginning of the path in lower case. */
  readonly #beginnings: {
    readonly start: string;
    readonly depth: number;
    readonly method: string;
    readonly takesBody: boolean;
    readonly row: OperationRow;
  }[];

  constructor(shapes: readonly OperationShape[]) {
    const ofShapes = shapes.map(({ id, method, path, takesBody }) => ({
      start: `${apiRoot}${path}`.replace(/\/?\{.*$/, '').toLowerCase(),
      depth: path.split('{').length,
      method,
      takesBody,
      row: operationRows[id as OperationId],
    }));
    const docs = { start: `${apiRoot}/docs`, depth: 0, method: 'GET', takesBody: false, row: docsRow };
    // Paths below an operation count like the operations that have paths below it.
    this.#beginnings = [docs, ...ofShapes].sort((one, other) => other.depth - one.depth);
  }

  /** Of the operations whose path the request's begins with, one of the same method comes first. */
  of(method: string, path: string): OperationRow {
    const small = path.toLowerCase();
    const near = this.#beginnings.filter(({ start }) => small.startsWith(start));
    const nearest = near.find((one) => one.method === method) ?? near.find(({ takesBody }) => !takesBody);
    return nearest?.row ?? otherRow;
  }
}
