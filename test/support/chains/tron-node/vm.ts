import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { type Anvil, type ContractName, call, quantity, startAnvil } from '../anvil.ts';
import type { ContractResult } from './transaction.ts';

/** A log as java-tron states it: digits without 0x, and an address of 20 bytes. */
export interface TronLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** A call between contracts. Addresses are 42 hexadecimal digits; amounts are in sun. */
export interface InternalCall {
  readonly hash: string;
  readonly caller: string;
  readonly to: string;
  readonly amount: bigint;
  /** What it is for: call, create, suicide, or a stake. */
  readonly note: string;
  readonly isRejected: boolean;
}

export interface Execution {
  readonly result: ContractResult;
  readonly energy: bigint;
  /** Hexadecimal digits. */
  readonly returned: string;
  readonly logs: readonly TronLog[];
  readonly internal: readonly InternalCall[];
}

export interface VmCall {
  readonly from: string;
  readonly contract: string;
  readonly value: bigint;
  readonly data: Uint8Array;
}

interface Frame {
  readonly type: string;
  readonly from: string;
  readonly to?: string;
  readonly value?: string;
  readonly gasUsed: string;
  readonly output?: string;
  readonly error?: string;
  readonly calls?: readonly Frame[];
}

/**
 * Energy of a call is 20,480 and 3.8 for each unit of gas that its code uses. So a transfer of
 * `UsdtToken` costs what it costs on Tron: 65,000, or 130,000 to an address that has none.
 */
const baseEnergy = 20_480n;
const energyOf = (gas: bigint): bigint => baseEnergy + (gas * 38n) / 10n;
const gasOf = (energy: bigint): bigint => ((energy - baseEnergy) * 10n) / 38n;
/** The most that anvil gives one transaction. */
const mostGas = 16_000_000n;

/** The machine that runs contracts: anvil, with one of its blocks for each call. */
export class TronVm {
  readonly #anvil: Anvil;

  private constructor(anvil: Anvil) {
    this.#anvil = anvil;
  }

  static async start(): Promise<TronVm> {
    const free = ['--gas-price', '0', '--hardfork', 'petersburg'];
    return new TronVm(await startAnvil({ arguments: ['--auto-impersonate', ...free] }));
  }

  stop(): Promise<void> {
    return this.#anvil.stop();
  }

  /** Its newest block, which holds the state after the newest call. */
  height(): Promise<number> {
    return this.#anvil.height();
  }

  /** Undoes all calls after one of its blocks. */
  async returnTo(height: number): Promise<void> {
    const depth = (await this.height()) - height;
    if (depth > 0) await this.#anvil.rpc('anvil_rollback', depth);
  }

  /** Puts a contract on the chain. Returns its address as 42 digits. */
  async deploy(name: ContractName, decimals: number): Promise<string> {
    return toTron(await this.#anvil.deploy(name, decimals, { gasPrice: '0x0' }));
  }

  /** Executes a call in a block of the machine; what it undid costs its energy all the same. */
  async execute(call: VmCall, energyLimit: bigint): Promise<Execution> {
    const intrinsic = intrinsicGas(call.data);
    const limit = gasOf(energyLimit);
    if (limit <= 0n) return exhausted(energyLimit);
    const gas = intrinsic + (limit < mostGas ? limit : mostGas);
    await this.#anvil.fund(toEvm(call.from), call.value + 1n);
    const request = { ...requestOf(call), gas: quantity(gas), gasPrice: '0x0' };
    // The machine keeps no steps of what it executes, so that they are taken before.
    const steps = await this.#anvil.rpc<Steps>('debug_traceCall', request, 'latest', stepsOnly);
    const txid = await this.#anvil.rpc<string>('eth_sendTransaction', request);
    await this.#anvil.mine();
    const receipt = await this.#anvil.rpc<{ logs: readonly TronLog[] }>('eth_getTransactionReceipt', txid);
    const frame = await this.#anvil.rpc<Frame>('debug_traceTransaction', txid, { tracer: 'callTracer' });
    const result = resultOf(frame);
    const used = energyOf(usedBySteps(steps, gas - intrinsic));
    return {
      result,
      energy: result === 'OUT_OF_ENERGY' || used > energyLimit ? energyLimit : used,
      returned: (frame.output ?? '0x').slice(2),
      logs: receipt.logs.map(tronLog),
      internal: internalCalls(frame, txid),
    };
  }

  /** Tries a call on the state after one of the machine's blocks, and changes nothing. */
  async view(call: VmCall, height: number): Promise<Execution> {
    const free = { [toEvm(call.from)]: { balance: quantity(call.value + 1n) } };
    const request = { ...requestOf(call), gas: quantity(mostGas), gasPrice: '0x0' };
    const options = { tracer: 'callTracer', tracerConfig: { withLog: true }, stateOverrides: free };
    const frame = await this.#anvil.rpc<Frame>('debug_traceCall', request, quantity(height), options);
    const steps = await this.#anvil.rpc<Steps>('debug_traceCall', request, quantity(height), {
      ...stepsOnly,
      stateOverrides: free,
    });
    return {
      result: resultOf(frame),
      energy: energyOf(usedBySteps(steps, mostGas - intrinsicGas(call.data))),
      returned: (frame.output ?? '0x').slice(2),
      logs: logsOf(frame),
      internal: internalCalls(frame, bytesToHex(sha256(call.data))),
    };
  }

  /** Gives a contract coins out of nothing. */
  async fund(address: string, amount: bigint): Promise<void> {
    await this.#anvil.fund(toEvm(address), amount);
  }

  async balance(contract: string, address: string, height: number): Promise<bigint> {
    const request = { to: toEvm(contract), data: call('balanceOf', toEvm(address)) };
    return BigInt(await this.#anvil.rpc<string>('eth_call', request, quantity(height)));
  }
}

