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
  if (!isLoopback(HOST) || PORT === 0 || TRUSTED_PROXIES.length > 0) return null;
  const host = HOST.includes(':') && !HOST.startsWith('[') ? `[${HOST}]` : HOST;
  return `${TLS_CERT_FILE === null ? 'http' : 'https'}://${host}:${PORT}`;
}
