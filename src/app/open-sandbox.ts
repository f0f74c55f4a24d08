import type { MikroORM } from '@mikro-orm/postgresql';
import type { SandboxChain } from '../chains/sandbox/sandbox-chain.ts';
import type { Config } from '../config/settings.ts';
import type { ExchangeName } from '../exchanges/exchange.ts';
import type { MagicOrders } from '../settlement/sandbox/magic-orders.ts';
import type { PartnerSandbox } from '../settlement/sandbox/partner-sandbox.ts';
import type { SandboxVenue } from '../settlement/sandbox/sandbox-venue.ts';
import { type Foundation, inBackground } from './foundation.ts';
import type { GatewayShared } from './services.ts';

const magicMs = 500;
/** How often the imitated exchange looks at the chains. */
const venueMs = 1_000;

export type SandboxShared = Pick<GatewayShared, 'clock' | 'catalogue' | 'networks'>;

/**
 * Opens the sandbox for partners. Null on a gateway with any real network, which never loads its
 * code, and in a process that serves no partners.
 */
export async function openSandbox(
  { servesPartners, config }: Pick<Foundation, 'servesPartners' | 'config'>,
  shared: SandboxShared,
  orm: MikroORM,
): Promise<PartnerSandbox | null> {
  if (!servesPartners || shared.networks.live.size > 0) return null;
  return (await loadSandbox(config, shared, orm)).sandbox;
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
  const magic = new MagicOrders({ orm, catalogue, ...(await loadSandbox(config, shared, orm)) });
  if (outside.background !== false) inBackground(foundation, magicMs, 'magic_orders_failed', () => magic.follow());
  return magic;
}

/**
 * Opens the imitated exchange that SANDBOX_VENUE asks for, and serves it to this worker. Returns it
 * with the settings of a worker that trades there: nothing else differs from a real exchange. Null
 * without SANDBOX_VENUE.
 */
export async function openSandboxVenue(
  foundation: Foundation,
  { clock, catalogue, prices }: Pick<GatewayShared, 'clock' | 'catalogue' | 'prices'>,
  orm: MikroORM,
  chain: SandboxChain,
): Promise<{ readonly venue: SandboxVenue; readonly config: Config } | null> {
  const { config, outside, closing } = foundation;
  if (config.SANDBOX_VENUE === 'off') return null;
  const { SandboxVenue } = await import('../settlement/sandbox/sandbox-venue.ts');
  const name = sandboxVenueName(config);
  const venue = new SandboxVenue({ orm, clock, catalogue, prices, chain, name, cash: config.VENUE_CASH });
  const { origin, trading, reading } = await venue.start();
  closing.add(() => venue.stop());
  if (outside.background !== false) inBackground(foundation, venueMs, 'sandbox_venue_failed', () => venue.step());
  const own = {
    VENUE: { name, origin },
    VENUE_KEY: trading.key,
    VENUE_SECRET: trading.secret,
    VENUE_FUNDING_KEY: reading.key,
    VENUE_FUNDING_SECRET: reading.secret,
  };
  return { venue, config: { ...config, ...own } };
}

/** The exchange that SANDBOX_VENUE imitates. */
export function sandboxVenueName({ VENUE }: Pick<Config, 'VENUE'>): ExchangeName {
  return VENUE === null || VENUE === 'inventory' ? 'kraken' : VENUE.name;
}

async function loadSandbox(config: Config, { clock, catalogue }: SandboxShared, orm: MikroORM) {
  const { PartnerSandbox } = await import('../settlement/sandbox/partner-sandbox.ts');
  const { SandboxChain } = await import('../chains/sandbox/sandbox-chain.ts');
  const { rulesByName } = await import('../chains/sandbox/sandbox-rules.ts');
  const chain = new SandboxChain({ orm, clock, rules: rulesByName(config.SANDBOX_RULES) });
  return { chain, sandbox: new PartnerSandbox({ orm, clock, catalogue, chain }) };
}
