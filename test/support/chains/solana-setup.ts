import { randomBytes } from 'node:crypto';
import type { OwnAddresses } from '../../../src/chains/addresses/own-addresses.ts';
import type { NodeConfig } from '../../../src/chains/networks/network-config.ts';
import { SolanaAdapter } from '../../../src/chains/solana/solana-adapter.ts';
import { type SolanaNetwork, solanaPath } from '../../../src/chains/solana/solana-section.ts';
import { SolanaTransactions } from '../../../src/chains/solana/solana-transactions.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';
import { type SolanaHarness, solanaHarness } from './solana-harness.ts';
import type { SolanaOptions } from './solana-node/slots.ts';

/** Settings of a network of Solana for tests. */
export function solanaNetwork(nodes: readonly NodeConfig[], changes: Partial<SolanaNetwork> = {}): SolanaNetwork {
  return {
    kind: 'solana',
    chain: 'solana',
    net: 'private',
    genesis: '11111111111111111111111111111111',
    finality: 'finalized',
    nodes,
    startHeight: 0,
    pollMs: 0,
    reorgWindow: 20,
    stalledAfterSec: 0,
    limits: new Map(),
    feeLimits: { perTransaction: '0.03', perDay: '1.5' },
    levels: new Map(),
    sweepFrom: new Map(),
    tokens: new Map(),
    twoNodesAbove: new Map(),
    ...changes,
  };
}

/** A network with an adapter of ours for it, and keys of its own for each test. */
export function solanaSetup(
  changes: Partial<SolanaNetwork> = {},
  options: SolanaOptions = {},
): Promise<SolanaHarness<SolanaAdapter>> {
  return solanaHarness(({ chain, nodes, mint }) => {
    const keys = new SignerKeys(Uint8Array.from(randomBytes(32)));
    const given = new Map<string, number>();
    const addresses: OwnAddresses = {
      indexes: async (asked) => new Map(asked.flatMap((one) => (given.has(one) ? [[one, given.get(one) ?? 0]] : []))),
    };
    const network = solanaNetwork(
      nodes.map(({ config }) => config),
      { genesis: chain.genesis, tokens: new Map([['USDC', mint.address]]), ...changes },
    );
    const signer = new SolanaTransactions({ network, keys });
    const hot = { address: signer.hotWallet(), secret: keys.ed25519(solanaPath(network.chain)).privateKey };
    return {
      adapter: new SolanaAdapter({ network, hotWallet: hot.address, addresses }),
      hot,
      depositAddress: async () => {
        const index = given.size + 1;
        const address = keys.poolAddress('SOL', index);
        given.set(address, index);
        return address;
      },
      sign: async (intent, prepared) => {
        const opened = signer.open(network.chain, intent, prepared);
        if (opened.faults.length > 0) throw new Error(opened.faults.join('; '));
        return opened.sign();
      },
    };
  }, options);
}
