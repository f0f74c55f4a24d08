import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { streamEvent, writeOut } from '../../../src/surfaces/rest/api/event-stream.ts';

/** Answers one raw request by the given function. */
async function served(answer: (res: ServerResponse) => Promise<unknown>, isRead: boolean): Promise<unknown> {
  const answered = Promise.withResolvers<unknown>();
  const server = createServer((_req, res) => void answer(res).then(answered.resolve, answered.reject));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  if (isRead) socket.resume();
  else socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  try {
    return await answered.promise;
  } finally {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  }
}

/** Writes until the connection is over, or 64 MiB are out. */
async function flood(res: ServerResponse, unreadMs: number): Promise<{ sent: number; isOpen: boolean }> {
  const text = 'x'.repeat(1024 * 1024);
  for (let sent = 0; sent < 64; sent++) if (!(await writeOut(res, text, unreadMs))) return { sent, isOpen: false };
  res.end();
  return { sent: 64, isOpen: true };
}

describe('writing to a client of a stream', () => {
  it('cuts one that takes nothing, with bounded bytes waiting', async () => {
    const { sent, isOpen } = (await served((res) => flood(res, 200), false)) as { sent: number; isOpen: boolean };
    expect(isOpen).toBe(false);
    expect(sent).toBeLessThan(64);
  });

  it('keeps one that reads', async () => {
    expect(await served((res) => flood(res, 60_000), true)).toEqual({ sent: 64, isOpen: true });
  });

  it('tells that the connection is over', async () => {
    const ended = async (res: ServerResponse): Promise<boolean> => {
      res.destroy();
      return writeOut(res, 'x', 200);
    };
    expect(await served(ended, true)).toBe(false);
  });
});

it('an event is three lines and an empty one', () => {
  expect(streamEvent('abc', 'order.created', '{"a":1}')).toBe('id: abc\nevent: order.created\ndata: {"a":1}\n\n');
});
