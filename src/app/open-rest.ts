import { createRestListener, type RestDependencies } from '../rest/server.ts';
import type { Foundation } from './foundation.ts';
import { type Listener, listen, reportsTo } from './listener.ts';

/** Requests under way on the public listener are cut after this time. */
const inFlightMs = 15_000;

/** Opens the public listener. Null for a worker, which has none. */
export async function openRest(
  { config, servesPartners, log, metrics, closing }: Foundation,
  parts: Omit<RestDependencies, 'config' | 'log' | 'metrics'>,
): Promise<Listener | null> {
  if (!servesPartners) return null;
  const { HOST: host, PORT: port, TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = config;
  const rest = await listen(await createRestListener({ config, log, metrics, ...parts }), {
    host,
    port,
    tls: certFile !== null && keyFile !== null ? { certFile, keyFile } : null,
    ...reportsTo(log, metrics),
  });
  closing.add(() => rest.close(inFlightMs));
  return rest;
}
