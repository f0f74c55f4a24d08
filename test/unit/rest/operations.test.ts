import { operationRows as cabinetRows, sharedOperations } from '../../../src/accounts/members/rights.ts';
import { keyScopes } from '../../../src/accounts/partners/key-scope.ts';
import { ContractBackend } from '../../../src/surfaces/rest/api/backend.ts';
import { membersContract, readCabinetContract } from '../../../src/surfaces/rest/cabinet/contract.ts';
import { apiRoot, type OperationId, readContract } from '../../../src/surfaces/rest/partner/contract.ts';
import { NearbyRows, type OperationRow, operationRows } from '../../../src/surfaces/rest/partner/operations.ts';
import { sandboxPaths } from '../../../src/surfaces/rest/partner/sandbox.ts';

interface Contracted {
  readonly operationId: string;
  readonly security: readonly Record<string, readonly string[]>[];
}

const contract = readContract();
const contracted = Object.values(contract.paths ?? {}).flatMap((path) =>
  Object.values(path as Record<string, Contracted>),
);
const rowOf = (id: string): OperationRow | undefined => (operationRows as Record<string, OperationRow>)[id];

describe('the row of an operation', () => {
  it('exists for each operation of the contract, and for nothing else', () => {
    expect(Object.keys(operationRows).sort()).toEqual(contracted.map(({ operationId }) => operationId).sort());
  });

  it.each(
    contracted.map((operation) => [operation.operationId, operation] as const),
  )('of %s names the scope and the bucket that the contract says', (id, { security }) => {
    const row = rowOf(id);
    // An empty requirement means that a request without a key is allowed.
    const needsKey = security.length > 0 && security.every((requirement) => Object.keys(requirement).length > 0);
    expect(needsKey ? keyScopes : ['public']).toEqual(expect.arrayContaining([row?.scope].flat()));
    expect(
      needsKey ? ['partner', 'orders', 'quotes', 'lists', 'validations', 'changes'] : ['anon', 'assets'],
    ).toContain(row?.bucket);
    // One key, in either header, is all that the listener can check.
    const schemes = security.flatMap((requirement) => Object.keys(requirement));
    expect(['bearerKey', 'headerKey']).toEqual(expect.arrayContaining(schemes));
  });
});

describe('an operation of the cabinet', () => {
  it('needs a session by its contract exactly when its row needs one', () => {
    const { paths = {}, security: usual = [] } = readCabinetContract() as { paths?: object; security?: object[] };
    const open = Object.values(paths)
      .flatMap((path) => Object.values(path as Record<string, Partial<Contracted>>))
      .filter(({ operationId, security = usual }) => operationId !== undefined && security.length === 0)
      .map(({ operationId }) => operationId);
    const needless = Object.entries(cabinetRows).filter(([, { needs }]) => needs === 'nothing');
    expect(open.sort()).toEqual(needless.map(([id]) => id).sort());
    expect(usual).toEqual([{ session: [] }]);
  });
});

describe('an operation of the partner contract for members', () => {
  const shared = Object.values(membersContract().paths ?? {}).flatMap((path) =>
    Object.values(path as Record<string, Contracted>),
  );

  it('is one with a row, and no other is in their contract', () => {
    expect(shared.map(({ operationId }) => operationId).sort()).toEqual([...sharedOperations].sort());
  });

  it('needs a caller by the contract, so that the door asks for the session', () => {
    for (const { operationId, security } of shared) {
      expect([operationId, security]).toEqual([operationId, [{ bearerKey: [] }, { headerKey: [] }]]);
    }
  });
});

/** Who finds the operation of a request, and the row that counts it. */
async function findersOf(absent: readonly string[] = []) {
  const backend = await new ContractBackend(contract, { root: apiRoot, absent, ignoreTrailingSlashes: true }).init();
  const nearby = new NearbyRows(backend.index.shapes);
  const idOf = (method: string, path: string): OperationId | null => {
    try {
      return backend.router.matchOperation({ method, path, headers: {} }, true).operationId as OperationId;
    } catch {
      return null;
    }
  };
  const row = (method: string, path: string): OperationRow => {
    const id = idOf(method, path);
    return id === null ? nearby.of(method, path) : operationRows[id];
  };
  return { idOf, row, methodsAt: (path: string) => backend.index.methodsAt(path) };
}

