import type { MikroORM } from '@mikro-orm/postgresql';
import type { MagicOrders } from '../settlement/sandbox/magic-orders.ts';
import type { PartnerSandbox } from '../settlement/sandbox/partner-sandbox.ts';
import { type Foundation, inBackground } from './foundation.ts';
import type { GatewayShared } from './services.ts';

const magicMs = 500;

export type SandboxShared = Pick<GatewayShared, 'clock' | 'catalogue' | 'networks'>;

/**
 * Opens the sandbox for partners. Null on a gateway with any real network, which never loads its
 * code, and in a process that serves no partners.
 */
export async function openSandbox(
  { servesPartners }: Pick<Foundation, 'servesPartners'>,
  shared: SandboxShared,
  orm: MikroORM,
): Promise<PartnerSandbox | null> {
  if (!servesPartners || shared.networks.live.size > 0) return null;
  return (await loadSandbox(shared, orm)).sandbox;
}

/**
 * Opens the part of a worker that plays the outside world of orders with magic values. Null on a
 * gateway with any real network, and in an api process.
 */
export async function openMagicOrders(
  foundation: Foundation,
  shared: SandboxShared,
  orm: MikroORM,
): Promise<MagicOrders | null> {
  const { config, outside } = foundation;
  if (config.ROLE === 'api' || shared.networks.live.size > 0) return null;
  const { MagicOrders } = await import('../settlement/sandbox/magic-orders.ts');
  const { catalogue } = shared;
  const magic = new MagicOrders({ orm, catalogue, ...(await loadSandbox(shared, orm)) });
  if (outside.background !== false) inBackground(foundation, magicMs, 'magic_orders_failed', () => magic.follow());
  return magic;
}

async function loadSandbox({ clock, catalogue }: SandboxShared, orm: MikroORM) {
  const { PartnerSandbox } = await import('../settlement/sandbox/partner-sandbox.ts');
  const { SandboxChain } = await import('../chains/sandbox/sandbox-chain.ts');
  const chain = new SandboxChain({ orm, clock });
  return { chain, sandbox: new PartnerSandbox({ orm, clock, catalogue, chain }) };
}