/** A call that used all the energy that it was given. */
export function exhausted(energy: bigint): Execution {
  return { result: 'OUT_OF_ENERGY', energy, returned: '', logs: [], internal: [] };
}

/** The steps of a machine, without what each of them sees. */
interface Steps {
  readonly structLogs: readonly { readonly depth: number; readonly gas: number; readonly gasCost: number }[];
}
const stepsOnly = { disableStack: true, disableStorage: true, enableMemory: false };

/**
 * The gas that the outermost call used. The EVM gives some of it back for emptied storage, and the
 * machine of Tron gives none back.
 */
function usedBySteps({ structLogs }: Steps, given: bigint): bigint {
  const last = structLogs.findLast(({ depth }) => depth === 1);
  return last === undefined ? 0n : given - BigInt(last.gas - last.gasCost);
}

export function toEvm(address: string): `0x${string}` {
  return `0x${address.slice(2)}`;
}

function toTron(address: string): string {
  return `41${address.slice(2).toLowerCase()}`;
}

function tronLog({ address, topics, data }: TronLog): TronLog {
  return { address: address.slice(2), topics: topics.map((topic) => topic.slice(2)), data: data.slice(2) };
}

function requestOf({ from, contract, value, data }: VmCall): object {
  return { from: toEvm(from), to: toEvm(contract), value: quantity(value), data: `0x${bytesToHex(data)}` };
}

/** What a transaction costs on anvil before its code runs, which Tron counts as bandwidth. */
function intrinsicGas(data: Uint8Array): bigint {
  return 21_000n + data.reduce((sum, byte) => sum + (byte === 0 ? 4n : 68n), 0n);
}

function resultOf({ error }: Frame): ContractResult {
  if (error === undefined) return 'SUCCESS';
  if (/revert/i.test(error)) return 'REVERT';
  if (/out ?of ?gas/i.test(error)) return 'OUT_OF_ENERGY';
  return /invalid|opcode/i.test(error) ? 'ILLEGAL_OPERATION' : 'UNKNOWN';
}

function logsOf(frame: Frame & { readonly logs?: readonly TronLog[] }): TronLog[] {
  if (frame.error !== undefined) return [];
  return [...(frame.logs ?? []).map(tronLog), ...(frame.calls ?? []).flatMap(logsOf)];
}

/** Every call below the outermost one, in order; those of an undone call are rejected. */
function internalCalls(frame: Frame, seed: string): InternalCall[] {
  const found: Omit<InternalCall, 'hash'>[] = [];
  const visit = ({ calls = [] }: Frame, isUndone: boolean): void => {
    for (const one of calls) {
      const isRejected = isUndone || one.error !== undefined;
      const moves = ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'].includes(one.type);
      found.push({
        caller: toTron(one.from),
        to: toTron(one.to ?? one.from),
        amount: moves ? BigInt(one.value ?? '0x0') : 0n,
        note: one.type.startsWith('CREATE') ? 'create' : one.type === 'SELFDESTRUCT' ? 'suicide' : 'call',
        isRejected,
      });
      visit(one, isRejected);
    }
  };
  visit(frame, frame.error !== undefined);
  return found.map((one, index) => ({ ...one, hash: bytesToHex(sha256(Buffer.from(`${seed} ${index}`))) }));
}
