import { createConnection, createServer, type Server as NetServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { listen } from '../support/http/local-server.ts';
import type { Requests } from './endpoints.ts';
import type { Cost } from './report.ts';
import { ask } from './requests.ts';
import type { Server } from './servers.ts';

/**
 * Stands between a server and PostgreSQL and counts what is sent: each Execute or Query is a
 * statement, each Sync or Query a round trip.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export class PostgresCounter {
  statements = 0;
  roundTrips = 0;
  readonly #server: NetServer;
  readonly #sockets = new Set<Socket>();

  private constructor(server: NetServer) {
    this.#server = server;
  }

  /** Returns the counter and the URL to give to the server. */
  static async start(databaseUrl: string): Promise<{ counter: PostgresCounter; url: string }> {
    const { host, port, user = '', database = '' } = new Client({ connectionString: databaseUrl });
    const server = createServer();
    const counter = new PostgresCounter(server);
    server.on('connection', (near) => {
      const far = createConnection(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        counter.#sockets.add(socket);
        socket.on('error', () => other.destroy());
        socket.on('close', () => {
          counter.#sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
      }
      near.on('data', counter.#reader());
    });
    const own = new URL(databaseUrl);
    const nearPort = await listen(server);
    const url = `postgres://${encodeURIComponent(user)}${own.password === '' ? '' : `:${own.password}`}@127.0.0.1:${nearPort}/${encodeURIComponent(database)}`;
    return { counter, url };
  }

  /** Reads the messages of one connection; the first has no type. */
  #reader(): (data: Buffer) => void {
    let rest: Buffer = Buffer.alloc(0);
    let isStarted = false;
    return (data) => {
      rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
      for (;;) {
        const head = isStarted ? 1 : 0;
        if (rest.length < head + 4) return;
        const length = head + rest.readUInt32BE(head);
        if (rest.length < length) return;
        if (isStarted) this.#count(String.fromCharCode(rest[0] ?? 0));
        isStarted = true;
        rest = rest.subarray(length);
      }
    };
  }

  #count(type: string): void {
    if (type === 'E' || type === 'Q') this.statements++;
    if (type === 'S' || type === 'Q') this.roundTrips++;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Counts the commands that clients send to a Redis; what scripts do inside it is not counted. */
export class RedisCounter {
  commands = 0;
  readonly #client: Redis;
  readonly #monitor: Redis;

  private constructor(client: Redis, monitor: Redis) {
    this.#client = client;
    this.#monitor = monitor;
    monitor.on('monitor', (_time: string, [command = '']: string[], source: string) => {
      if (source !== 'lua' && !/^(ping|info|client|hello|monitor)$/i.test(command)) this.commands++;
    });
  }

  static async start(url: string): Promise<RedisCounter> {
    const client = new Redis(url);
    return new RedisCounter(client, await client.monitor());
  }

  /** Waits until what was sent before has been counted. */
  async settle(): Promise<void> {
    const heard = new Promise<void>((resolve) => {
      const listener = (_time: string, [command = '']: string[]): void => {
        if (!/^ping$/i.test(command)) return;
        this.#monitor.off('monitor', listener);
        resolve();
      };
      this.#monitor.on('monitor', listener);
    });
    await this.#client.ping();
    await heard;
  }

  stop(): void {
    this.#monitor.disconnect();
    this.#client.disconnect();
  }
}

const counted = 21;

/**
 * What one request of an endpoint costs: the median of some, which hides what timers send
 * meanwhile.
 */
export async function costOf(
  server: Server,
  endpoint: Requests,
  postgres: PostgresCounter,
  redis: RedisCounter | null,
): Promise<Cost> {
  await ask(server.url, endpoint);
  const costs: Cost[] = [];
  for (let turn = 0; turn < counted; turn++) {
    await redis?.settle();
    const before = { statements: postgres.statements, roundTrips: postgres.roundTrips, commands: redis?.commands ?? 0 };
    await ask(server.url, endpoint, turn);
    await redis?.settle();
    costs.push({
      statements: postgres.statements - before.statements,
      roundTrips: postgres.roundTrips - before.roundTrips,
      redisCommands: redis && redis.commands - before.commands,
    });
  }
  const middle = (member: keyof Cost): number =>
    costs.map((cost) => cost[member] ?? 0).sort((a, b) => a - b)[(counted - 1) / 2] ?? 0;
  return {
    statements: middle('statements'),
    roundTrips: middle('roundTrips'),
    redisCommands: redis && middle('redisCommands'),
  };
}
