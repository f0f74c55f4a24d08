import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeAbiParameters, encodeFunctionData, parseAbi } from 'viem/utils';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { freePort } from '../http/local-server.ts';

type Hex = `0x${string}`;

/** Contracts of contracts/evm-contracts.sol. */
export type ContractName =
  | 'Token'
  | 'FeeToken'
  | 'FalseToken'
  | 'MoodyToken'
  | 'SilentToken'
  | 'RebasingToken'
  | 'BlocklistToken'
  | 'UsdtToken'
  | 'Liar'
  | 'Picture'
  | 'Forwarder'
  | 'Refuser'
  | 'Burner';

/** Those of the contracts that are tokens. */
export type TokenName = Extract<ContractName, `${string}Token`>;

/** What they and tokens in general can be told to do. */
const abi = parseAbi([
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value)',
  'function transferTwice(address a, address b, uint256 value)',
  'function balanceOf(address owner) view returns (uint256)',
  'function claim(address to, uint256 value)',
  'function forward(address to)',
  'function forwardEach(address[] to, uint256 value)',
  'function forwardAndRepent(address to)',
  'function forwardAndFail(address to)',
  'function bequeath(address to)',
  'function keep()',
  'function setMood(uint256 value)',
  'function setBlocked(address owner, bool value)',
  'function setAppetite(uint256 value)',
  'function setPaused(bool value)',
  'function setFee(uint256 basisPoints)',
  'function approve(address spender, uint256 value)',
  'function transferFrom(address from, address to, uint256 value)',
  'function rebase(uint256 value)',
]);

export interface AnvilOptions {
  readonly chainId?: number;
  /** Of its command line, besides what is always there. */
  readonly arguments?: readonly string[];
}

/** Starts a real EVM node with a separate chain, which makes a block when it is told to. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const { chainId = 31_337, arguments: further = [] } = options;
  const program = findAnvil();
  if (program === null) throw new Error(withoutAnvil);
  const port = await freePort();
  const own = ['--port', String(port), '--host', '127.0.0.1', '--chain-id', String(chainId), '--silent'];
  const child = spawn(program, [...own, '--no-mining', '--slots-in-an-epoch', '4', ...further], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const anvil = new Anvil(child, `http://127.0.0.1:${port}`, chainId);
  await anvil.ready();
  return anvil;
}

/**
 * The program itself, from the package for Linux on x64, or else from the path; null where there is
 * neither.
 */
export function findAnvil(): string | null {
  const require = createRequire(import.meta.url);
  const folders = (process.env.PATH ?? '').split(delimiter);
  try {
    folders.unshift(join(dirname(require.resolve('@foundry-rs/anvil-linux-amd64/package.json')), 'bin'));
  } catch {
    // npm leaves it out on other machines.
  }
  const found = folders.map((folder) => join(folder, 'anvil')).find((path) => existsSync(path));
  if (!found && process.env.CI_ANVIL === 'required') throw new Error('anvil is required and not installed');
  return found ?? null;
}

/** Why tests do not run where there is none. */
export const withoutAnvil = 'anvil is not installed (https://getfoundry.sh; on Linux on x64 npm brings it)';

/**
 * `describe` where there is anvil; elsewhere the tests are reported as skipped, with the reason.
 */
export function describeWithAnvil(title: string, declare: () => void): void {
  if (findAnvil() !== null) describe(title, declare);
  else describe.skip(`${title}: ${withoutAnvil}`, declare); // CI requires it
}

/** As the node tells of it, with its bytes. */
interface SentTransaction {
  readonly hash: string;
  /** In lower case. */
  readonly from: string;
  readonly raw: string;
}

let bytecodes: Record<string, Hex> | undefined;

function bytecodeOf(name: ContractName): Hex {
  bytecodes ??= JSON.parse(readFileSync(new URL('./contracts/evm-contracts.json', import.meta.url), 'utf8'));
  const code = bytecodes?.[name];
  if (!code) throw new Error(`no contract ${name}`);
  return code;
}

/**
 * A node under the hands of a test. Its ten own accounts have 10,000 coins each, and sign by
 * themselves.
 */
