import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromUnits } from '../../../src/base/money.ts';
import { encodeP2wpkh } from '../../../src/chains/addresses/bitcoin-like.ts';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { JsonRpcNode, RpcError } from '../../../src/chains/nodes/json-rpc.ts';
import { ChainError } from '../../../src/chains/port/chain-adapter.ts';
import { parseCoins } from '../../../src/chains/utxo/utxo-amount.ts';
import { freePort } from '../http/local-server.ts';

/**
 * Where litecoind is, or null. Debian's /usr/bin/litecoind is a script that writes to the home
 * folder.
 */
export function findLitecoind(): string | null {
  const folders = ['/usr/lib/litecoin', ...(process.env.PATH ?? '').split(delimiter)];
  const found = folders.map((folder) => join(folder, 'litecoind')).find((path) => existsSync(path));
  if (!found && process.env.CI_LITECOIND === 'required') throw new Error('litecoind is required and not installed');
  return found ?? null;
}

/** Why tests do not run where there is none. */
export const withoutLitecoind = 'litecoind is not installed (apt-get install litecoind)';

export interface LitecoindOptions {
  /** Whether the node can find any transaction by its txid. */
  readonly hasIndex?: boolean;
  readonly port?: number;
  /** Whether it has no blocks. */
  readonly isEmpty?: boolean;
  /** Further flags. */
  readonly flags?: readonly string[];
}

/** What a payment spends is gone itself, so that nothing can be in its place. */
export class NoRival extends Error {}

/**
 * A Litecoin node of one's own, with a wallet that plays all other users. MWEB never begins on its
 * chain.
 */
