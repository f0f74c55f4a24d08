import type { MikroORM } from '@mikro-orm/postgresql';
import type { LiveNetworks } from '../chains/networks/live-networks.ts';
import type { CurrencyCatalogue } from '../currencies/currency-catalogue.ts';
import type { PartnerSandbox } from '../sandbox/partner-sandbox.ts';
import type { Foundation } from './foundation.ts';

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
  const { PartnerSandbox } = await import('../sandbox/partner-sandbox.ts');
  const { SandboxChain } = await import('../chains/sandbox/sandbox-chain.ts');
  return new PartnerSandbox({ orm, clock, catalogue, chain: new SandboxChain({ orm, clock }) });
}
