import type { MikroORM } from '@mikro-orm/postgresql';
import type { LiveNetworks } from '../chains/families/live-networks.ts';
import type { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';
import type { MagicOrders } from '../settlement/sandbox/magic-orders.ts';
import type { PartnerSandbox } from '../settlement/sandbox/partner-sandbox.ts';
import { type Foundation, inBackground } from './foundation.ts';

const magicMs = 500;

export interface SandboxSetup {
  readonly orm: MikroORM;
  readonly catalogue: CurrencyCatalogue;
  readonly networks: LiveNetworks;
}

/**
 * Opens the sandbox for partners. Null on a gateway with any real network, which never loads its
 * code, and in a process that serves no partners.
 */
export async function openSandbox(
  { clock, servesPartners }: Pick<Foundation, 'clock' | 'servesPartners'>,
  { orm, catalogue, networks }: SandboxSetup,
): Promise<PartnerSandbox | null> {
  if (!servesPartners || networks.live.size > 0) return null;
  const { PartnerSandbox } = await import('../settlement/sandbox/partner-sandbox.ts');
  const { SandboxChain } = await import('../chains/sandbox/sandbox-chain.ts');
  return new PartnerSandbox({ orm, clock, catalogue, chain: new SandboxChain({ orm, clock }) });
}

/**
 * Opens the part of a worker that plays the outside world of orders with magic values. Null on a
 * gateway with any real network, and in an api process.
 */
export async function openMagicOrders(
  foundation: Foundation,
  { orm, catalogue, networks }: SandboxSetup,
): Promise<MagicOrders | null> {
  const { config, clock, outside } = foundation;
  if (config.ROLE === 'api' || networks.live.size > 0) return null;
  const { MagicOrders } = await import('../settlement/sandbox/magic-orders.ts');
  const { PartnerSandbox } = await import('../settlement/sandbox/partner-sandbox.ts');
  const { SandboxChain } = await import('../chains/sandbox/sandbox-chain.ts');
  const chain = new SandboxChain({ orm, clock });
  const sandbox = new PartnerSandbox({ orm, clock, catalogue, chain });
  const magic = new MagicOrders({ orm, catalogue, chain, sandbox });
  if (outside.background !== false) inBackground(foundation, magicMs, 'magic_orders_failed', () => magic.follow());
  return magic;
}
