import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { createOrm } from '../../../src/app/orm.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { toUnits } from '../../../src/base/money.ts';
import { networkById } from '../../../src/chains/networks/networks.ts';
import { busyBlocks } from '../../../src/chains/sandbox/sandbox-adapters.ts';
import { SandboxChain } from '../../../src/chains/sandbox/sandbox-chain.ts';
import type { Currency } from '../../../src/market/currencies/currency.entity.ts';
import { CurrencyService } from '../../../src/market/currencies/currency-service.ts';
import { startRedis, type TestRedis } from '../database/redis.ts';
import { BuiltProcess, runBuilt } from '../gateway/built-process.ts';
import { childrenOf } from '../gateway/process-group.ts';
import { loadSettings } from '../gateway/settings.ts';
import type { MachineFaults } from './fault-hooks.ts';
import { FaultPostgres } from './fault-postgres.ts';
import { FaultProxy } from './fault-proxy.ts';

export interface FaultGatewayOptions {
  /** Of its folder. */
  readonly name: string;
  readonly workers?: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** Whether its machine's clock and names can be made to fail. */
  readonly isHooked?: boolean;
}

/** An order that a user pays into. */
export interface Payable {
  readonly coinFrom: string;
  readonly networkFrom: string;
  readonly depositAddress: string;
  readonly depositTag: string | null;
  /** Decimal text. */
  readonly amountFrom: string;
}

const apiProcesses = 2;

/**
 * A gateway as in life: two api processes behind one port and workers, from dist, on a durable
 * PostgreSQL and a separate Redis, each behind a proxy.
 */
export class FaultGateway {
  readonly folder: string;
  readonly settings: Readonly<Record<string, string>>;
  postgres: FaultPostgres;
  readonly postgresProxy: FaultProxy;
  readonly redis: TestRedis;
  readonly redisProxy: FaultProxy;
  readonly workers: BuiltProcess[] = [];
  readonly #isHooked: boolean;
  readonly #servers: FaultPostgres[];
  #standby: FaultPostgres | undefined;
  #reader: FaultPostgres | undefined;
  /** The primary of the api processes. */
  api!: BuiltProcess;
  restUrl = '';
  internalUrl = '';
  partnerKey = '';
  staffToken = '';
  #orm: MikroORM | undefined;
  #currencies: readonly Currency[] = [];

  private constructor(
    parts: Pick<FaultGateway, 'folder' | 'postgres' | 'postgresProxy' | 'redis' | 'redisProxy'>,
    { settings, isHooked = false }: FaultGatewayOptions,
  ) {
    this.folder = parts.folder;
    this.postgres = parts.postgres;
    this.#servers = [parts.postgres];
    this.postgresProxy = parts.postgresProxy;
    this.redis = parts.redis;
    this.redisProxy = parts.redisProxy;
    this.#isHooked = isHooked;
    const host = (name: string): string => (isHooked ? `${name}.fault.test` : '127.0.0.1');
    this.settings = {
      DATA_DIR: this.folder,
      DATABASE_URL: this.postgres.urlThrough(this.postgresProxy.port, host('postgres')),
      REDIS_URL: `redis://${host('redis')}:${this.redisProxy.port}`,
      PORT: '0',
      INTERNAL_PORT: '0',
      DRAIN_GRACE_LOCAL_MS: '300',
      CHAIN_LEASE_MS: '1500',
      CHAIN_POLL_MS: '50',
      SANDBOX_BLOCK_MS: '50',
      ...loadSettings,
      GATEWAY_FAULTS: join(this.folder, 'machine-faults.json'),
      ...settings,
    };
  }

  static async start(options: FaultGatewayOptions): Promise<FaultGateway> {
    const folder = await mkdtemp(join(tmpdir(), `gateway-${options.name}-`));
    // Root's PostgreSQL runs as another user, who must get through.
    await chmod(folder, 0o711);
    const postgres = await FaultPostgres.open(folder);
    const redis = await startRedis();
    const gateway = new FaultGateway(
      {
        folder,
        postgres,
        postgresProxy: await FaultProxy.open(postgres.socket),
        redis,
        redisProxy: await FaultProxy.open({ port: Number(new URL(redis.url).port), host: '127.0.0.1' }),
      },
      options,
    );
    await gateway.breakMachine({});
    await gateway.#startProcesses(options.workers ?? 1);
    return gateway;
  }

  launch(name: string, changes: Readonly<Record<string, string>>): BuiltProcess {
    return new BuiltProcess({
      script: 'main.js',
      nodeOptions: this.#isHooked ? ['--import', resolve('test/support/faults/fault-hooks.ts')] : [],
      name,
      folder: this.folder,
      settings: { ...this.settings, LOG_LEVEL: 'warn', ...changes },
      ready: /^ready .*$/m,
      isGroupLeader: true,
    });
  }

