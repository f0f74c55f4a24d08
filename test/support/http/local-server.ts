import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';

/**
 * Longer than any pause of a test. A server that ends an idle connection just when a client sends
 * on it resets the request.
 */
const keepAliveMs = 600_000;

/** Has a server listen on a free port of this machine, and of no network. Returns the port. */
export async function listen(server: Server): Promise<number> {
  if (server instanceof HttpServer) server.keepAliveTimeout = keepAliveMs;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Ends a server and every connection to it. */
export async function close(server: HttpServer): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}

/**
 * A port that no program uses. It lies below the ports that the system gives to connections and to
 * servers on port 0, so that no other test takes it before its own program listens.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
