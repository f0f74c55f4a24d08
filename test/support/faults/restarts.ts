import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Dice } from '../gateway/dice.ts';
import type { FaultGateway } from './fault-gateway.ts';
import { newOrder } from './mixed-load.ts';

/** What clients saw while processes were replaced. */
export interface RestartReport {
  readonly requests: number;
  /** Everything that was no 200 or 201, in words. */
  readonly failures: readonly string[];
  readonly restarts: number;
}

const clients = 12;
/** Few, as each takes an address, which a worker must make. */
const createShare = 0.02;

/** The status of a request that is never sent a second time. */
function send(url: string, agent: Agent, method: string, headers: Record<string, string>, body = ''): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method, agent, headers }, (reply) => {
      reply.resume();
      reply.once('error', reject);
      reply.once('end', () => resolve(reply.statusCode ?? 0));
    });
    call.once('error', reject);
    call.end(body);
  });
}

/**
 * Clients without a pause, half of which keep their connections: they ask for currencies, quotes
 * and orders, and create orders, each request once.
 */
export class RestartLoad {
  readonly failures: string[] = [];
  requests = 0;
  readonly #gateway: FaultGateway;
  #running: Promise<void>[] = [];
  #isStopped = false;

  constructor(gateway: FaultGateway) {
    this.#gateway = gateway;
  }

  start(): void {
    this.#running = Array.from({ length: clients }, (_, index) => this.#client(index));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  async #client(index: number): Promise<void> {
    const agent = new Agent({ keepAlive: index % 2 === 0, maxSockets: 1 });
    const dice = new Dice(index);
    const root = `${this.#gateway.restUrl}/api/v1`;
    const key = { Authorization: `Bearer ${this.#gateway.partnerKey}` };
    while (!this.#isStopped) {
      this.requests++;
      const json = { ...key, 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() };
      try {
        const status = dice.chance(createShare)
          ? await send(`${root}/partner/orders`, agent, 'POST', json, JSON.stringify(newOrder(dice).body))
          : await send(`${root}/currencies`, agent, 'GET', key);
        if (status !== 200 && status !== 201) this.failures.push(`status ${status}`);
      } catch (error) {
        this.failures.push(String(error));
      }
    }
    agent.destroy();
  }
}

/** Sends SIGTERM to one api process after another, each time once the last one was replaced. */
export async function restartOneByOne(gateway: FaultGateway, restarts: number): Promise<RestartReport> {
  const load = new RestartLoad(gateway);
  load.start();
  for (let done = 0; done < restarts; done += 1) {
    const before = await gateway.apiPids();
    const victim = before[done % before.length] ?? 0;
    process.kill(victim, 'SIGTERM');
    await until(async () => {
      const now = await gateway.apiPids();
      return now.length === before.length && !now.includes(victim);
    }, `process ${victim} is replaced`);
  }
  await sleep(500);
  await load.stop();
  return { requests: load.requests, failures: load.failures, restarts };
}

/**
 * Sends SIGTERM to the primary and all its processes at once, as a service manager does. Clients do
 * as load balancers do: they send nothing more once the gateway is not ready.
 */
export async function endGroup(gateway: FaultGateway): Promise<RestartReport & { readonly exitCode: number | null }> {
  const load = new RestartLoad(gateway);
  load.start();
  await sleep(1_000);
  gateway.api.signalGroup('SIGTERM');
  while (await isReady(gateway)) await sleep(10);
  await load.stop();
  await gateway.api.end('SIGTERM');
  return { requests: load.requests, failures: load.failures, restarts: 1, exitCode: gateway.api.exitCode };
}

async function isReady({ internalUrl }: FaultGateway): Promise<boolean> {
  return fetch(`${internalUrl}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await holds()); await sleep(50)) {
    if (Date.now() > deadline) throw new Error(`in a minute it did not happen that ${what}`);
  }
}