  async #startProcesses(workers: number): Promise<void> {
    this.api = this.launch('api', { ROLE: 'api', API_PROCESSES: String(apiProcesses) });
    this.#learn(await this.api.ready());
    for (let number = 1; number <= workers; number += 1) {
      this.workers.push(this.launch(`worker-${number}`, { ROLE: 'worker' }));
    }
    await Promise.all(this.workers.map((worker) => worker.ready()));
  }

  #learn(output: string): void {
    const found = (pattern: RegExp): string => pattern.exec(output)?.[1] ?? '';
    this.restUrl = found(/^ready rest=(\S+)\/api\/v1 /m);
    this.internalUrl = found(/^ready .*internal=(\S+)$/m);
    this.partnerKey ||= found(/^demo partner key, shown this once: (\S+)$/m);
    this.staffToken ||= found(/^staff token of .*: (\S+)$/m);
  }

  /** Starts the api processes again, at the same ports. */
  async restartApi(): Promise<void> {
    const port = (url: string): string => new URL(url).port;
    this.api = this.launch('api', {
      ROLE: 'api',
      API_PROCESSES: String(apiProcesses),
      PORT: port(this.restUrl),
      INTERNAL_PORT: port(this.internalUrl),
    });
    this.#learn(await this.api.ready());
  }

  /** The api processes behind the port. */
  apiPids(): Promise<number[]> {
    return childrenOf(this.api.pid);
  }

  /** The clock of its processes and the names that they look up. Nothing given is nothing wrong. */
  async breakMachine({ clockOffsetMs = 0, isNameless = false }: Partial<MachineFaults>): Promise<void> {
    const faults: MachineFaults = { clockOffsetMs, isNameless };
    await writeFile(this.settings.GATEWAY_FAULTS ?? '', JSON.stringify(faults));
  }

  /**
   * Gives the PostgreSQL two standbys. Without the first it acknowledges nothing. The second is
   * never promoted.
   */
  async addStandbys(): Promise<void> {
    const add = async (isSynchronous: boolean): Promise<FaultPostgres> => {
      const name = `standby-${this.#servers.length}`;
      const standby = await this.postgres.standby(join(this.folder, name), { name, isSynchronous });
      this.#servers.push(standby);
      return standby;
    };
    this.#reader = await add(false);
    this.#standby = await add(true);
  }

  /** Leads two of three new connections to standbys, as a proxy does that checks too little. */
  strayToStandbys(): void {
    const servers = [this.postgres, this.#standby, this.#reader];
    this.postgresProxy.takeTurns(...servers.flatMap((server) => server?.socket ?? []));
    this.postgresProxy.drop();
  }

  /**
   * Makes the standby the primary, to which all new connections lead.
   *
   * @param isDropping whether open connections are reset; those to standbys stay otherwise.
   */
  async failOver({ isDropping = true } = {}): Promise<void> {
    const standby = this.#standby ?? this.postgres;
    await standby.promote();
    this.postgres = standby;
    await this.#orm?.close(true);
    this.#orm = undefined;
    this.postgresProxy.takeTurns(standby.socket);
    if (isDropping) this.postgresProxy.drop();
  }

  async #chain(): Promise<SandboxChain> {
    this.#orm ??= await createOrm({ url: this.postgres.url, poolSize: 4 });
    const sandbox = new SandboxChain({ orm: this.#orm, clock: systemClock });
    if (this.#currencies.length === 0) this.#currencies = await new CurrencyService(this.#orm, systemClock).list();
    return sandbox;
  }

  /**
   * Makes the deposit that an order waits for, past all proxies, as soon as PostgreSQL can be
   * reached. Returns its txid.
   */
  async deposit({ coinFrom, networkFrom, depositAddress, depositTag, amountFrom }: Payable): Promise<string> {
    for (const deadline = Date.now() + 120_000; ; await sleep(250)) {
      try {
        const sandbox = await this.#chain();
        const currency = this.#currencies.find((row) => row.coin === coinFrom && row.network === networkFrom);
        if (!currency) throw new Error(`there is no ${coinFrom} on ${networkFrom}`);
        const chain = networkById(networkFrom)?.chain ?? '';
        return await sandbox.pay(chain, {
          to: depositAddress,
          tag: depositTag,
          contract: currency.contract,
          amount: toUnits(amountFrom, currency.decimals),
          busyBlocks: busyBlocks(chain, this.#currencies),
        });
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }

  /**
   * The gateway's own verdict on book and chains, as an operator asks for it; what differs, a line
   * each.
   */
  async differences(): Promise<string[]> {
    const { code, output, errors } = await runBuilt('surfaces/cli/main.js', ['ledger', 'reconcile', '--json'], {
      folder: this.folder,
      // Past the proxies, and with names that are found.
      settings: { ...this.settings, DATABASE_URL: this.postgres.url },
    });
    if (!output.startsWith('{')) return [`reconcile ended with ${code}: ${errors}`];
    const { rows } = JSON.parse(output) as { rows: Record<string, string>[] };
    const differing = rows.filter(({ difference }) => difference !== '0');
    if (code !== 0 && differing.length === 0) return [`reconcile ended with ${code}: ${errors}`];
    return differing.map((row) => `reconcile: ${Object.values(row).join(' | ')}`);
  }

  /** Ends everything. What it leaves in its folder stays when it is asked to. */
  async end({ keep = false } = {}): Promise<void> {
    await Promise.all([...this.workers, this.api].map((program) => program.end('SIGTERM')));
    await this.#orm?.close(true);
    await this.postgresProxy.close();
    await this.redisProxy.close();
    await this.redis.stop();
    for (const server of this.#servers) await server.stop();
    if (!keep) await rm(this.folder, { recursive: true, force: true });
  }
}
