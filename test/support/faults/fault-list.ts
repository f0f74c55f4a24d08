import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { FaultGateway } from './fault-gateway.ts';

/** What goes wrong with something that the gateway depends on, and how it is mended. */
export interface Fault {
  readonly name: string;
  /** In one line, for people. */
  readonly what: string;
  /** A gateway that is started for it: with hooks in its machine, or with a standby. */
  readonly needs?: 'hooks' | 'standby';
  readonly lastsMs: number;
  readonly begin: (gateway: FaultGateway) => Promise<void> | void;
  readonly end: (gateway: FaultGateway) => Promise<void> | void;
  /** Which requests may be answered with 503 meanwhile: requests that need PostgreSQL, or none. */
  readonly refused: 'orders' | 'none';
  /** Codes that a quote or a create may also be answered with. */
  readonly alsoAnswers?: readonly string[];
}

/** Longer than anything in the gateway waits for an answer. */
const hangMs = 12_000;

let giveBack: () => Promise<void> = async () => {};

/** Everything that goes wrong, a row each. */
export const faults: readonly Fault[] = [
  {
    name: 'postgres-killed',
    what: 'SIGKILL to the postmaster',
    lastsMs: 3_000,
    begin: ({ postgres }) => postgres.kill(),
    end: ({ postgres }) => postgres.start(),
    refused: 'orders',
  },
  {
    name: 'postgres-restarted',
    what: 'a fast shutdown and a start',
    lastsMs: 0,
    begin: ({ postgres }) => postgres.stop(),
    end: ({ postgres }) => postgres.start(),
    refused: 'orders',
  },
  {
    name: 'postgres-stopped',
    what: 'SIGSTOP to all its processes',
    lastsMs: hangMs,
    begin: ({ postgres }) => postgres.hang(),
    end: ({ postgres }) => postgres.resume(),
    refused: 'orders',
  },
  {
    name: 'postgres-hung',
    what: 'connections are accepted and no byte gets through',
    lastsMs: hangMs,
    begin: ({ postgresProxy }) => postgresProxy.hang(),
    end: ({ postgresProxy }) => postgresProxy.heal(),
    refused: 'orders',
  },
  {
    name: 'postgres-lost',
    what: 'open connections pass nothing on for good, new ones work',
    // Each pool has to come across its own.
    lastsMs: 2 * hangMs,
    begin: ({ postgresProxy }) => postgresProxy.lose(),
    end: ({ postgresProxy }) => postgresProxy.heal(),
    refused: 'orders',
  },
  {
    name: 'postgres-reset',
    what: 'every connection is reset',
    lastsMs: 3_000,
    begin: ({ postgresProxy }) => postgresProxy.reset(),
    end: ({ postgresProxy }) => postgresProxy.heal(),
    refused: 'orders',
  },
  {
    name: 'postgres-cut',
    what: 'every connection ends after 2,000 bytes of answers',
    lastsMs: 5_000,
    begin: ({ postgresProxy }) => postgresProxy.cutAfter(2_000),
    end: ({ postgresProxy }) => postgresProxy.heal(),
    refused: 'orders',
  },
  {
    name: 'postgres-refused',
    what: 'no server listens',
    lastsMs: 3_000,
    begin: ({ postgresProxy }) => postgresProxy.refuse(),
    end: ({ postgresProxy }) => postgresProxy.heal(),
    refused: 'orders',
  },
  {
    name: 'postgres-slow',
    what: '50 to 200 ms in each direction',
    lastsMs: 10_000,
    begin: ({ postgresProxy }) => postgresProxy.delay(50, 200),
    end: ({ postgresProxy }) => postgresProxy.heal(),
    refused: 'orders',
  },
  {
    name: 'postgres-full',
    what: 'others hold all of its connections',
    lastsMs: 5_000,
    begin: async ({ postgres }) => {
      giveBack = await postgres.occupy();
    },
    end: () => giveBack(),
    refused: 'orders',
  },
  {
    name: 'postgres-read-only',
    what: 'default_transaction_read_only = on',
    lastsMs: 5_000,
    begin: ({ postgres }) => postgres.setReadOnly(true),
    end: ({ postgres }) => postgres.setReadOnly(false),
    refused: 'orders',
  },
  {
    name: 'postgres-failover',
    what: 'SIGKILL to the primary; its synchronous standby is promoted',
    needs: 'standby',
    lastsMs: 3_000,
    begin: ({ postgres }) => postgres.kill(),
    end: (gateway) => gateway.failOver(),
    refused: 'orders',
  },
  {
    name: 'postgres-failover-strays',
    what: 'two of three new connections reach standbys; then SIGKILL to the primary; one standby is promoted',
    needs: 'standby',
    lastsMs: 3_000,
    begin: async (gateway) => {
      // Makes about 300 orders of the row.
      await sleep(4_000);
      gateway.strayToStandbys();
      await sleep(6_000);
      await gateway.postgres.kill();
    },
    end: (gateway) => gateway.failOver({ isDropping: false }),
    refused: 'orders',
  },
  {
    name: 'redis-killed',
    what: 'SIGKILL',
    lastsMs: 5_000,
    begin: ({ redis }) => redis.kill(),
    end: ({ redis }) => redis.restart(),
    refused: 'none',
  },
  {
    name: 'redis-stopped',
    what: 'SIGSTOP',
    lastsMs: 5_000,
    begin: ({ redis }) => redis.hang(),
    end: ({ redis }) => redis.resume(),
    refused: 'none',
  },
  {
    name: 'redis-lost',
    what: 'open connections pass nothing on for good, new ones work',
    lastsMs: 10_000,
    begin: ({ redisProxy }) => redisProxy.lose(),
    end: ({ redisProxy }) => redisProxy.heal(),
    refused: 'none',
  },
  {
    name: 'redis-flushed',
    what: 'FLUSHALL twenty times a second',
    lastsMs: 3_000,
    begin: async ({ redis }) => {
      const client = new Redis(redis.url);
      for (let i = 0; i < 60; i++) {
        await client.flushall();
        await sleep(50);
      }
      client.disconnect();
    },
    end: () => {},
    refused: 'none',
  },
  {
    name: 'redis-slow',
    what: '50 to 200 ms in each direction',
    lastsMs: 5_000,
    begin: ({ redisProxy }) => redisProxy.delay(50, 200),
    end: ({ redisProxy }) => redisProxy.heal(),
    refused: 'none',
  },
  {
    name: 'clock-ahead',
    what: 'the clock of all processes jumps a minute ahead, and back',
    needs: 'hooks',
    lastsMs: 10_000,
    begin: (gateway) => gateway.breakMachine({ clockOffsetMs: 60_000 }),
    end: (gateway) => gateway.breakMachine({}),
    refused: 'none',
    // Prices are older than they may be, until the next are there.
    alsoAnswers: ['pair_unavailable'],
  },
  {
    name: 'clock-behind',
    what: 'the clock of all processes jumps a minute back, and ahead',
    needs: 'hooks',
    lastsMs: 10_000,
    begin: (gateway) => gateway.breakMachine({ clockOffsetMs: -60_000 }),
    end: (gateway) => gateway.breakMachine({}),
    refused: 'none',
    alsoAnswers: ['pair_unavailable'],
  },
  {
    name: 'dns-gone',
    what: 'names of PostgreSQL and Redis are not found, and connections end',
    needs: 'hooks',
    lastsMs: 5_000,
    begin: async (gateway) => {
      await gateway.breakMachine({ isNameless: true });
      // Processes learn of it within milliseconds.
      await sleep(100);
      gateway.postgresProxy.drop();
      gateway.redisProxy.drop();
    },
    end: (gateway) => gateway.breakMachine({}),
    refused: 'orders',
  },
];