describe('a path that a gateway does not have', () => {
  it('is found and counted like a path that the contract does not have', async () => {
    const without = await findersOf([sandboxPaths]);
    const paths = Object.keys(contract.paths ?? {}).filter((path) => path.startsWith(sandboxPaths));
    expect(paths).toHaveLength(5);
    const unknown = without.row('POST', `${apiRoot}/partner/nothing/orders/XP-7K2M9Q`);
    for (const path of paths.map((one) => apiRoot + one.replace('{order_id}', 'XP-7K2M9Q'))) {
      expect(without.methodsAt(path)).toEqual([]);
      for (const method of ['POST', 'GET', 'DELETE']) {
        expect(without.idOf(method, path)).toBeNull();
        expect(without.row(method, path)).toBe(unknown);
      }
    }
  });
});

describe('the row of a request', () => {
  let finders: Awaited<ReturnType<typeof findersOf>>;
  beforeAll(async () => {
    finders = await findersOf();
  });
  const counted = (method: string, path: string): string => {
    const { scope, bucket } = finders.row(method, path);
    return `${scope === 'public' ? 'public' : 'key'} ${bucket}`;
  };

  it.each([
    ['GET', `${apiRoot}/currencies/`, 'public anon'],
    ['GET', `${apiRoot}/partner/rates`, 'public anon'],
    ['GET', `${apiRoot}/coin-icons/btc.svg`, 'public assets'],
    ['POST', `${apiRoot}/partner/orders`, 'key orders'],
    ['GET', `${apiRoot}/partner/orders`, 'key lists'],
    ['GET', `${apiRoot}/partner/orders/XP-7K2M9Q`, 'key partner'],
    ['GET', `${apiRoot}/partner/orders/XP-7K2M9Q/details`, 'key partner'],
    ['GET', `${apiRoot}/partner/orders/XP-7K2M9Q/events`, 'key partner'],
    ['PATCH', `${apiRoot}/partner/orders/XP-7K2M9Q`, 'key changes'],
    ['PUT', `${apiRoot}/partner/orders/XP-7K2M9Q/refund-address`, 'key changes'],
    ['POST', `${apiRoot}/partner/orders/XP-7K2M9Q/cancel`, 'key changes'],
    ['GET', `${apiRoot}/partner/events`, 'key partner'],
    ['GET', `${apiRoot}/partner/events/stream`, 'key partner'],
    ['POST', `${apiRoot}/partner/orders/XP-7K2M9Q/actions`, 'key changes'],
    ['GET', `${apiRoot}/status/0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d90`, 'public anon'],
    ['GET', `${apiRoot}/partner/assets`, 'public anon'],
    ['GET', `${apiRoot}/partner/pairs`, 'public anon'],
    ['POST', `${apiRoot}/partner/orders/validate`, 'key validations'],
    ['POST', `${apiRoot}/partner/addresses/validate`, 'key validations'],
  ])('for a documented operation is the row of the operation: %s %s', (method, path, row) => {
    expect(counted(method, path)).toBe(row);
  });

  it.each([
    ['GET', `${apiRoot}/docs/swagger-ui.css`, 'public assets'],
    ['GET', `${apiRoot}/Coin-Icons`, 'public assets'],
    ['POST', `${apiRoot}/coin-icons/btc.svg`, 'public assets'],
    ['POST', `${apiRoot}/partner/rates`, 'public anon'],
    ['PUT', `${apiRoot}/partner/orders`, 'key changes'],
    ['POST', `${apiRoot}/partner/orders/a/b`, 'key changes'],
    ['GET', `${apiRoot}/PARTNER/orders/a/b`, 'key partner'],
    ['GET', `${apiRoot}/partner/orders/validate`, 'key partner'],
    ['GET', '/', 'public anon'],
  ])('for an unknown path or method is the row of its neighbours: %s %s', (method, path, row) => {
    expect(counted(method, path)).toBe(row);
  });
});