export class Litecoind {
  readonly config: NodeConfig;
  readonly #folder: string;
  readonly #options: LitecoindOptions;
  readonly #rpc: JsonRpcNode;
  #child: ChildProcess | null = null;
  /** Ends the node when this process ends early. Otherwise the node would keep running. */
  readonly #orphaned = (): void => {
    this.#child?.kill('SIGKILL');
  };

  constructor(folder: string, port: number, options: LitecoindOptions) {
    this.#folder = folder;
    this.#options = options;
    this.config = { url: `http://127.0.0.1:${port}/`, user: 'test', password: 'test', headers: {} };
    this.#rpc = new JsonRpcNode(this.config, { numbersAsText: true, timeoutMs: 60_000 });
  }

  /** Numbers of the answer come as text. */
  async rpc<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    return this.#rpc.call<T>(method, params);
  }

  async start(): Promise<void> {
    const program = findLitecoind();
    if (program === null) throw new Error(withoutLitecoind);
    const port = new URL(this.config.url).port;
    const flags = [
      '-regtest',
      `-datadir=${this.#folder}`,
      '-server',
      '-listen=0',
      '-dnsseed=0',
      '-upnp=0',
      `-rpcport=${port}`,
      '-rpcbind=127.0.0.1',
      '-rpcallowip=127.0.0.1',
      '-rpcuser=test',
      '-rpcpassword=test',
      '-printtoconsole=0',
      '-fallbackfee=0.0002',
      '-mempoolreplacement=1',
      // What is forgotten by a restart is forgotten, except by the wallet.
      '-persistmempool=0',
      // Otherwise nothing can be mined from block 431 on without a transaction into MWEB.
      '-vbparams=mweb:99999999999:999999999999',
      `-txindex=${this.#options.hasIndex ? 1 : 0}`,
      ...(this.#options.flags ?? []),
    ];
    const child = spawn(program, flags, { stdio: 'ignore' });
    this.#child = child;
    process.once('exit', this.#orphaned);
    for (let tries = 0; ; tries += 1) {
      try {
        await this.rpc('getblockcount');
        return;
      } catch (error) {
        const isStarting = error instanceof RpcError || (error instanceof ChainError && error.code === 'unreachable');
        if (!isStarting || child.exitCode !== null || tries > 1_000) throw error;
      }
      await sleep(20);
    }
  }

  async end(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    process.off('exit', this.#orphaned);
  }

  /** Ends the node and its chain. */
  async stop(): Promise<void> {
    await this.end();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** What waits for a block is forgotten, but for what the wallet has sent. */
  async restart(): Promise<void> {
    await this.end();
    await this.start();
    await this.rpc('loadwallet', 'test');
  }

  async createWallet(): Promise<void> {
    await this.rpc('createwallet', 'test');
    // Coins of a block can be spent a hundred blocks later.
    await this.mine(120);
  }

  async height(): Promise<number> {
    return Number.parseInt(await this.rpc<string>('getblockcount'), 10);
  }

  newAddress(type: 'bech32' | 'legacy' | 'p2sh-segwit' = 'bech32'): Promise<string> {
    return this.rpc('getnewaddress', '', type);
  }

  /** Blocks with all that waits. Returns their hashes. */
  async mine(blocks: number): Promise<string[]> {
    return this.rpc('generatetoaddress', blocks, await this.newAddress());
  }

  /**
   * Mines the mempool, with rewards to an address without a key: a reorg makes rewards unspendable.
   */
  async mineForNobody(blocks: number): Promise<void> {
    await this.rpc('generatetoaddress', blocks, unownedAddress());
  }

  /** A block with these transactions and nothing else. */
  async mineOnly(...raws: readonly string[]): Promise<void> {
    // A block like one that was called invalid before would be refused: the address makes it
    // another.
    await this.rpc('generateblock', unownedAddress(), raws);
  }

  /** Pays from the wallet, in the smallest unit. Returns the txid. */
  pay(to: string, amount: bigint): Promise<string> {
    return this.rpc('sendtoaddress', to, fromUnits(amount, 8));
  }

  /** Pays several amounts in one transaction. */
  payMany(amounts: readonly (readonly [address: string, amount: bigint])[]): Promise<string> {
    return this.rpc('sendmany', '', Object.fromEntries(amounts.map(([to, amount]) => [to, fromUnits(amount, 8)])));
  }

  /** Replaces the newest blocks by empty ones; what they held waits again. */
  async reorg(depth: number, blocks = depth): Promise<void> {
    await this.#invalidate(depth);
    for (let mined = 0; mined < blocks; mined += 1) await this.mineOnly();
  }

  async #invalidate(depth: number): Promise<void> {
    const lowest = (await this.height()) - depth + 1;
    await this.rpc('invalidateblock', await this.rpc('getblockhash', lowest));
  }

  /**
   * A payment of the wallet to itself that spends what one that waits spends. Returns its bytes.
   */
  async #rivalOf(txid: string): Promise<string> {
    const { hex } = await this.rpc<{ hex: string }>('gettransaction', txid);
    const { vin, vout } = await this.rpc<{
      vin: { txid: string; vout: string }[];
      vout: { value: string }[];
    }>('decoderawtransaction', hex);
    const total = vout.reduce((sum, { value }) => sum + (parseCoins(value) ?? 0n), 0n);
    const inputs = vin.map((input) => ({ txid: input.txid, vout: Number.parseInt(input.vout, 10) }));
    const outputs = { [await this.newAddress()]: fromUnits(total - 100_000n, 8) };
    const unsigned = await this.rpc<string>('createrawtransaction', inputs, outputs);
    const signed = await this.rpc<{ hex: string; complete: boolean }>('signrawtransactionwithwallet', unsigned);
    if (!signed.complete) throw new NoRival('the wallet does not know what a rival would spend');
    return signed.hex;
  }

  /**
   * Replaces the newest blocks by others, the first of which holds a rival of a payment of the
   * wallet, so that the payment can never be on the chain again.
   *
   * @throws NoRival or RpcError when what the payment spends was made in those blocks, which are
   * gone then.
   */
  async doubleSpend(txid: string, depth: number): Promise<void> {
    await this.#invalidate(depth);
    const rival = await this.#rivalOf(txid);
    // What it spends may have been made in the very blocks that are gone. The wallet's payments
    // wait for the height at which they were made, so that it may be gone from the mempool as well.
    const waiting = await this.rpc<string[]>('getrawmempool');
    const before = !waiting.includes(txid)
      ? {}
      : await this.rpc<Record<string, { ancestorcount: string }>>('getmempoolancestors', txid, true);
    const inOrder = Object.keys(before).sort(
      (a, b) => Number(before[a]?.ancestorcount) - Number(before[b]?.ancestorcount),
    );
    const raws = await Promise.all(inOrder.map((one) => this.rpc<string>('getrawtransaction', one)));
    await this.mineOnly(...raws, rival);
    for (let mined = 1; mined < depth + 1; mined += 1) await this.mineOnly();
  }

  /** What an address has in the newest block. */
  async balance(address: string): Promise<bigint> {
    const { total_amount } = await this.rpc<{ total_amount: string }>('scantxoutset', 'start', [`addr(${address})`]);
    return parseCoins(total_amount) ?? -1n;
  }
}

/** An address without a known key. */
function unownedAddress(): string {
  return encodeP2wpkh('rltc', randomBytes(20));
}

/** A node with a chain of 120 blocks and a rich wallet, unless it should have neither. */
export async function startLitecoind(options: LitecoindOptions = {}): Promise<Litecoind> {
  const folder = await mkdtemp(join(tmpdir(), 'litecoind-'));
  const node = new Litecoind(folder, options.port ?? (await freePort()), options);
  try {
    await node.start();
    if (!options.isEmpty) await node.createWallet();
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}