export class Anvil {
  readonly url: string;
  readonly chainId: number;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  /** Ends the node when this process ends early. Otherwise the node would keep running. */
  readonly #orphaned = (): void => {
    this.#child.kill('SIGKILL');
  };
  #accounts: readonly string[] = [];
  #id = 0;

  constructor(child: ChildProcess, url: string, chainId: number) {
    this.#child = child;
    this.#ended = once(child, 'close');
    process.once('exit', this.#orphaned);
    this.url = url;
    this.chainId = chainId;
  }

  /** As settings name it. */
  get node(): NodeConfig {
    return { url: this.url, user: null, password: null, headers: {} };
  }

  /** Addresses of its own accounts. */
  get accounts(): readonly string[] {
    return this.#accounts;
  }

  async ready(): Promise<void> {
    while (this.#accounts.length === 0) {
      const ended = this.#child.exitCode ?? this.#child.signalCode;
      if (ended !== null) throw new Error(`anvil ended with ${ended}`);
      this.#accounts = await this.rpc<string[]>('eth_accounts').catch(() => []);
      if (this.#accounts.length === 0) await sleep(10);
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGKILL');
    await this.#ended;
    process.off('exit', this.#orphaned);
  }

  /** @throws Error with the node's words. */
  async rpc<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T> {
    this.#id += 1;
    const answer = await fetch(this.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: this.#id, method, params }),
    });
    const { result, error } = (await answer.json()) as { result: T; error?: { message: string } };
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  async mine(blocks = 1): Promise<void> {
    await this.rpc('anvil_mine', quantity(blocks));
  }

  async height(): Promise<number> {
    return Number(await this.rpc<string>('eth_blockNumber'));
  }

  /**
   * Replaces the newest blocks by `blocks` empty ones, as many unless told; what they held waits
   * again.
   */
  async reorg(depth: number, blocks = depth): Promise<void> {
    const waiting = await this.#emptied(depth, blocks);
    for (const { raw } of waiting) await this.#sendAgain(raw);
  }

  /** The same, and the node knows nothing any more of what an address sent. */
  async reorgWithout(sender: string, depth: number): Promise<void> {
    const waiting = await this.#emptied(depth, depth);
    for (const { raw, from } of waiting) {
      if (from !== sender.toLowerCase()) await this.#sendAgain(raw);
    }
  }

  /**
   * Replaces the newest blocks by empty ones. An own account's transaction in them is replaced by a
   * payment to itself with the same nonce, so that it can never be on the chain again.
   */
  async doubleSpend(txid: string, depth: number): Promise<void> {
    const { from, nonce } = await this.rpc<{ from: string; nonce: string }>('eth_getTransactionByHash', txid);
    const waiting = await this.#emptied(depth, depth);
    await this.rpc('eth_sendTransaction', { from, to: from, value: '0x0', nonce });
    for (const { raw, hash } of waiting) {
      if (hash !== txid) await this.#sendAgain(raw);
    }
  }

  async #sendAgain(raw: string): Promise<void> {
    const send = async (): Promise<boolean> => {
      try {
        await this.rpc('eth_sendRawTransaction', raw);
        return true;
      } catch (error) {
        // Its sender was quicker, with the same or with one in its place.
        return error instanceof Error && /already imported|nonce too low|underpriced/.test(error.message);
      }
    };
    if (await send()) return;
    // The node takes nothing new below the base fee, and it keeps what it has.
    await this.setBaseFee(1n);
    if (!(await send())) throw new Error('the node does not take a transaction that it had before');
  }

  /**
   * Replaces the newest blocks by empty ones. Returns what they held, and what waited, in an order
   * it can be sent in.
   */
  async #emptied(depth: number, blocks: number): Promise<SentTransaction[]> {
    const height = await this.height();
    const waiting: Omit<SentTransaction, 'raw'>[] = [];
    for (let at = Math.max(1, height - depth + 1); at <= height; at += 1) {
      const block = await this.rpc<{ transactions: SentTransaction[] }>('eth_getBlockByNumber', quantity(at), true);
      waiting.push(...block.transactions);
    }
    waiting.push(...(await this.#pool()));
    const raws = await Promise.all(
      waiting.map(({ hash }) => this.rpc<string | null>('eth_getRawTransactionByHash', hash)),
    );
    await this.rpc('anvil_dropAllTransactions');
    // What else is in an empty block must tell it from the one that it replaces.
    await this.rpc('anvil_setCoinbase', randomAddress());
    if (blocks === depth) await this.rpc('anvil_reorg', depth, []);
    else {
      await this.rpc('anvil_rollback', depth);
      if (blocks > 0) await this.mine(blocks);
    }
    // One that was replaced meanwhile is known no more.
    return waiting.flatMap(({ hash, from }, index) => {
      const raw = raws[index];
      return raw ? [{ hash, from, raw }] : [];
    });
  }

  /** Makes the node forget a transaction that waits. */
  async drop(txid: string): Promise<void> {
    await this.rpc('anvil_dropTransaction', txid);
  }

  /** Gives an address this many coins out of nothing, without a transaction. */
  async fund(address: string, amount: bigint): Promise<void> {
    await this.rpc('anvil_setBalance', address, quantity(amount));
  }

  /**
   * Sends from an own account; a contract that undoes it may be given, as long as it gets gas.
   * Returns the txid.
   */
  async send(
    to: string,
    amount: bigint,
    changes: { from?: string; data?: string; gas?: number } = {},
  ): Promise<string> {
    const { from = this.#accounts[0], data = '0x', gas } = changes;
    const tx = { from, to, value: quantity(amount), data, ...(gas === undefined ? {} : { gas: quantity(gas) }) };
    return this.rpc<string>('eth_sendTransaction', tx);
  }

  /** Sends tokens from an own account, which must have them. */
  async sendToken(contract: string, to: string, amount: bigint, changes: { from?: string } = {}): Promise<string> {
    return this.send(contract, 0n, { data: call('transfer', to, amount), ...changes });
  }

  /**
   * Puts a contract on the chain, in a separate block. Returns its address in lower case. Rules
   * from before London need a price of gas.
   */
  async deploy(name: ContractName, decimals?: number, price: { gasPrice?: string } = {}): Promise<string> {
    const tail =
      name === 'Token' || name === 'MoodyToken' ? encodeAbiParameters([{ type: 'uint8' }], [decimals ?? 18]) : '';
    const data = bytecodeOf(name) + tail.replace('0x', '');
    const txid = await this.rpc<string>('eth_sendTransaction', {
      from: this.#accounts[0],
      data,
      gas: quantity(3_000_000),
      ...price,
    });
    await this.mine();
    const receipt = await this.rpc<{ contractAddress: string }>('eth_getTransactionReceipt', txid);
    return receipt.contractAddress;
  }

  /** Puts a token on the chain of which the first own account has 10^30 of the smallest units. */
  async deployToken(decimals = 18, name: TokenName = 'Token'): Promise<string> {
    const contract = await this.deploy(name, decimals);
    await this.mint(contract, this.#accounts[0] ?? '', 10n ** 30n);
    return contract;
  }

  /** Makes tokens, in a separate block. */
  async mint(contract: string, to: string, amount: bigint): Promise<void> {
    await this.send(contract, 0n, { data: call('mint', to, amount) });
    await this.mine();
  }

  /**
   * Changes a number that a contract keeps, without a transaction: by the order of its variables.
   */
  async setStored(contract: string, slot: number, value: bigint): Promise<void> {
    await this.rpc('anvil_setStorageAt', contract, quantity(slot), `0x${value.toString(16).padStart(64, '0')}`);
  }

  async balance(address: string, contract: string | null = null): Promise<bigint> {
    if (contract === null) return BigInt(await this.rpc<string>('eth_getBalance', address, 'latest'));
    return BigInt(await this.rpc<string>('eth_call', { to: contract, data: call('balanceOf', address) }, 'latest'));
  }

  /** What the block after the newest takes for a unit of gas at least. */
  async setBaseFee(wei: bigint): Promise<void> {
    await this.rpc('anvil_setNextBlockBaseFeePerGas', quantity(wei));
  }

  async #pool(): Promise<Omit<SentTransaction, 'raw'>[]> {
    const { pending, queued } =
      await this.rpc<Record<string, Record<string, Record<string, Omit<SentTransaction, 'raw'>>>>>('txpool_content');
    return [pending, queued].flatMap((accounts) => Object.values(accounts ?? {}).flatMap((txs) => Object.values(txs)));
  }
}

/** The data of a call to one of the contracts. */
export function call(functionName: string, ...args: readonly unknown[]): Hex {
  const request = { abi, functionName, args } as Parameters<typeof encodeFunctionData>[0];
  return encodeFunctionData(request);
}

export function quantity(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** An address without a known key. In lower case. */
export function randomAddress(): string {
  return `0x${randomBytes(20).toString('hex')}`;
}
