import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { openSandbox, type SandboxShared } from '../../../src/app/open-sandbox.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { LiveNetworks } from '../../../src/chains/families/live-networks.ts';
import type { RepeatableRequests } from '../../../src/orders/repeatable-requests.ts';
import type { Call } from '../../../src/surfaces/rest/api/call.ts';
import { type SandboxParts, sandboxHandlers } from '../../../src/surfaces/rest/partner/sandbox.ts';
import { testConfig } from '../../support/gateway/settings.ts';

const orm = {} as MikroORM;
const config = testConfig({});

function setup(live: readonly string[]): SandboxShared {
  const networks = { live: new Map(live.map((chain) => [chain, {}])) } as unknown as LiveNetworks;
  return { clock: systemClock, networks } as SandboxShared;
}

describe('the sandbox of partners', () => {
  it('is opened where every network is of the sandbox', async () => {
    expect(await openSandbox({ servesPartners: true, config }, setup([]), orm)).not.toBeNull();
  });

  it('is absent with one real network, and where no partners are served', async () => {
    expect(await openSandbox({ servesPartners: true, config }, setup(['bitcoin']), orm)).toBeNull();
    expect(await openSandbox({ servesPartners: false, config }, setup([]), orm)).toBeNull();
  });

  it('is not there for keys of a gateway that moved money', async () => {
    const sandbox = {
      idOf: async () => 'x',
      expire: async () => ({ id: 'x', status: 'expired', expiresAt: new Date(0) }),
    };
    const requests: Pick<RepeatableRequests, 'run'> = {
      run: async (_partner, _key, effect) => ({ ...(await effect({} as EntityManager)), isReplayed: false }),
    };
    const { expireSandboxOrder } = sandboxHandlers({ sandbox, requests } as unknown as SandboxParts);
    const ask = (keyId: string) => {
      const call = { caller: { kind: 'key', keyId, partner: { id: 'p' } }, header: () => undefined } as unknown as Call;
      return expireSandboxOrder({ path: { order_id: 'x' }, call } as Parameters<typeof expireSandboxOrder>[0]);
    };
    expect(await ask('xp_test_abcdefghijkl')).toMatchObject({ status: 200 });
    await expect(ask('xp_live_abcdefghijkl')).rejects.toMatchObject({ kind: 'not_found' });
  });
});
