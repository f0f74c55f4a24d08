import type { Socket } from 'node:net';
import type { ClientBase } from 'pg';

/** How long a server may take to close a connection that was ended. */
const farewellMs = 500;

/** The socket of a connection. The types of node-postgres do not declare it. */
export function socketOf(client: ClientBase): Socket {
  return (client as ClientBase & { readonly connection: { readonly stream: Socket } }).connection.stream;
}

/**
 * Destroys the socket soon after a connection was ended, even if the server never answers. The
 * caller that stops a process waits for the connections.
 */
export function boundFarewell(client: ClientBase): void {
  const socket = socketOf(client);
  socket.once('finish', () => setTimeout(() => socket.destroy(), farewellMs).unref());
}
