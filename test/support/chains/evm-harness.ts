import { randomBytes } from 'node:crypto';
import { deriveDepositAddress } from '../../../src/chains/addresses/deposit-address.ts';
import { toChecksumAddress } from '../../../src/chains/addresses/evm.ts';
import type { OwnAddresses } from '../../../src/chains/addresses/own-addresses.ts';
import { EvmAdapter } from '../../../src/chains/evm/evm-adapter.ts';
import type { EvmNetwork } from '../../../src/chains/evm/evm-section.ts';
import { EvmTransactions } from '../../../src/chains/evm/evm-transactions.ts';
import { decodePayload, encodePayload } from '../../../src/chains/evm/evm-tx.ts';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import type { PaymentIntent, PreparedTx, SignedTx } from '../../../src/chains/port/chain-adapter.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';
import { type Anvil, randomAddress } from './anvil.ts';
import type { ChainHarness } from './chain-conformance.ts';

const gwei = 10n ** 9n;
export const ether = 10n ** 18n;

/** Keys of tests: one wallet that pays, and as many deposit addresses as there are indexes. */
export class TestWallet implements OwnAddresses {
  readonly keys = new SignerKeys(Uint8Array.from(randomBytes(32)));
  readonly #network: string;
  readonly #given = new Map<string, number>();

  constructor(network = 'ETH') {
    this.#network = network;
  }

  /** The address at an index, which from then on is ours. */
  async deposit(index: number): Promise<string> {
    const address = await deriveDepositAddress(this.#network, this.keys.accountXpub(this.#network), index);
    this.#given.set(address, index);
    return address;
  }

  async indexes(addresses: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return new Map(
      addresses.flatMap((address) => {
        const index = this.#given.get(address);
        return index === undefined ? [] : [[address, index] as const];
      }),
    );
  }
}

export interface EvmHarness extends ChainHarness {
  readonly adapter: EvmAdapter;
  readonly anvil: Anvil;
  readonly wallet: TestWallet;
  readonly network: EvmNetwork;
  readonly signer: EvmTransactions;
  readonly hot: string;
  readonly token: string;
}

function evmNetwork(nodes: readonly NodeConfig[], changes: Partial<EvmNetwork> = {}): EvmNetwork {
  return {
    kind: 'evm',
    chain: 'ethereum',
    nodes,
    startHeight: 0,
    pollMs: 0,
    reorgWindow: 8,
    stalledAfterSec: 0,
    replaceAfterSec: 60,
    limits: new Map(),
    levels: new Map(),
    sweepFrom: new Map(),
    chainId: 31_337,
    finality: 3,
    tokens: new Map(),
    internalTransfers: 'none',
    maxFeePerGas: 500n * gwei,
    maxPaymentGas: 60_000n,
    maxTokenGas: 500_000n,
    ...changes,
  };
}

/**
 * A chain with a token, a wallet that has of both, and an adapter for it; `nodes` instead of the
 * node itself.
 */
export async function evmHarness(
  anvil: Anvil,
  changes: Partial<EvmNetwork> = {},
  nodes: readonly NodeConfig[] = [anvil.node],
): Promise<EvmHarness> {
  const wallet = new TestWallet();
  const token = toChecksumAddress((await anvil.deployToken()).slice(2));
  const network = evmNetwork(nodes, { tokens: new Map([['USDT', token]]), ...changes });
  const signer = new EvmTransactions({ network, keys: wallet.keys });
  const hot = signer.hotWallet();
  const adapter = new EvmAdapter({ network, hotWallet: hot, addresses: wallet });
  await anvil.fund(hot, 100n * ether);
  await anvil.mint(token, hot, 10n ** 24n);
  const sign = async (intent: PaymentIntent, prepared: PreparedTx): Promise<SignedTx> => {
    const opened = signer.open(network.chain, intent, prepared);
    if (opened.faults.length > 0) throw new Error(opened.faults.join('; '));
    return { ...opened.sign(), reserves: prepared.reserves, expiresAt: prepared.expiresAt };
  };
  const raiseFees = async (): Promise<void> => {
    await anvil.setBaseFee(40n * gwei);
    await anvil.mine();
  };
  const prepared = new Map<string, { intent: PaymentIntent; prepared: PreparedTx }>();
  return {
    adapter,
    anvil,
    wallet,
    network,
    signer,
    hot,
    token,
    tag: null,
    address: () => toChecksumAddress(randomAddress().slice(2)),
    pay: (to, _tag, contract, amount) =>
      contract === null ? anvil.send(to, amount) : anvil.sendToken(contract, to, amount),
    mine: (blocks) => anvil.mine(blocks),
    reorg: (depth, blocks) => anvil.reorg(depth, blocks),
    sign: async (intent, unsigned) => {
      const tx = await sign(intent, unsigned);
      prepared.set(tx.txid, { intent, prepared: unsigned });
      return tx;
    },
    drop: (txid) => anvil.drop(txid),
    conflict: async ({ txid }) => {
      const known = prepared.get(txid);
      if (!known) throw new Error(`no payment is prepared with txid ${txid}`);
      const { path, tx } = decodePayload(known.prepared.payload);
      const intent = { ...known.intent, to: toChecksumAddress(randomAddress().slice(2)) };
      const maxFeePerGas = 2n * tx.maxFeePerGas;
      const maxPriorityFeePerGas = 2n * tx.maxPriorityFeePerGas + 1n;
      const other = { ...tx, to: intent.to, maxFeePerGas, maxPriorityFeePerGas };
      const payload = encodePayload({ path, tx: other });
      const signed = await sign(intent, { ...known.prepared, payload, fee: tx.gas * maxFeePerGas });
      await anvil.rpc('eth_sendRawTransaction', signed.raw);
      return signed;
    },
    // Undoes what comes with a price for gas, which a payment has and the question for its gas has
    // not: GASPRICE, jump over STOP when it is not 0, REVERT.
    refuse: async (address) => {
      await anvil.rpc('anvil_setCode', address, '0x3a600557005b60006000fd');
    },
    depositAddress: () => wallet.deposit(1),
    raiseFees,
    secondAttempt: async (payment, first) => {
      await raiseFees();
      const second = await adapter.replace(payment, first, new Map());
      if (!second) throw new Error('nothing takes its place');
      return second;
    },
    stop: () => anvil.stop(),
  };
}

/** All that a hot wallet can do, to test its chain: prepares, signs and broadcasts. */
export async function payFrom(harness: EvmHarness, intent: PaymentIntent): Promise<SignedTx> {
  const tx = await harness.sign(intent, await harness.adapter.prepare(intent, new Map()));
  const { outcome, code } = await harness.adapter.broadcast(tx);
  if (outcome !== 'accepted') throw new Error(`${outcome}: ${code}`);
  return tx;
}
