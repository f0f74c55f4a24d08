import { WebSocket } from 'ws';

// biome-ignore lint/suspicious/noExplicitAny: messages are looked at member by member
type Message = any;

/** Where the staff API takes WebSockets. */
export function socketUrl(internalUrl: string): string {
  return `${internalUrl.replace('http', 'ws')}/graphql`;
}

/**
 * The status with which an upgrade is answered: 101 when there is a connection, which is ended at
 * once.
 */
export function upgradeStatus(
  url: string,
  headers: Record<string, string>,
  protocols: string | string[] = 'graphql-transport-ws',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, protocols, { headers });
    socket.once('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.once('unexpected-response', (_req, { statusCode }) => {
      resolve(statusCode ?? 0);
      socket.terminate();
    });
    // Ending it before it is open is an error too, when all is known.
    socket.on('error', reject);
  });
}

/** An acknowledged WebSocket connection with the token. */
export async function openSocket(internalUrl: string, token: string): Promise<WebSocket> {
  const headers = { Authorization: `Bearer ${token}` };
  const socket = new WebSocket(socketUrl(internalUrl), 'graphql-transport-ws', { headers });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  socket.send('{"type":"connection_init"}');
  const { type } = await nextMessage(socket);
  if (type !== 'connection_ack') throw new Error(`the connection began with '${type}'`);
  return socket;
}

export function nextMessage(socket: WebSocket): Promise<Message> {
  return new Promise((resolve, reject) => {
    const closed = (code: number): void => reject(new Error(`closed with ${code}`));
    socket.once('close', closed);
    socket.once('message', (data) => {
      socket.off('close', closed);
      resolve(JSON.parse(String(data)));
    });
  });
}

/** The errors with which an operation is answered. */
export async function refusedOn(
  socket: WebSocket,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Message[]> {
  const told = nextMessage(socket);
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query, variables } }));
  const { type, payload } = await told;
  if (type !== 'error') throw new Error(`the operation was answered with '${type}'`);
  return payload;
}
