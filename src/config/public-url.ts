import { isLoopback } from './parsers.ts';
import type { Config } from './settings.ts';

/**
 * Scheme and host at which browsers reach the public listener. Without PUBLIC_URL only a gateway
 * that serves this machine, without a proxy, knows them. Null for any other.
 */
export function publicUrl(
  config: Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT' | 'TLS_CERT_FILE' | 'TRUSTED_PROXIES'>,
): string | null {
  const { PUBLIC_URL, HOST, PORT, TLS_CERT_FILE, TRUSTED_PROXIES } = config;
  if (PUBLIC_URL !== null) return PUBLIC_URL;
  if (!servesThisMachine({ HOST, TRUSTED_PROXIES }) || PORT === 0) return null;
  const host = HOST.includes(':') && !HOST.startsWith('[') ? `[${HOST}]` : HOST;
  return `${TLS_CERT_FILE === null ? 'http' : 'https'}://${host}:${PORT}`;
}

/** Whether this machine alone reaches the public listener, without a proxy. */
function servesThisMachine({ HOST, TRUSTED_PROXIES }: Pick<Config, 'HOST' | 'TRUSTED_PROXIES'>): boolean {
  return isLoopback(HOST) && TRUSTED_PROXIES.length === 0;
}

/**
 * Milliseconds after a signal in which new requests are still answered. Load balancers, and proxies
 * on this machine too, need the time to move away.
 */
export function drainGraceMs(
  config: Pick<Config, 'HOST' | 'TRUSTED_PROXIES' | 'DRAIN_GRACE_MS' | 'DRAIN_GRACE_LOCAL_MS'>,
): number {
  return servesThisMachine(config) ? config.DRAIN_GRACE_LOCAL_MS : config.DRAIN_GRACE_MS;
}
