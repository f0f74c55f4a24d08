import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { HttpNode } from '../../../src/chains/nodes/http-node.ts';
import { JsonRpcNode, RpcError } from '../../../src/chains/nodes/json-rpc.ts';
import { ChainError } from '../../../src/chains/port/chain-adapter.ts';
import { freePort } from '../http/local-server.ts';

/** Where a program of Monero is, or null. */
function find(program: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? null;
}

/** Whether there is a Monero node, with the program of its wallets. */
export function hasMonerod(): boolean {
  const found = find('monerod') !== null && find('monero-wallet-rpc') !== null;
  if (!found && process.env.CI_MONEROD === 'required') throw new Error('monerod is required and not installed');
  return found;
}

/** One coin in its smallest unit. */
export const xmr = 1_000_000_000_000n;

/** Why tests do not run where there is none. */
export const withoutMonerod = 'monerod is not installed (apt-get install monero)';

/** Programs of Monero that have not ended. */
const running = new Set<ChildProcess>();

/** Ends them when this process ends early. Otherwise they would keep running. */
function endAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

const credentials = { user: 'gateway', password: 'a long password' };

/** A program of Monero, with a JSON-RPC interface of its own port. */
class Program {
  readonly config: NodeConfig;
  readonly rpc: JsonRpcNode;
  readonly #path: string;
  readonly #flags: readonly string[];
  readonly #probe: string;
  #child: ChildProcess | null = null;

  constructor(name: string, port: number, flags: readonly string[], probe: string) {
    const path = find(name);
    if (path === null) throw new Error(withoutMonerod);
    this.#path = path;
    this.#probe = probe;
    const { user, password } = credentials;
    this.config = { url: `http://127.0.0.1:${port}`, user, password, headers: {} };
    const login = [`--rpc-login=${user}:${password}`, '--rpc-ssl=disabled', `--rpc-bind-port=${port}`];
    this.#flags = [...login, '--log-level=0', ...flags];
    const options = { numbersAsText: true, digest: true, timeoutMs: 120_000 };
    this.rpc = new JsonRpcNode({ ...this.config, url: `${this.config.url}/json_rpc` }, options);
  }

  async start(): Promise<void> {
    const child = spawn(this.#path, this.#flags, { stdio: 'ignore' });
    this.#child = child;
    if (running.size === 0) process.once('exit', endAll);
    running.add(child);
    child.once('exit', () => {
      running.delete(child);
      if (running.size === 0) process.off('exit', endAll);
    });
    for (let tries = 0; ; tries += 1) {
      try {
        await this.rpc.call(this.#probe);
        return;
      } catch (error) {
        if (error instanceof RpcError) return;
        const isStarting = error instanceof ChainError && error.code === 'unreachable';
        if (!isStarting || child.exitCode !== null || tries > 1_000) throw error;
      }
      await sleep(50);
    }
  }

  async end(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    // A wallet that is writing its file needs a moment. Nothing of a test is worth more than that.
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(late);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }
}

/** One monero-wallet-rpc with a folder of its own. */
export class WalletProgram extends Program {
  readonly folder: string;

  constructor(folder: string, port: number, daemon: Pick<NodeConfig, 'url'> | null) {
    const { user, password } = credentials;
    const online = [
      `--daemon-address=${new URL(daemon?.url ?? 'http://127.0.0.1').host}`,
      `--daemon-login=${user}:${password}`,
      '--daemon-ssl=disabled',
      '--trusted-daemon',
    ];
    const log = `--log-file=${join(folder, 'wallet.log')}`;
    const flags = [`--wallet-dir=${folder}`, log, ...(daemon === null ? ['--offline'] : online)];
    super('monero-wallet-rpc', port, flags, 'get_version');
    this.folder = folder;
  }

  /** Starts it after it ended, with the files that its folder still has. */
  async restart(): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    await this.start();
  }
}

/** Blocks until the reward of one can be spent, and as many that can be by then. */
const firstBlocks = 80;
/** Addresses of the users' wallet that are made at once. */
const addressesAtOnce = 60;

/**
 * A Monero node of one's own, with the wallets of the gateway and of the signer, and one that plays
 * all users and miners. Blocks are made by hand.
 */
export class Monerod {
  readonly #folder: string;
  readonly #daemon: Program;
  readonly #http: HttpNode;
  readonly view: WalletProgram;
  readonly offline: WalletProgram;
  readonly users: WalletProgram;
  /** Addresses of the users that no test has, and all by index. */
  readonly #unused: string[] = [];
  readonly #indexes = new Map<string, number>();
  #miner = '';

