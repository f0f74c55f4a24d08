import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { close, listen } from '../http/local-server.ts';
import { type ContractName, call as encodeCall } from './anvil.ts';
import { TronBlocks, type TronOptions } from './tron-node/blocks.ts';
import { calls } from './tron-node/calls.ts';
import { keyOf, type TronKey, toBase58, toHexAddress } from './tron-node/crypto.ts';
import { falsified, type TronFaults } from './tron-node/faults.ts';
import { stringify } from './tron-node/json.ts';
import { encodeRaw, signRaw, type TronCall } from './tron-node/transaction.ts';
import { View } from './tron-node/view.ts';
import { TronVm, toEvm } from './tron-node/vm.ts';

/** What a test may choose of a transaction that it sends. */
export interface SendOptions {
  readonly from?: TronKey;
  /** In sun. */
  readonly feeLimit?: bigint;
  readonly memo?: string;
  /** Milliseconds. */
  readonly expiration?: number;
}

/** A node of java-tron as its documentation describes it, which may lie. */
export class TronNode {
  faults: TronFaults;
  /** The path of each call, in order. */
  readonly asked: string[] = [];
  readonly #chain: TronBlocks;
  readonly #server: Server;
  #url = '';

  constructor(chain: TronBlocks, faults: TronFaults) {
    this.#chain = chain;
    this.faults = faults;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  async start(): Promise<this> {
    this.#url = `http://127.0.0.1:${await listen(this.#server)}`;
    return this;
  }

  stop(): Promise<void> {
    return close(this.#server);
  }

  /** As settings name it. */
  get config(): NodeConfig {
    return { url: this.#url, user: null, password: null, headers: {} };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url?.split('?')[0] ?? '';
    this.asked.push(path);
    await this.faults.before?.(path);
    const { transport, paths = /^/ } = this.faults;
    const failing = transport !== undefined && paths.test(path) ? transport : null;
    const known = request.method === 'POST' && calls.has(path);
    if (typeof failing === 'number') response.statusCode = failing;
    else if (!known) response.statusCode = request.method === 'POST' ? 404 : 405;
    response.setHeader('Content-Type', 'application/json');
    if (failing === 'busy')
      response.end('{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}');
    else if (failing === 'lite') response.end('this API is closed because this node is a lite fullnode');
    else if (failing === 'empty' || response.statusCode !== 200) response.end();
    else {
      const text = stringify(falsified(this.faults, path, await this.#answer(path, Buffer.concat(chunks).toString())));
      response.end(failing === 'half' ? text.slice(0, text.length / 2) : `${text}\n`);
    }
  }

  /** The answer to a call; what went wrong is told as java-tron tells it. */
  async #answer(path: string, text: string): Promise<unknown> {
    try {
      const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
      if (body.visible === true) throw new Error('the simulated node knows only visible: false');
      const { answer, isSolid } = calls.get(path) ?? { answer: () => ({}), isSolid: false };
      const { chain = this.#chain } = this.faults;
      return await answer({ view: new View(chain, this.faults, isSolid), body, faults: this.faults });
    } catch (error) {
      return { Error: error instanceof Error ? error.message : String(error) };
    }
  }
}

/**
 * A chain of the Tron kind with the hands of a test. Addresses go in as Base58, as 0x and 40 digits
 * or as 42 digits, and come out as Base58; amounts are in the smallest unit.
 */
export class TronChain extends TronBlocks {
  readonly #nodes: TronNode[] = [];
  #addresses = 0;

  /** One more node of the chain, which another operator may run. */
  async node(faults: TronFaults = {}): Promise<TronNode> {
    const node = await new TronNode(this, faults).start();
    this.#nodes.push(node);
    return node;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#nodes.map((node) => node.stop()), this.vm?.stop()]);
  }

  /** An address that no one used before. */
  address(): string {
    this.#addresses += 1;
    return toBase58(keyOf(`${this.bank.address} ${this.#addresses} ${Math.random()}`).address);
  }

  /** Sends coins, or tokens of a contract. Returns the txid. */
  async pay(to: string, contract: string | null, amount: bigint, options: SendOptions = {}): Promise<string> {
    if (contract === null) return this.send({ type: 'TransferContract', to, amount }, options);
    return this.call(contract, encodeCall('transfer', toEvm(toHexAddress(to)), amount), options);
  }

  /** Calls a contract, with a value in coins and TRC-10 tokens. Returns the txid. */
  async call(
    contract: string,
    data: string,
    options: SendOptions & { readonly value?: bigint } & Pick<TronCall, 'token'> = {},
  ): Promise<string> {
    const { value: amount = 0n, token } = options;
    const call = { type: 'TriggerSmartContract', to: contract, amount, token } as const;
    return this.send({ ...call, data: hexToBytes(data.slice(2)) }, options);
  }

  /** Sends units of a TRC-10 token, which move no coins. Returns the txid. */
  async payTrc10(to: string, name: string, amount: bigint, options: SendOptions = {}): Promise<string> {
    return this.send({ type: 'TransferAssetContract', to, amount, data: Buffer.from(name) }, options);
  }

  /** Signs a transaction and gives it to the chain. @throws Refused when a node would refuse it. */
  async send(
    call: Pick<TronCall, 'type' | 'to' | 'amount'> & Partial<Pick<TronCall, 'data' | 'token'>>,
    { from = this.bank, feeLimit, memo = '', expiration }: SendOptions = {},
  ): Promise<string> {
    const { header } = this.head;
    // No reorganisation replaces a final block. Without one, the first block is as good.
    const reference = this.blocks[this.solidNumber]?.id ?? '';
    // Two equal payments on one head would have one id.
    this.#addresses += 1;
    const raw = encodeRaw(
      { data: new Uint8Array(), ...call, owner: from.address, to: toHexAddress(call.to) },
      {
        reference,
        expiration: expiration ?? header.timestamp + 3_600_000,
        timestamp: header.timestamp + this.#addresses,
        feeLimit: call.type === 'TriggerSmartContract' ? (feeLimit ?? 1_000_000_000n) : 0n,
        memo,
      },
    );
    return this.accept(signRaw(raw, from));
  }

  /** Puts a contract on the chain, in a separate block. Returns its address. */
  async deploy(name: ContractName, decimals = 6): Promise<string> {
    this.vm ??= await TronVm.start();
    const { vm } = this;
    let address = '';
    await this.change(async (ledger, time) => {
      address = await vm.deploy(name, decimals);
      ledger.set(address, time, { isContract: true });
    });
    return toBase58(address);
  }

  /** A token of which the bank has 10^18 of the smallest unit; takes two blocks. */
  async deployToken(name: ContractName = 'UsdtToken', decimals = 6): Promise<string> {
    const contract = await this.deploy(name, decimals);
    await this.mint(contract, toBase58(this.bank.address), 10n ** 18n);
    return contract;
  }

  /** Makes tokens, in a separate block with all that waits. */
  async mint(contract: string, to: string, amount: bigint): Promise<void> {
    await this.call(contract, encodeCall('mint', toEvm(toHexAddress(to)), amount));
    await this.mine();
  }

  /** Gives an address coins out of nothing, in a separate empty block. */
  async fund(address: string, amount: bigint): Promise<void> {
    const to = toHexAddress(address);
    await this.change(async (ledger, time) => {
      ledger.add(to, amount, time);
      if (ledger.get(to)?.isContract) await this.vm?.fund(to, ledger.get(to)?.balance ?? 0n);
    });
  }

  /** Gives an account energy and bandwidth a day, as for a stake, in a separate empty block. */
  async stake(address: string, staked: { readonly energy?: bigint; readonly bandwidth?: bigint }): Promise<void> {
    await this.change(async (ledger, at) => {
      const allowance = (limit = 0n): { limit: bigint; used: bigint; at: number } => ({ limit, used: 0n, at });
      const { energy, bandwidth } = staked;
      ledger.set(toHexAddress(address), at, { energy: allowance(energy), bandwidth: allowance(bandwidth) });
    });
  }

  /** Another key signs for an account from now on, in a separate empty block. */
  async setOwner(address: string, key: string): Promise<void> {
    await this.change(async (ledger, time) => {
      ledger.set(toHexAddress(address), time, { ownerKey: toHexAddress(key) });
    });
  }

  /** At the head, or after a block with this number. */
  async balance(address: string, contract: string | null = null, number?: number): Promise<bigint> {
    const block = number === undefined ? this.head : this.blocks[number];
    if (!block) throw new Error(`the chain has no block ${number}`);
    const owner = toHexAddress(address);
    if (contract === null) return block.ledger.get(owner)?.balance ?? 0n;
    return (await this.vm?.balance(toHexAddress(contract), owner, block.vmHeight)) ?? 0n;
  }
}

/** Starts a chain with its first block. */
export function startTron(options: TronOptions = {}): TronChain {
  return new TronChain(options);
}
