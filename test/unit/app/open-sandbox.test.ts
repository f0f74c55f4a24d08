import type { EntityManager } from '@mikro-orm/postgresql';
import { openSandbox, type SandboxSetup } from '../../../src/app/open-sandbox.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { LiveNetworks } from '../../../src/chains/families/live-networks.ts';
import type { RepeatableRequests } from '../../../src/orders/repeatable-requests.ts';
import type { Call } from '../../../src/surfaces/rest/api/call.ts';
import { type SandboxParts, sandboxHandlers } from '../../../src/surfaces/rest/partner/sandbox.ts';

function setup(live: readonly string[]): SandboxSetup {
  const networks = { live: new Map(live.map((chain) => [chain, {}])) } as unknown as LiveNetworks;
  return { networks } as SandboxSetup;
}

describe('the sandbox of partners', () => {
  it('is opened where every network is of the sandbox', async () => {
    expect(await openSandbox({ clock: systemClock, servesPartners: true }, setup([]))).not.toBeNull();
  });

  it('is absent beside one real network, and where no partners are served', async () => {
    expect(await openSandbox({ clock: systemClock, servesPartners: true }, setup(['bitcoin']))).toBeNull();
    expect(await openSandbox({ clock: systemClock, servesPartners: false }, setup([]))).toBeNull();
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
      const call = { caller: { keyId, partner: { id: 'p' } }, header: () => undefined } as unknown as Call;
      return expireSandboxOrder({ path: { order_id: 'x' }, call } as Parameters<typeof expireSandboxOrder>[0]);
    };
    expect(await ask('xp_test_abcdefghijkl')).toMatchObject({ status: 200 });
    await expect(ask('xp_live_abcdefghijkl')).rejects.toMatchObject({ kind: 'not_found' });
  });
});
