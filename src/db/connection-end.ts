import type { Socket } from 'node:net';
import type { ClientBase } from 'pg';

/** How long a server may take to close a connection that was ended. */
const farewellMs = 500;

/** The socket of a connection, which node-postgres does not tell of in its types. */
export function socketOf(client: ClientBase): Socket {
  return (client as ClientBase & { readonly connection: { readonly stream: Socket } }).connection.stream;
}

/** Has a connection that is ended be gone soon, also when the server never answers: whoever stops waits for it. */
export function boundFarewell(client: ClientBase): void {
  const socket = socketOf(client);
  socket.once('finish', () => setTimeout(() => socket.destroy(), farewellMs).unref());
}