  constructor(folder: string, ports: readonly [number, number, number, number]) {
    this.#folder = folder;
    const private_ = ['--regtest', '--offline', '--fixed-difficulty=1', '--no-igd', '--non-interactive', '--no-zmq'];
    const files = [`--data-dir=${join(folder, 'chain')}`, '--check-updates=disabled', '--disable-dns-checkpoints'];
    this.#daemon = new Program('monerod', ports[0], [...private_, ...files], 'get_info');
    this.#http = new HttpNode(this.#daemon.config, { numbersAsText: true, digest: true });
    this.view = new WalletProgram(join(folder, 'view'), ports[1], this.#daemon.config);
    this.offline = new WalletProgram(join(folder, 'offline'), ports[2], null);
    this.users = new WalletProgram(join(folder, 'users'), ports[3], this.#daemon.config);
  }

  get config(): NodeConfig {
    return this.#daemon.config;
  }

  /** The processes by what they are. */
  get pids(): Readonly<Record<string, number | undefined>> {
    const { view, offline, users } = this;
    return {
      monerod: this.#daemon.pid,
      "the gateway's wallet": view.pid,
      "the signer's": offline.pid,
      users: users.pid,
    };
  }

  /** Its section in the file of networks. */
  async section(): Promise<Record<string, unknown>> {
    const nodeOf = ({ url, user, password }: NodeConfig): object => ({ url, user, password });
    return {
      kind: 'monero',
      net: 'regtest',
      nodes: [nodeOf(this.config)],
      wallet: nodeOf(this.view.config),
      offline_wallet: nodeOf(this.offline.config),
      start_height: await this.height(),
      finality: 3,
      reorg_window: 64,
      poll_ms: 100,
      wallet_levels: { XMR: { low: '5' } },
      limits: { XMR: { per_payment: '1000', per_day: '100000' } },
    };
  }

  async start(): Promise<void> {
    const programs = [this.view, this.offline, this.users];
    for (const { folder } of programs) await mkdir(folder, { recursive: true });
    await this.#daemon.start();
    await Promise.all(programs.map((program) => program.start()));
    await this.users.rpc.call('create_wallet', { filename: 'users', language: 'English' });
    this.#miner = (await this.users.rpc.call<{ address: string }>('get_address')).address;
    await this.makeAddresses(addressesAtOnce);
    await this.mine(firstBlocks);
  }

  /** Ends the node, its wallets and its chain. */
  async stop(): Promise<void> {
    await Promise.all([this.view, this.offline, this.users, this.#daemon].map((program) => program.end()));
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** A call to the node. Numbers of the answer come as text. */
  rpc<T>(method: string, params: object = {}): Promise<T> {
    return this.#daemon.rpc.call<T>(method, params);
  }

  /** A call to the node by its path. */
  post<T>(path: string, body: object = {}): Promise<T> {
    return this.#http.post(path, body) as Promise<T>;
  }

  async height(): Promise<number> {
    const { block_header } = await this.rpc<{ block_header: { height: string } }>('get_last_block_header');
    return Number(block_header.height);
  }

  /** Blocks with all that waits. */
  async mine(blocks: number, to = this.#miner): Promise<void> {
    if (blocks === 0) return;
    await this.#settle();
    await this.rpc('generateblocks', { amount_of_blocks: blocks, wallet_address: to });
  }

  /** Waits until the node has passed on what it took. Before that, it mines nothing of it. */
  async #settle(): Promise<void> {
    for (let tries = 0; tries < 500; tries += 1) {
      const waiting = await this.#waiting();
      if (waiting.every(({ relayed }) => relayed)) return;
      await sleep(20);
    }
    throw new Error('the node passes on nothing');
  }

  async #waiting(): Promise<{ tx_hash: string; as_hex: string; relayed: boolean }[]> {
    const { tx_hashes: hashes = [] } = await this.post<{ tx_hashes?: string[] }>('get_transaction_pool_hashes');
    if (hashes.length === 0) return [];
    const { txs = [] } = await this.post<{ txs?: { tx_hash: string; as_hex: string; relayed: boolean }[] }>(
      'get_transactions',
      { txs_hashes: hashes },
    );
    return txs;
  }

  /** Replaces the newest blocks by empty ones; what they held waits again. */
  async reorg(depth: number, blocks = depth): Promise<void> {
    await this.post('pop_blocks', { nblocks: depth });
    const waiting = await this.waiting();
    await this.drop(...waiting.keys());
    await this.mine(blocks);
    for (const raw of waiting.values()) await this.post('send_raw_transaction', { tx_as_hex: raw });
  }

  /** What waits for a block: the bytes by txid. */
  async waiting(): Promise<Map<string, string>> {
    return new Map((await this.#waiting()).map((tx) => [tx.tx_hash, tx.as_hex]));
  }

  /** Makes the node forget what waits. */
  async drop(...txids: readonly string[]): Promise<void> {
    if (txids.length > 0) await this.rpc('flush_txpool', { txids });
  }

  async isMined(txid: string): Promise<boolean> {
    const { txs = [] } = await this.post<{ txs?: { in_pool: boolean }[] }>('get_transactions', { txs_hashes: [txid] });
    return txs.some((tx) => !tx.in_pool);
  }

  /** The address of the users to which blocks pay, and from which they pay. */
  get miner(): string {
    return this.#miner;
  }

  /** An address of the users, which no test has had. */
  address(): string {
    const found = this.#unused.pop();
    if (found === undefined) throw new Error('the users have no more addresses');
    return found;
  }

  /** The users' address, with a payment id in it. */
  async integratedAddress(): Promise<string> {
    const made = await this.users.rpc.call<{ integrated_address: string }>('make_integrated_address', {});
    return made.integrated_address;
  }

  /** What an address of the users has in the newest block. */
  async balance(address: string): Promise<bigint> {
    await this.users.rpc.call('refresh');
    const index = address === this.#miner ? 0 : this.#indexes.get(address);
    if (index === undefined) throw new Error(`${address} is no address of the users`);
    const { transfers = [] } = await this.users.rpc.call<{ transfers?: { amount: string }[] }>('incoming_transfers', {
      transfer_type: 'available',
      account_index: 0,
      subaddr_indices: [index],
    });
    return transfers.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  }

  /**
   * Pays from the miners' address, in the smallest unit, in one transaction. Returns the txid.
   */
  async pay(
    destinations: readonly (readonly [address: string, amount: bigint])[],
    terms: { readonly unlock_time?: number } = {},
  ): Promise<string> {
    await this.users.rpc.call('refresh');
    const paid = destinations.map(([address, amount]) => ({ address, amount: Number(amount) }));
    const answer = await this.users.rpc.call<{ tx_hash: string }>('transfer', {
      destinations: paid,
      subaddr_indices: [0],
      ...terms,
    });
    return answer.tx_hash;
  }

  /** Gives a wallet coins in a dozen outputs, which no block holds yet. */
  async fund(hot: string): Promise<void> {
    await this.pay(Array.from({ length: 12 }, () => [hot, 3n * xmr] as const));
  }

  /** Makes this many more addresses of the users. */
  async makeAddresses(count: number): Promise<void> {
    for (let left = count; left > 0; left -= addressesAtOnce)
      await this.#makeAddresses(Math.min(left, addressesAtOnce));
  }

  async #makeAddresses(count: number): Promise<void> {
    const made = await this.users.rpc.call<{ addresses: string[]; address_indices: string[] }>('create_address', {
      account_index: 0,
      count,
    });
    for (const [at, address] of made.addresses.entries()) {
      this.#indexes.set(address, Number(made.address_indices[at]));
      this.#unused.push(address);
    }
  }
}

/** A node with a chain of 80 blocks, and users with coins. */
export async function startMonerod(): Promise<Monerod> {
  const folder = await mkdtemp(join(tmpdir(), 'monerod-'));
  const ports = [await freePort(), await freePort(), await freePort(), await freePort()] as const;
  const node = new Monerod(folder, ports);
  try {
    await node.start();
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}
